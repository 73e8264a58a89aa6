// SPDX-License-Identifier: Apache-2.0
#include "hal/pages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hal/page_wish.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kMib = UINT64_C(1) << 20;
constexpr uint32_t kAbsentNode = 4'000;
constexpr uint64_t kWhy = ~static_cast<uint64_t>(HY_REASON_FELL_BACK);

// An hy_alloc_desc with its lists.
struct Wish {
  uint64_t bytes = 0;
  uint64_t alignment = 0;
  uint64_t flags = HY_ALLOC_PREFAULT;
  std::vector<uint64_t> pages = {};
  uint32_t page_strength = HY_PREFER;
  uint32_t policy = HY_NODES_DEFAULT;
  std::vector<uint32_t> nodes = {};
  uint32_t node_strength = HY_PREFER;

  hy_alloc_desc Desc() const {
    hy_alloc_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.memory_class = HY_ID_NONE;
    desc.bytes = bytes;
    desc.alignment = alignment;
    desc.flags = flags;
    desc.node_policy = policy;
    desc.node_strength = node_strength;
    desc.page_strength = page_strength;
    desc.nodes = {const_cast<uint32_t*>(nodes.data()), static_cast<uint32_t>(nodes.size()), 0,
                  sizeof(uint32_t), 0};
    desc.pages = {const_cast<uint64_t*>(pages.data()), static_cast<uint32_t>(pages.size()), 0,
                  sizeof(uint64_t), 0};
    return desc;
  }
};

struct Freer {
  void operator()(char* ptr) const { EXPECT_TRUE(FreePages(ptr).ok()); }
};
using Pages = std::unique_ptr<char, Freer>;

Pages Allocate(const Wish& wish, Placement* placement = nullptr) {
  const absl::StatusOr<void*> ptr = AllocatePages(wish.Desc(), placement);
  EXPECT_TRUE(ptr.ok()) << ptr.status();
  return Pages(ptr.ok() ? static_cast<char*>(*ptr) : nullptr);
}

absl::StatusCode Failure(const Wish& wish) {
  const absl::StatusOr<void*> ptr = AllocatePages(wish.Desc(), nullptr);
  if (ptr.ok()) {
    EXPECT_TRUE(FreePages(*ptr).ok());
  }
  return ptr.status().code();
}

uint64_t AddressOf(const Pages& pages) { return reinterpret_cast<uintptr_t>(pages.get()); }

// The kernel reads the byte for us, so that a byte that is not there is an answer.
bool CanRead(const char* byte) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool read = write(ends[1], byte, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return read;
}

uint64_t PresentPages(const char* ptr, uint64_t bytes) {
  const size_t page = static_cast<size_t>(BasePageBytes());
  std::vector<unsigned char> states((static_cast<size_t>(bytes) + page - 1) / page);
  EXPECT_EQ(mincore(const_cast<char*>(ptr), static_cast<size_t>(bytes), states.data()), 0);
  return static_cast<uint64_t>(std::count_if(states.begin(), states.end(),
                                             [](unsigned char state) { return (state & 1) != 0; }));
}

bool WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

TEST(AllocatePages, GivesZeroedWritableAlignedMemory) {
  for (const uint64_t bytes : {UINT64_C(1), UINT64_C(4'095), UINT64_C(4'097), 2 * kMib + 1}) {
    for (const uint64_t alignment : {UINT64_C(0), UINT64_C(64), UINT64_C(65'536), 2 * kMib}) {
      Pages pages = Allocate({.bytes = bytes, .alignment = alignment});
      ASSERT_NE(pages, nullptr);
      EXPECT_EQ(AddressOf(pages) % std::max(alignment, BasePageBytes()), 0u);
      EXPECT_EQ(std::count(pages.get(), pages.get() + bytes, '\0'),
                static_cast<std::ptrdiff_t>(bytes));
      std::memset(pages.get(), 0x5a, static_cast<size_t>(bytes));
    }
  }
}

TEST(AllocatePages, AGuardPageLiesOnEitherSide) {
  const uint64_t page = BasePageBytes();
  Pages pages = Allocate({.bytes = 2 * page, .alignment = 2 * kMib});
  ASSERT_NE(pages, nullptr);
  EXPECT_TRUE(CanRead(pages.get()));
  EXPECT_TRUE(CanRead(pages.get() + 2 * page - 1));
  EXPECT_FALSE(CanRead(pages.get() - 1));
  EXPECT_FALSE(CanRead(pages.get() + 2 * page));
}

TEST(AllocatePages, PrefaultBringsEveryPageIn) {
  const uint64_t page = BasePageBytes();
  Placement placement;
  Pages pages = Allocate({.bytes = 100 * page + 1}, &placement);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(PresentPages(pages.get(), 100 * page + 1), 101u);
  EXPECT_EQ(placement.resident_bytes, 100 * page + 1);
  EXPECT_EQ(placement.reasons, 0u);
}

TEST(AllocatePages, WithoutPrefaultNothingIsPresent) {
  Placement placement;
  Pages pages = Allocate({.bytes = 64 * kMib, .flags = 0}, &placement);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(PresentPages(pages.get(), 64 * kMib), 0u);
  EXPECT_EQ(placement.resident_bytes, 0u);
  EXPECT_EQ(placement.huge_bytes, 0u);
}

TEST(AllocatePages, RefusesWrongWishes) {
  Wish odd = {.bytes = 4'096};
  odd.alignment = 48;
  EXPECT_EQ(Failure(odd), absl::StatusCode::kInvalidArgument) << "alignment";
  EXPECT_EQ(Failure({}), absl::StatusCode::kInvalidArgument) << "no bytes";
  EXPECT_EQ(Failure({.bytes = 1, .flags = UINT64_C(1) << 40}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Failure({.bytes = 1, .pages = {3}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Failure({.bytes = 1, .page_strength = 2}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Failure({.bytes = 1, .policy = 4}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Failure({.bytes = 1, .policy = HY_NODES_BIND}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Failure({.bytes = 1, .nodes = {0}}), absl::StatusCode::kInvalidArgument);
  hy_alloc_desc desc = Wish{.bytes = 1}.Desc();
  desc.usage = 99;
  EXPECT_EQ(AllocatePages(desc, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
  desc = Wish{.bytes = 1}.Desc();
  desc.pages = {nullptr, 3, 0, 8, 0};
  EXPECT_EQ(AllocatePages(desc, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(AllocatePages, SizesBeyondTheMachineAreAnError) {
  for (const uint64_t bytes : {UINT64_C(1) << 45, UINT64_C(1) << 60, UINT64_MAX}) {
    EXPECT_EQ(Failure({.bytes = bytes}), absl::StatusCode::kResourceExhausted) << bytes;
  }
  EXPECT_EQ(Failure({.bytes = 1, .alignment = UINT64_C(1) << 63}),
            absl::StatusCode::kResourceExhausted);
}

TEST(FreePages, TakesOnlyWhatItGaveAndOnlyOnce) {
  int local = 0;
  EXPECT_EQ(FreePages(nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FreePages(&local).code(), absl::StatusCode::kInvalidArgument);
  char* ptr = Allocate({.bytes = 3 * BasePageBytes()}).release();
  EXPECT_EQ(FreePages(ptr + BasePageBytes()).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(FreePages(ptr).ok());
  EXPECT_FALSE(CanRead(ptr));
  EXPECT_EQ(FreePages(ptr).code(), absl::StatusCode::kInvalidArgument);
}

TEST(AllocatePages, FromSeveralThreadsAtOnceGivesEachItsOwn) {
  auto work = [](char mark) {
    for (int i = 0; i < 100; ++i) {
      Pages pages = Allocate({.bytes = 5'000});
      ASSERT_NE(pages, nullptr);
      std::memset(pages.get(), mark, 5'000);
      ASSERT_EQ(std::count(pages.get(), pages.get() + 5'000, mark), 5'000);
    }
  };
  std::vector<std::thread> threads;
  for (char mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
  for (std::thread& thread : threads) thread.join();
}

TEST(AllocatePages, ASizeThatTheKernelLacksFallsBackAndSaysSo) {
  uint64_t absent = 16 * kMib;
  const std::vector<uint64_t> sizes = ListPageSizes();
  while (std::find(sizes.begin(), sizes.end(), absent) != sizes.end()) absent *= 2;
  Placement placement;
  Pages pages = Allocate({.bytes = kMib, .pages = {absent}}, &placement);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(placement.reasons, HY_REASON_SIZE_UNSUPPORTED | HY_REASON_FELL_BACK);
  EXPECT_EQ(Failure({.bytes = kMib, .pages = {absent}, .page_strength = HY_REQUIRE}),
            absl::StatusCode::kUnimplemented);
  EXPECT_NE(Allocate({.bytes = kMib, .pages = {absent, 0}, .page_strength = HY_REQUIRE}), nullptr)
      << "a required list holds if any entry does";
}

// One test at a time looks at the pools of huge pages; tests run side by side.
class PoolLock {
 public:
  PoolLock() : fd_(open("/sys/kernel/mm/hugepages", O_RDONLY | O_CLOEXEC)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~PoolLock() {
    if (fd_ >= 0) close(fd_);
  }
  PoolLock(const PoolLock&) = delete;
  PoolLock& operator=(const PoolLock&) = delete;

 private:
  int fd_;
};

TEST(AllocatePages, AnEmptyPoolFallsBackAndSaysSo) {
  const PoolLock lock;
  for (const uint64_t size : ListPageSizes()) {
    if (size == BasePageBytes()) continue;
    const std::string folder =
        "/sys/kernel/mm/hugepages/hugepages-" + std::to_string(size / 1'024) + "kB/";
    if (ReadText(folder + "free_hugepages") != "0" ||
        ReadText(folder + "nr_overcommit_hugepages") != "0") {
      continue;
    }
    Placement placement;
    Pages pages = Allocate({.bytes = kMib, .pages = {size}}, &placement);
    ASSERT_NE(pages, nullptr);
    const uint64_t why = placement.reasons & kWhy;
    EXPECT_NE(placement.reasons & HY_REASON_FELL_BACK, 0u);
    const absl::StatusCode code =
        Failure({.bytes = kMib, .pages = {size}, .page_strength = HY_REQUIRE});
    if (why == HY_REASON_SIZE_UNSUPPORTED) {  // an emulator that has the size in its lists only
      EXPECT_EQ(code, absl::StatusCode::kUnimplemented);
    } else {
      EXPECT_EQ(why, HY_REASON_POOL_EMPTY) << size;
      EXPECT_EQ(code, absl::StatusCode::kResourceExhausted) << size;
    }
    std::memset(pages.get(), 1, kMib);
  }
}

// Huge pages in the pool for as long as it lives.
class HugePool {
 public:
  explicit HugePool(uint64_t more) : before_(ReadText(kFile)) {
    if (before_.empty()) return;
    const uint64_t wanted = std::stoull(before_) + more;
    WriteText(kFile, std::to_string(wanted));
    holds_ = ReadText(kFile) == std::to_string(wanted);
  }
  ~HugePool() {
    if (!before_.empty()) WriteText(kFile, before_);
  }
  bool holds() const { return holds_; }

 private:
  PoolLock lock_;
  static constexpr char kFile[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
  std::string before_;
  bool holds_ = false;
};

TEST(AllocatePages, HugePagesOfThePoolAreUsedAndSeen) {
  const HugePool pool(8);
  if (!pool.holds()) GTEST_SKIP() << "cannot reserve huge pages of 2 MiB here";
  Placement placement;
  // Larger than a page, no multiple of one, aligned to more than one.
  Pages pages =
      Allocate({.bytes = 5 * kMib, .alignment = 16 * kMib, .pages = {2 * kMib}}, &placement);
  ASSERT_NE(pages, nullptr);
  if ((placement.reasons & HY_REASON_SIZE_UNSUPPORTED) != 0 ||
      (placement.known & HY_KNOWN_PAGES) == 0) {
    EXPECT_EQ(placement.huge_bytes, 0u);
    GTEST_SKIP() << "the kernel has huge pages, but an emulator stands before it";
  }
  EXPECT_EQ(placement.reasons, 0u);
  EXPECT_EQ(AddressOf(pages) % (16 * kMib), 0u);
  EXPECT_EQ(placement.page_bytes, 2 * kMib);
  EXPECT_EQ(placement.huge_bytes, 5 * kMib);
  EXPECT_EQ(placement.resident_bytes, 5 * kMib);
  std::memset(pages.get(), 1, 5 * kMib);

  // What is left does not do: nothing is touched late, the next rung is taken at once.
  Pages second = Allocate({.bytes = 12 * kMib, .pages = {2 * kMib}}, &placement);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(placement.reasons, HY_REASON_POOL_EMPTY | HY_REASON_FELL_BACK);
  EXPECT_EQ(Failure({.bytes = 12 * kMib, .pages = {2 * kMib}, .page_strength = HY_REQUIRE}),
            absl::StatusCode::kResourceExhausted);
}

TEST(AllocatePages, HugePagesGoBackToThePool) {
  const HugePool pool(2);
  if (!pool.holds()) GTEST_SKIP() << "cannot reserve huge pages of 2 MiB here";
  for (int i = 0; i < 5; ++i) {
    Placement placement;
    Pages pages =
        Allocate({.bytes = 4 * kMib, .alignment = 8 * kMib, .pages = {2 * kMib}}, &placement);
    if ((placement.reasons & HY_REASON_SIZE_UNSUPPORTED) != 0) {
      GTEST_SKIP() << "the kernel has huge pages, but an emulator stands before it";
    }
    ASSERT_EQ(placement.reasons, 0u) << "round " << i;
  }
}

TEST(AllocatePages, TransparentPagesAreReportedOnlyIfTheyAreThere) {
  Placement placement;
  Pages pages = Allocate({.bytes = 16 * kMib, .pages = {HY_PAGE_TRANSPARENT}}, &placement);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(PresentPages(pages.get(), 16 * kMib) * BasePageBytes(), 16 * kMib);
  if ((placement.reasons & HY_REASON_FELL_BACK) != 0) {
    EXPECT_EQ(placement.huge_bytes, 0u);
    EXPECT_NE(placement.reasons & kWhy, 0u) << "a wish that is not met says why";
  } else {
    EXPECT_NE(placement.known & HY_KNOWN_PAGES, 0u);
    EXPECT_GT(placement.huge_bytes, 0u);
    EXPECT_GT(placement.page_bytes, BasePageBytes());
  }
}

TEST(AllocatePages, TransparentPagesThatCannotBeAreAnErrorIfRequired) {
  const absl::StatusCode code = Failure(
      {.bytes = BasePageBytes(), .pages = {HY_PAGE_TRANSPARENT}, .page_strength = HY_REQUIRE});
  EXPECT_EQ(code, absl::StatusCode::kUnimplemented) << "smaller than any huge page";
}

TEST(AllocatePages, RequiredBasePagesAreBasePages) {
  Placement placement;
  Pages pages = Allocate({.bytes = 8 * kMib, .pages = {HY_PAGE_BASE}, .page_strength = HY_REQUIRE},
                         &placement);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(placement.huge_bytes, 0u);
  EXPECT_EQ(placement.reasons, 0u);
}

TEST(AllocatePages, ANodeThatIsNotThereIsNeverReported) {
  for (const uint32_t policy : {HY_NODES_BIND, HY_NODES_INTERLEAVE}) {
    Placement placement;
    Pages pages = Allocate({.bytes = kMib, .policy = policy, .nodes = {kAbsentNode}}, &placement);
    ASSERT_NE(pages, nullptr);
    EXPECT_NE(placement.reasons & HY_REASON_FELL_BACK, 0u);
    EXPECT_NE(placement.reasons & (HY_REASON_NODE_ABSENT | HY_REASON_POLICY_DENIED), 0u);
    for (const hy_node_bytes& node : placement.nodes) EXPECT_NE(node.node_id, kAbsentNode);
    const absl::StatusCode code = Failure(
        {.bytes = kMib, .policy = policy, .nodes = {0, kAbsentNode}, .node_strength = HY_REQUIRE});
    EXPECT_TRUE(code == absl::StatusCode::kNotFound || code == absl::StatusCode::kPermissionDenied)
        << static_cast<int>(code);
  }
}

TEST(AllocatePages, ANodeThatIsThereIsUsedAndSeen) {
  Placement anywhere;
  const Pages probe = Allocate({.bytes = kMib}, &anywhere);
  if ((anywhere.known & HY_KNOWN_NODES) == 0) GTEST_SKIP() << "the system does not tell nodes";
  ASSERT_FALSE(anywhere.nodes.empty());
  const uint32_t node = anywhere.nodes.front().node_id;
  for (const uint32_t policy : {HY_NODES_BIND, HY_NODES_INTERLEAVE, HY_NODES_LOCAL}) {
    for (const uint32_t strength : {HY_PREFER, HY_REQUIRE}) {
      Wish wish = {.bytes = kMib, .policy = policy, .node_strength = strength};
      if (policy != HY_NODES_LOCAL) wish.nodes = {node};
      Placement placement;
      Pages pages = Allocate(wish, &placement);
      ASSERT_NE(pages, nullptr);
      EXPECT_EQ(placement.reasons, 0u) << policy;
      EXPECT_NE(placement.known & HY_KNOWN_NODES, 0u);
      ASSERT_EQ(placement.nodes.size(), 1u);
      EXPECT_EQ(placement.nodes[0].bytes, kMib);
      if (policy != HY_NODES_LOCAL) {
        EXPECT_EQ(placement.nodes[0].node_id, node);
      }
    }
  }
}

// In a child, since beyond the limit the system may end a process.
TEST(AllocatePages, AMemoryLimitIsAnErrorNotADeath) {
  std::string folder;
  for (const std::string root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
    folder = root + "/halyard_pages_test_" + std::to_string(getpid());
    if (mkdir(folder.c_str(), 0755) != 0) continue;
    if (WriteText(folder + "/memory.limit_in_bytes", "134217728") ||
        WriteText(folder + "/memory.max", "134217728")) {
      break;
    }
    rmdir(folder.c_str());
    folder.clear();
  }
  if (folder.empty() || access(folder.c_str(), F_OK) != 0) {
    GTEST_SKIP() << "no right to make a control group with a memory limit";
  }
  const pid_t child = fork();
  if (child == 0) {
    if (!WriteText(folder + "/cgroup.procs", std::to_string(getpid()))) _exit(77);
    const absl::StatusOr<void*> ptr = AllocatePages(Wish{.bytes = 512 * kMib}.Desc(), nullptr);
    _exit(ptr.status().code() == absl::StatusCode::kResourceExhausted ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  rmdir(folder.c_str());
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "cannot move a process into a control group";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(QueryPages, CountsOnlyPagesThatAreThereBySampling) {
  // Four times as many pages as samples, the first half of them touched.
  const uint64_t bytes = 4'096 * BasePageBytes();
  Pages pages = Allocate({.bytes = bytes, .flags = 0, .pages = {0}, .page_strength = HY_REQUIRE});
  ASSERT_NE(pages, nullptr);
  for (uint64_t at = 0; at < bytes / 2; at += BasePageBytes()) pages.get()[at] = 1;
  const Placement placement = QueryPages(pages.get(), bytes);
  EXPECT_EQ(placement.resident_bytes, bytes / 2);
  EXPECT_EQ(QueryPages(pages.get() + bytes / 2, bytes / 2).resident_bytes, 0u);
  EXPECT_EQ(QueryPages(pages.get() + 10, 20).resident_bytes, 20u);
}

TEST(QueryPages, TakesAnyRange) {
  static char data[100] = {1};
  const std::vector<char> heap(3 * kMib, 1);
  char stack[64] = {1};
  for (const auto& [ptr, bytes] : {std::pair<const char*, uint64_t>{data, sizeof data},
                                   {heap.data(), heap.size()},
                                   {stack, sizeof stack}}) {
    const Placement placement = QueryPages(ptr, bytes);
    EXPECT_EQ(placement.resident_bytes, bytes);
    uint64_t on_nodes = 0;
    for (const hy_node_bytes& node : placement.nodes) on_nodes += node.bytes;
    if ((placement.known & HY_KNOWN_NODES) != 0) {
      EXPECT_EQ(on_nodes, bytes);
    }
    if ((placement.known & HY_KNOWN_PAGES) != 0) {
      EXPECT_GE(placement.page_bytes, BasePageBytes());
    }
  }
}

TEST(QueryPages, WhatIsNotMappedIsNotKnown) {
  char* ptr = Allocate({.bytes = BasePageBytes()}).release();
  ASSERT_TRUE(FreePages(ptr).ok());
  EXPECT_EQ(QueryPages(ptr, BasePageBytes()).known & HY_KNOWN_PAGES, 0u);
  EXPECT_EQ(QueryPages(ptr, BasePageBytes()).resident_bytes, 0u);
  EXPECT_EQ(QueryPages(nullptr, 1).known, 0u);
  EXPECT_EQ(QueryPages(ptr, 0).known, 0u);
  EXPECT_EQ(QueryPages(ptr, UINT64_MAX).known, 0u);
}

TEST(ListPageSizes, BeginsWithTheBasePageAndAscends) {
  const std::vector<uint64_t> sizes = ListPageSizes();
  ASSERT_FALSE(sizes.empty());
  EXPECT_EQ(sizes.front(), BasePageBytes());
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_EQ(std::adjacent_find(sizes.begin(), sizes.end()), sizes.end());
}

TEST(ExportPlacement, FollowsTheRulesOfSizesAndArrays) {
  Placement placement;
  placement.known = HY_KNOWN_NODES;
  placement.reasons = HY_REASON_LIMIT;
  placement.nodes = {{3, 0, 30}, {9, 0, 90}};
  struct Spaced {
    hy_node_bytes node;
    uint64_t between;
  };
  Spaced places[3] = {};
  places[0].between = places[1].between = 7;
  hy_placement raw = {};
  raw.struct_size = sizeof raw;
  raw.nodes = {places, 0, 3, sizeof(Spaced), 0};
  EXPECT_EQ(ExportPlacement(placement, &raw), HY_OK);
  EXPECT_EQ(raw.nodes.count, 2u);
  EXPECT_EQ(places[0].node.bytes, 30u);
  EXPECT_EQ(places[1].node.node_id, 9u);
  EXPECT_EQ(places[0].between, 7u);
  raw.nodes.capacity = 1;
  EXPECT_EQ(ExportPlacement(placement, &raw), HY_OUT_OF_RANGE);
  EXPECT_EQ(raw.nodes.count, 2u);
  raw.nodes.data = nullptr;
  EXPECT_EQ(ExportPlacement(placement, &raw), HY_OK);
  raw.reasons = 99;
  raw.struct_size = offsetof(hy_placement, reasons);
  EXPECT_EQ(ExportPlacement(placement, &raw), HY_OK);
  EXPECT_EQ(raw.reasons, 99u) << "beyond the caller's struct";
  EXPECT_EQ(ExportPlacement(placement, nullptr), HY_INVALID_ARGUMENT);
  raw.struct_size = 0;
  EXPECT_EQ(ExportPlacement(placement, &raw), HY_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace halyard::hal
