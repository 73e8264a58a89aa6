// SPDX-License-Identifier: Apache-2.0
//
// HAL-TEAM: workers that are all live at once, and where they really are.
#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

/// A barrier that yields and needs nothing of the core; it gives up after its deadline, so that a
/// team whose workers are not live fails instead of hanging.
class TestBarrier {
 public:
  TestBarrier(uint32_t count, uint64_t deadline_ns) : count_(count), deadline_ns_(deadline_ns) {}

  bool Arrive() {
    const uint32_t phase = phase_.load();
    if (arrived_.fetch_add(1) + 1 == count_) {
      arrived_ = 0;
      ++phase_;
      return true;
    }
    while (phase_.load() == phase) {
      if (MonotonicNs() > deadline_ns_) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  const uint32_t count_;
  const uint64_t deadline_ns_;
  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint32_t> phase_{0};
};

uint32_t BudgetWorkers(HalContext& context) {
  const absl::StatusOr<hal::Topology> topology = context.device().ReadTopology();
  EXPECT_TRUE(topology.ok()) << topology.status();
  return topology.ok() ? topology->budget_workers() : 1;
}

hal::TeamRequest Workers(uint32_t count, bool allow_oversubscription = false) {
  hal::TeamRequest request;
  request.count = count;
  request.allow_oversubscription = allow_oversubscription;
  return request;
}

// Units of this thread, by the system; empty if it does not tell.
std::vector<uint32_t> OwnUnits() {
  const std::optional<std::set<uint32_t>> mask = os::ThreadMask();
  if (!mask.has_value()) return {};
  return {mask->begin(), mask->end()};
}

bool IsOtherMachine(HalContext& context) {
  const absl::StatusOr<hal::Topology> topology = context.device().ReadTopology();
  return topology.ok() && topology->source == HY_SOURCE_FIXTURE;
}

#define HY_NEED_OWN_MACHINE()  \
  if (IsOtherMachine(context)) \
  GTEST_SKIP() << "the topology is that of another machine: its units are not here"

// What a worker sees of itself while it runs.
struct SeenByWorker {
  std::set<uint32_t> mask;
  uint32_t unit = HY_ID_NONE;
};

std::vector<SeenByWorker> LookFromInside(const hal::Team& team) {
  std::vector<SeenByWorker> seen(team.size());
  HY_EXPECT_OK(team.Run([&](uint32_t index, uint32_t) {
    if (index >= seen.size()) return;  // TEAM-01 tells of such an index
    seen[index].mask = os::ThreadMask().value_or(std::set<uint32_t>{});
    seen[index].unit = os::CurrentUnit().value_or(HY_ID_NONE);
  }));
  return seen;
}

// Report and own view of each worker must agree; unknown is legal.
void CompareReports(const std::vector<hal::WorkerReport>& reports,
                    const std::vector<SeenByWorker>& seen) {
  ASSERT_EQ(reports.size(), seen.size());
  for (size_t i = 0; i < reports.size(); ++i) {
    const hal::WorkerReport& report = reports[i];
    EXPECT_EQ(report.index, i);
    if (seen[i].mask.empty()) continue;
    if ((report.flags & HY_WORKER_MASK_KNOWN) != 0) {
      EXPECT_EQ(std::set<uint32_t>(report.mask.begin(), report.mask.end()), seen[i].mask)
          << "worker " << i << ": the reported mask is not the one that it runs with";
    }
    if ((report.flags & HY_WORKER_PU_KNOWN) != 0) {
      EXPECT_EQ(seen[i].mask.count(report.last_pu), 1u)
          << "worker " << i << " reports unit " << report.last_pu << ", on which it may not run";
    }
    if ((report.flags & HY_WORKER_BOUND) != 0) {
      EXPECT_EQ(seen[i].mask, std::set<uint32_t>{report.requested_pu}) << "worker " << i;
      EXPECT_EQ(report.bind_status, HY_OK);
      if (seen[i].unit != HY_ID_NONE) {
        EXPECT_EQ(seen[i].unit, report.requested_pu);
      }
    }
  }
}

void ExpectBarriersComplete(HalContext& context, uint32_t count, bool allow_oversubscription) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Team team,
                          context.device().CreateTeam(Workers(count, allow_oversubscription)));
  ASSERT_EQ(team.size(), count);
  TestBarrier barrier(count, DeadlineIn(context, 3));
  std::atomic<uint32_t> stuck{0};
  HY_ASSERT_OK(team.Run([&](uint32_t, uint32_t) {
    for (int phase = 0; phase < 20 && stuck == 0; ++phase) {
      if (!barrier.Arrive()) ++stuck;
    }
  }));
  EXPECT_EQ(stuck, 0u) << "a barrier of " << count << " workers does not complete";
}

}  // namespace

HY_DUTY("HAL-TEAM-01", EveryWorkerRunsOnceWithItsIndex) {
  for (const uint32_t count : {1u, 2u, 3u, 7u}) {
    HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam(Workers(count, true)));
    ASSERT_EQ(team.size(), count);
    std::vector<std::atomic<uint32_t>> runs(count);
    std::atomic<uint32_t> wrong{0};
    constexpr uint32_t kRounds = 50;
    for (uint32_t round = 0; round < kRounds; ++round) {
      HY_ASSERT_OK(team.Run([&](uint32_t index, uint32_t of) {
        if (index >= count || of != count) {
          ++wrong;
        } else {
          ++runs[index];
        }
      }));
      for (const std::atomic<uint32_t>& one : runs) ASSERT_EQ(one, round + 1);
    }
    EXPECT_EQ(wrong, 0u) << "indices or counts that are none of this team of " << count;
  }
}

HY_DUTY("HAL-TEAM-01", WorkersAreDistinctThreads) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam(Workers(3, true)));
  std::vector<std::thread::id> first(3), second(3);
  HY_ASSERT_OK(
      team.Run([&](uint32_t index, uint32_t) { first[index] = std::this_thread::get_id(); }));
  HY_ASSERT_OK(
      team.Run([&](uint32_t index, uint32_t) { second[index] = std::this_thread::get_id(); }));
  EXPECT_EQ(first, second) << "a worker is a persistent thread";
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::unique(first.begin(), first.end()), first.end());
}

HY_DUTY("HAL-TEAM-02", ABarrierOfTheBudgetCompletes) {
  ExpectBarriersComplete(context, BudgetWorkers(context), false);
}

HY_DUTY("HAL-TEAM-02", ABarrierOfTwiceTheBudgetCompletes) {
  ExpectBarriersComplete(context, 2 * BudgetWorkers(context), true);
}

HY_DUTY("HAL-TEAM-02", TwoTeamsAreLiveAtOnce) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Team a, context.device().CreateTeam(Workers(2, true)));
  HY_ASSERT_OK_AND_ASSIGN(hal::Team b, context.device().CreateTeam(Workers(2, true)));
  TestBarrier barrier(4, DeadlineIn(context, 3));
  std::atomic<uint32_t> stuck{0};
  const auto meet = [&](uint32_t, uint32_t) { stuck += barrier.Arrive() ? 0u : 1u; };
  std::thread other([&] { HY_EXPECT_OK(b.Run(meet)); });
  HY_EXPECT_OK(a.Run(meet));
  other.join();
  EXPECT_EQ(stuck, 0u) << "workers of two teams never met";
}

HY_DUTY("HAL-TEAM-03", MoreWorkersThanTheBudgetNeedTheFlag) {
  const uint32_t budget = BudgetWorkers(context);
  EXPECT_TRUE(absl::IsOutOfRange(context.device().CreateTeam(Workers(budget + 1)).status()));
  EXPECT_TRUE(absl::IsOutOfRange(context.device().CreateTeam(Workers(4 * budget + 3)).status()));
  HY_EXPECT_OK(context.device().CreateTeam(Workers(budget)).status());
  HY_EXPECT_OK(context.device().CreateTeam(Workers(budget + 1, true)).status());
}

HY_DUTY("HAL-TEAM-04", WorkersAreNamedByUnitIds) {
  HY_NEED_OWN_MACHINE();
  const std::vector<uint32_t> units = OwnUnits();
  if (units.empty()) GTEST_SKIP() << "the system does not tell the affinity mask";
  // From the last to the first: an id taken for an index ends elsewhere.
  std::vector<std::vector<uint32_t>> lists = {{units.back()}, {units.front()}};
  if (BudgetWorkers(context) >= 2 && units.size() >= 2) {
    lists.push_back({units.back(), units.front()});
  }
  for (const std::vector<uint32_t>& list : lists) {
    hal::TeamRequest request;
    request.pus = list;
    HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam(request));
    ASSERT_EQ(team.size(), list.size());
    std::atomic<uint64_t> indices{0};
    HY_ASSERT_OK(
        team.Run([&](uint32_t index, uint32_t) { indices |= uint64_t{1} << (index % 64); }));
    EXPECT_EQ(indices.load(), (uint64_t{1} << list.size()) - 1) << "indices are 0 to count - 1";
    HY_ASSERT_OK_AND_ASSIGN(const std::vector<hal::WorkerReport> reports, team.Readback());
    const std::vector<SeenByWorker> seen = LookFromInside(team);
    for (size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(reports[i].requested_pu, list[i]);
      if ((reports[i].flags & HY_WORKER_BOUND) == 0) continue;
      EXPECT_EQ(seen[i].unit, list[i]) << "worker " << i << " runs on another unit than it names";
    }
    CompareReports(reports, seen);
  }
}

HY_DUTY("HAL-TEAM-04", AUnitThatIsNotAllowedIsNotClaimed) {
  HY_NEED_OWN_MACHINE();
  const std::optional<std::set<uint32_t>> online = os::OnlineUnits();
  const uint32_t absent = online.has_value() && !online->empty() ? *online->rbegin() + 70 : 4000;
  hal::TeamRequest request;
  request.pus = {absent};
  const absl::StatusOr<hal::Team> team = context.device().CreateTeam(request);
  if (!team.ok()) {
    EXPECT_TRUE(absl::IsNotFound(team.status())) << team.status();
    return;
  }
  HY_ASSERT_OK_AND_ASSIGN(const std::vector<hal::WorkerReport> reports, team->Readback());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].flags & HY_WORKER_BOUND, 0u) << "bound to unit " << absent << "?";
  EXPECT_NE(reports[0].bind_status, HY_OK);
  EXPECT_EQ(std::count(reports[0].mask.begin(), reports[0].mask.end(), absent), 0);
  CompareReports(reports, LookFromInside(*team));
}

HY_DUTY("HAL-TEAM-05", WritesAreSeenOnBothSides) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam(Workers(3, true)));
  uint64_t before = 0;  // plain memory on purpose
  uint64_t after[3] = {};
  for (uint64_t round = 1; round <= 500; ++round) {
    before = round;
    HY_ASSERT_OK(team.Run([&](uint32_t index, uint32_t) { after[index] = before * 3 + index; }));
    for (uint64_t index = 0; index < 3; ++index) ASSERT_EQ(after[index], round * 3 + index);
  }
}

HY_DUTY("HAL-TEAM-06", ANestedRunIsRefused) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam(Workers(2, true)));
  HY_ASSERT_OK_AND_ASSIGN(hal::Team other, context.device().CreateTeam(Workers(2, true)));
  std::atomic<uint32_t> refused{0}, inner{0}, worked{0};
  HY_ASSERT_OK(team.Run([&](uint32_t index, uint32_t) {
    const absl::Status nested = team.Run([&](uint32_t, uint32_t) { ++inner; });
    if (absl::IsFailedPrecondition(nested)) ++refused;
    if (index != 0) return;
    const absl::Status another = other.Run([&](uint32_t, uint32_t) { ++worked; });
    EXPECT_TRUE(another.ok()) << another;
  }));
  EXPECT_EQ(refused, 2u) << "a run inside a run of the same team is FAILED_PRECONDITION";
  EXPECT_EQ(inner, 0u);
  EXPECT_EQ(worked, 2u) << "a run of another team works";
  HY_EXPECT_OK(team.Run([](uint32_t, uint32_t) {}));
}

HY_DUTY("HAL-TEAM-07", AHundredThousandRunsComplete, .deadline_s = 60, .in_validate = false) {
  const uint32_t workers = std::min(2u, BudgetWorkers(context));
  HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam(Workers(workers)));
  constexpr uint32_t kRuns = 100'000;
  // A team that hangs is ended by the runner; one that is only slow here is not judged.
  const uint64_t begin = MonotonicNs();
  const uint64_t patience_ns = 15'000'000'000u;
  std::atomic<uint32_t> ran{0};
  uint32_t runs = 0;
  while (runs < kRuns && (runs % 500 != 0 || MonotonicNs() - begin < patience_ns)) {
    HY_ASSERT_OK(team.Run([&](uint32_t index, uint32_t) {
      if (index == 0) ran.fetch_add(1, std::memory_order_relaxed);
    }));
    ++runs;
  }
  EXPECT_EQ(ran, runs);
  context.Fact("runs", absl::StrCat(runs));
  context.Fact("ns_a_run", absl::StrCat((MonotonicNs() - begin) / std::max(runs, 1u)));
  if (runs < kRuns) {
    GTEST_SKIP() << "too slow or too busy here: " << runs << " runs in 15 s, all of them whole";
  }
}

HY_DUTY("HAL-TEAM-08", TheReadbackIsWhatTheWorkerSees) {
  HY_NEED_OWN_MACHINE();
  for (const uint32_t count : {1u, BudgetWorkers(context)}) {
    HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam(Workers(count)));
    const std::vector<SeenByWorker> seen = LookFromInside(team);
    if (seen[0].mask.empty()) GTEST_SKIP() << "the system does not tell the affinity mask";
    HY_ASSERT_OK_AND_ASSIGN(const std::vector<hal::WorkerReport> reports, team.Readback());
    CompareReports(reports, seen);
    HY_ASSERT_OK_AND_ASSIGN(const std::vector<hal::WorkerReport> again, team.Readback());
    CompareReports(again, LookFromInside(team));
  }
}

HY_DUTY("HAL-TEAM-09", TheIsaIsWhatAllUnitsOfTheMaskExecute) {
  HY_NEED_OWN_MACHINE();
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology topology, context.device().ReadTopology(true));
  HY_ASSERT_OK_AND_ASSIGN(hal::Team team,
                          context.device().CreateTeam(Workers(BudgetWorkers(context))));
  HY_ASSERT_OK_AND_ASSIGN(const std::vector<hal::WorkerReport> reports, team.Readback());
  IsaMask of_team = reports.at(0).isa;
  for (const hal::WorkerReport& report : reports) {
    for (size_t word = 0; word < 2; ++word) {
      of_team[word] &= report.isa[word];
      for (const uint32_t unit : report.mask) {
        const hy_pu* const pu = topology.FindPu(unit);
        if (pu == nullptr) continue;
        EXPECT_EQ(report.isa[word] & ~pu->isa[word], 0u)
            << "worker " << report.index << " claims what unit " << unit << " does not execute";
      }
      EXPECT_EQ(report.isa[word] & ~LiveIsa()[word], 0u)
          << "worker " << report.index << " claims what the running processor does not execute";
    }
  }
  EXPECT_EQ(team.isa(), of_team) << "a team executes what all of its workers execute";
}

// The core takes the intersection with what it knows, so the port's own word is asked for.
HY_DUTY("HAL-TEAM-09", WorkerBindClaimsNoMore) {
  HY_NEED_OWN_MACHINE();
  if (context.api().worker_bind == nullptr) GTEST_SKIP() << "the port leaves binding to the core";
  const uint32_t unit = os::CurrentUnit().value_or(0);
  OnNewThread([&] {
    hy_worker_report report = Sized<hy_worker_report>();
    const hy_status status =
        context.api().worker_bind(context.raw_device(), unit, HY_BIND_ENTER, &report);
    if (status != HY_OK) return;
    for (size_t word = 0; word < 2; ++word) {
      EXPECT_EQ(report.isa[word] & ~LiveIsa()[word], 0u)
          << "worker_bind claims what the running processor does not execute";
    }
    hy_worker_report leave = Sized<hy_worker_report>();
    context.api().worker_bind(context.raw_device(), unit, HY_BIND_LEAVE, &leave);
  });
}

DutyTable TeamDuties() {
  static constexpr DutyTest kTests[] = {EveryWorkerRunsOnceWithItsIndex,
                                        WorkersAreDistinctThreads,
                                        ABarrierOfTheBudgetCompletes,
                                        ABarrierOfTwiceTheBudgetCompletes,
                                        TwoTeamsAreLiveAtOnce,
                                        MoreWorkersThanTheBudgetNeedTheFlag,
                                        WorkersAreNamedByUnitIds,
                                        AUnitThatIsNotAllowedIsNotClaimed,
                                        WritesAreSeenOnBothSides,
                                        ANestedRunIsRefused,
                                        AHundredThousandRunsComplete,
                                        TheReadbackIsWhatTheWorkerSees,
                                        TheIsaIsWhatAllUnitsOfTheMaskExecute,
                                        WorkerBindClaimsNoMore};
  return kTests;
}

}  // namespace halyard::conformance
