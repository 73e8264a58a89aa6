// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "hal/barrier.h"
#include "hal/worker_team.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HALYARD_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HALYARD_TEST_SANITIZED 1
#endif
#endif

#ifndef HALYARD_TEST_SANITIZED
// Stands before the system's own, so that the n-th creation of a thread can be made to fail. The
// sanitizers put their own one there.
namespace {
std::atomic<int> g_creations_left{-1};
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  const int left = g_creations_left.load();
  if (left == 0) return EAGAIN;
  if (left > 0) g_creations_left.store(left - 1);
  return real(thread, attributes, start, argument);
}
#endif

namespace halyard::hal {
namespace {

using Ids = std::vector<uint32_t>;

Ids Allowed() {
  const absl::StatusOr<Ids> mask = ThisThreadMask();
  return mask.ok() ? *mask : Ids{0};
}

// The machine by its affinity mask alone, so that these tests lean on no reader.
TeamHost LiveHost() {
  TeamHost host;
  host.bind = &BindThisThread;
  host.topology.source = HY_SOURCE_PROCFS;
  for (const uint32_t id : Allowed()) {
    hy_pu pu = {};
    pu.struct_size = sizeof pu;
    pu.os_id = id;
    pu.core_id = id;
    pu.flags = HY_PU_ALLOWED | HY_PU_ONLINE;
    host.topology.pus.push_back(pu);
  }
  host.topology.budget_millicpus = 1'000 * host.topology.pus.size();
  return host;
}

TeamRequest Oversubscribed(uint32_t count) {
  TeamRequest request;
  request.count = count;
  request.allow_oversubscription = true;
  return request;
}

std::unique_ptr<WorkerTeam> MakeTeam(const TeamRequest& request = {}, TeamHost host = LiveHost()) {
  absl::StatusOr<std::unique_ptr<WorkerTeam>> team = WorkerTeam::Create(std::move(host), request);
  EXPECT_TRUE(team.ok()) << team.status();
  return team.ok() ? *std::move(team) : nullptr;
}

uint32_t CountThreads() {
  uint32_t count = 0;
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

// A thread is joined a moment before the system takes it off the list; so `count` may have held one
// that is gone by now.
bool ThreadsBackTo(uint32_t count) {
  for (int i = 0; i < 200 && CountThreads() > count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return CountThreads() <= count;
}

void CheckBarrierInside(WorkerTeam& team, int phases) {
  const uint32_t count = team.size();
  Barrier barrier(count, ChooseWaitPolicy(count, 1'000 * Allowed().size(), 0));
  std::vector<int> slots(count, 0);
  std::atomic<int> wrong{0};
  const absl::Status status = team.Run([&](uint32_t index, uint32_t) {
    for (int phase = 1; phase <= phases; ++phase) {
      slots[index] = phase;
      barrier.Arrive();
      for (const int slot : slots) wrong.fetch_add(slot != phase);
      barrier.Arrive();
    }
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(wrong.load(), 0);
}

TEST(WorkerTeam, EveryWorkerRunsOnceWithItsOwnIndex) {
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(5));
  ASSERT_NE(team, nullptr);
  ASSERT_EQ(team->size(), 5u);
  std::vector<int> runs(5, 0);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(team->Run([&](uint32_t index, uint32_t count) {
                      ASSERT_LT(index, count);
                      ASSERT_EQ(count, 5u);
                      ++runs[index];
                    })
                    .ok());
  }
  EXPECT_EQ(runs, std::vector<int>(5, 10));
}

TEST(WorkerTeam, WritesAreHandedOverBothWays) {
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(3));
  ASSERT_NE(team, nullptr);
  std::vector<uint64_t> values(3, 0);
  uint64_t addend = 0;
  for (addend = 1; addend <= 1'000; ++addend) {
    ASSERT_TRUE(team->Run([&](uint32_t index, uint32_t) { values[index] += addend; }).ok());
    for (const uint64_t value : values) ASSERT_EQ(value, addend * (addend + 1) / 2);
  }
}

TEST(WorkerTeam, BarrierInsideWithAsManyWorkersAsTheBudget) {
  std::unique_ptr<WorkerTeam> team = MakeTeam();
  ASSERT_NE(team, nullptr);
  EXPECT_EQ(team->size(), Allowed().size());
  CheckBarrierInside(*team, 500);
}

TEST(WorkerTeam, BarrierInsideWithTwiceAsManyWorkersAsTheBudget) {
  std::unique_ptr<WorkerTeam> team =
      MakeTeam(Oversubscribed(2 * static_cast<uint32_t>(Allowed().size())));
  ASSERT_NE(team, nullptr);
  CheckBarrierInside(*team, 300);
}

TEST(WorkerTeam, AHundredThousandEmptyRunsComplete) {
  std::unique_ptr<WorkerTeam> team = MakeTeam();
  ASSERT_NE(team, nullptr);
  std::atomic<uint64_t> calls{0};
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(
        team->Run([&](uint32_t, uint32_t) { calls.fetch_add(1, std::memory_order_relaxed); }).ok());
  }
  EXPECT_EQ(calls.load(), 100'000u * team->size());
}

TEST(WorkerTeam, ThreeHundredTeamsComeAndGo) {
  // A sanitizer starts a thread of its own with the first of ours, and keeps it.
  std::thread([] {}).join();
  const uint32_t before = CountThreads();
  for (uint32_t round = 0; round < 300; ++round) {
    std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(1 + round % 4));
    ASSERT_NE(team, nullptr);
    CheckBarrierInside(*team, 3);
  }
  EXPECT_TRUE(ThreadsBackTo(before)) << CountThreads() << " threads, before " << before;
}

TEST(WorkerTeam, ANestedRunOfTheSameTeamIsRefused) {
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(2));
  ASSERT_NE(team, nullptr);
  std::vector<absl::Status> nested(2);
  ASSERT_TRUE(team->Run([&](uint32_t index, uint32_t) {
                    nested[index] = team->Run([](uint32_t, uint32_t) {});
                  })
                  .ok());
  for (const absl::Status& status : nested) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(status.message().find("its own team"), std::string::npos) << status;
  }
  EXPECT_TRUE(team->Run([](uint32_t, uint32_t) {}).ok());
}

TEST(WorkerTeam, ARunOfAnotherTeamFromInsideWorks) {
  std::unique_ptr<WorkerTeam> outer = MakeTeam(Oversubscribed(2));
  std::unique_ptr<WorkerTeam> inner = MakeTeam(Oversubscribed(3));
  ASSERT_NE(outer, nullptr);
  ASSERT_NE(inner, nullptr);
  std::atomic<int> inner_calls{0};
  std::atomic<int> refused{0};
  ASSERT_TRUE(outer
                  ->Run([&](uint32_t index, uint32_t) {
                    if (index != 0) return;
                    const absl::Status status = inner->Run([&](uint32_t, uint32_t) {
                      inner_calls.fetch_add(1);
                      // Round the corner it is still a nested run of the outer team.
                      refused.fetch_add(
                          absl::IsFailedPrecondition(outer->Run([](uint32_t, uint32_t) {})));
                    });
                    EXPECT_TRUE(status.ok()) << status;
                  })
                  .ok());
  EXPECT_EQ(inner_calls.load(), 3);
  EXPECT_EQ(refused.load(), 3);
}

TEST(WorkerTeam, ASecondCallerIsRefused) {
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(2));
  ASSERT_NE(team, nullptr);
  std::atomic<uint32_t> inside{0};
  std::atomic<uint32_t> leave{0};
  std::thread first([&] {
    EXPECT_TRUE(team->Run([&](uint32_t, uint32_t) {
                      inside.fetch_add(1);
                      WaitWhileEqual(leave, 0, {});
                    })
                    .ok());
  });
  while (inside.load() != 2) sched_yield();
  EXPECT_EQ(team->Run([](uint32_t, uint32_t) {}).code(), absl::StatusCode::kFailedPrecondition);
  leave.store(1);
  WakeAll(leave);
  first.join();
  EXPECT_TRUE(team->Run([](uint32_t, uint32_t) {}).ok());
}

TEST(WorkerTeam, ReportsAgreeWithWhatTheWorkersSee) {
  std::unique_ptr<WorkerTeam> team = MakeTeam();
  ASSERT_NE(team, nullptr);
  std::vector<Ids> seen(team->size());
  ASSERT_TRUE(team->Run([&](uint32_t index, uint32_t) { seen[index] = Allowed(); }).ok());
  ASSERT_EQ(team->reports().size(), team->size());
  for (uint32_t i = 0; i < team->size(); ++i) {
    const WorkerReport& report = team->reports()[i];
    EXPECT_EQ(report.index, i);
    EXPECT_EQ(report.mask, seen[i]);
    EXPECT_EQ(report.mask, Ids{report.requested_pu});
    EXPECT_EQ(report.last_pu, report.requested_pu);
    EXPECT_NE(report.flags & HY_WORKER_BOUND, 0u);
  }
}

TEST(WorkerTeam, AWorkerThatCannotBeBoundRunsUnboundAndSaysSo) {
  TeamHost host = LiveHost();
  host.bind = [](uint32_t, uint32_t, hy_worker_report*) { return HY_PERMISSION_DENIED; };
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(2), std::move(host));
  ASSERT_NE(team, nullptr);
  for (const WorkerReport& report : team->reports()) {
    EXPECT_EQ(report.bind_status, HY_PERMISSION_DENIED);
    EXPECT_EQ(report.mask, Allowed());
    if (Allowed().size() > 1) {
      EXPECT_EQ(report.flags & HY_WORKER_BOUND, 0u);
    }
  }
  CheckBarrierInside(*team, 10);
}

TEST(WorkerTeam, EveryWorkerEntersAndLeavesOnItsOwnThread) {
  std::atomic<int> enters{0};
  std::atomic<int> leaves{0};
  std::vector<pthread_t> threads(3);
  TeamHost host = LiveHost();
  host.bind = [&](uint32_t, uint32_t mode, hy_worker_report* report) {
    if (mode == HY_BIND_ENTER) {
      threads[report->index] = pthread_self();
      enters.fetch_add(1);
    } else {
      leaves.fetch_add(1);
    }
    return HY_OK;
  };
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(3), std::move(host));
  ASSERT_NE(team, nullptr);
  std::atomic<int> same{0};
  ASSERT_TRUE(team->Run([&](uint32_t index, uint32_t) {
                    same.fetch_add(pthread_equal(threads[index], pthread_self()) != 0);
                  })
                  .ok());
  EXPECT_EQ(same.load(), 3);
  EXPECT_EQ(enters.load(), 3);
  EXPECT_EQ(leaves.load(), 0);
  team.reset();
  EXPECT_EQ(leaves.load(), 3);
}

TEST(WorkerTeam, WorkersHaveTheDefaultFloatingPointEnvironment) {
  const int before = std::fegetround();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(2));
  EXPECT_EQ(std::fegetround(), FE_UPWARD) << "the caller's own mode is its own";
  std::fesetround(before);
  ASSERT_NE(team, nullptr);
  std::vector<int> modes(2, -1);
  ASSERT_TRUE(team->Run([&](uint32_t index, uint32_t) { modes[index] = std::fegetround(); }).ok());
  EXPECT_EQ(modes, std::vector<int>(2, FE_TONEAREST));
}

TEST(WorkerTeam, AThreadThatCannotBeStartedEndsTheOthers) {
#ifdef HALYARD_TEST_SANITIZED
  GTEST_SKIP() << "the sanitizer has its own pthread_create";
#else
  const uint32_t before = CountThreads();
  for (int fails_at = 0; fails_at < 4; ++fails_at) {
    g_creations_left.store(fails_at);
    const absl::Status status = WorkerTeam::Create(LiveHost(), Oversubscribed(4)).status();
    g_creations_left.store(-1);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_TRUE(ThreadsBackTo(before)) << CountThreads() << " threads, before " << before;
  }
  EXPECT_NE(MakeTeam(Oversubscribed(4)), nullptr);
#endif
}

// Half a processor for this process, in a control group of its own (the first hierarchy of cgroup
// v1 or v2 that lets us); undone at the end.
class HalfCpu {
 public:
  HalfCpu() {
    for (const char* root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"}) {
      const std::string folder =
          std::string(root) + "/halyard_team_test_" + std::to_string(getpid());
      if (mkdir(folder.c_str(), 0755) != 0) continue;
      const bool limited = (Write(folder + "/cpu.cfs_period_us", "100000") &&
                            Write(folder + "/cpu.cfs_quota_us", "50000")) ||
                           Write(folder + "/cpu.max", "50000 100000");
      if (limited && Write(folder + "/cgroup.procs", "0")) {
        folder_ = folder;
        root_ = root;
        return;
      }
      rmdir(folder.c_str());
    }
  }
  ~HalfCpu() {
    if (folder_.empty()) return;
    Write(root_ + "/cgroup.procs", "0");
    rmdir(folder_.c_str());
  }
  bool holds() const { return !folder_.empty(); }

 private:
  static bool Write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    return static_cast<bool>(file.flush());
  }
  std::string root_;
  std::string folder_;
};

TEST(WorkerTeam, HalfAProcessorStillMakesProgress) {
  HalfCpu quota;
  if (!quota.holds()) GTEST_SKIP() << "no right to make a control group with a quota";
  TeamHost host = LiveHost();
  host.topology.budget_millicpus = 500;
  std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(4), std::move(host));
  ASSERT_NE(team, nullptr);
  CheckBarrierInside(*team, 100);
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(team->Run([](uint32_t, uint32_t) {}).ok());
}

TEST(WorkerTeam, OneUnitStillMakesProgress) {
  const Ids all = Allowed();
  std::thread thread([&] {
    WorkerReport report;
    ASSERT_TRUE(
        CallWithReport(
            [&](hy_worker_report* raw) { return BindThisThread(all.front(), HY_BIND_ENTER, raw); },
            &report)
            .ok());
    std::unique_ptr<WorkerTeam> team = MakeTeam(Oversubscribed(4));
    ASSERT_NE(team, nullptr);
    CheckBarrierInside(*team, 200);
  });
  thread.join();
}

}  // namespace
}  // namespace halyard::hal
