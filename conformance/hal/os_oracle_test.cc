// SPDX-License-Identifier: Apache-2.0
#include "conformance/hal/os_oracle.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/hal/work.h"
#include "conformance/machine.h"

namespace halyard::conformance {
namespace {

TEST(OsOracleTest, ReadsKernelLists) {
  EXPECT_EQ(*os::ParseList("0-3,8"), (std::set<uint32_t>{0, 1, 2, 3, 8}));
  EXPECT_EQ(*os::ParseList("5"), std::set<uint32_t>{5});
  EXPECT_FALSE(os::ParseList("x").has_value());
}

TEST(OsOracleTest, TheMaskIsThatOfTheThread) {
  std::thread([] {
    const std::optional<std::set<uint32_t>> mask = os::ThreadMask();
    if (!mask.has_value()) GTEST_SKIP() << "the system tells no mask";
    ASSERT_TRUE(os::SetThreadMask({*mask->rbegin()}));
    EXPECT_EQ(*os::ThreadMask(), std::set<uint32_t>{*mask->rbegin()});
    EXPECT_EQ(os::CurrentUnit().value_or(*mask->rbegin()), *mask->rbegin());
  }).join();
}

TEST(OsOracleTest, SeesWhichPagesAreThere) {
  if (IsEmulated()) GTEST_SKIP() << "an emulator does not show the pages of the machine";
  const uint64_t page = os::BasePageBytes();
  const size_t bytes = static_cast<size_t>(8 * page);
  auto* const pages = static_cast<uint8_t*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  madvise(pages, bytes, MADV_NOHUGEPAGE);
  EXPECT_EQ(*os::ResidentBytes(pages, bytes), 0u);
  pages[0] = pages[3 * page] = 1;
  EXPECT_EQ(*os::ResidentBytes(pages, bytes), 2 * page);
  const std::optional<os::MappingInfo> mapping = os::MappingOf(pages + page);
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->kernel_page_bytes, page);
  munmap(pages, bytes);
}

// A thread that was joined may be seen for a moment.
auto ThreadsAtLast(decltype(os::Holdings::threads) wanted) {
  decltype(os::Holdings::threads) threads = 0;
  for (int i = 0; i < 500; ++i) {
    threads = os::CurrentHoldings().threads;
    if (threads == wanted) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return threads;
}

TEST(OsOracleTest, SeesWhatIsHeld) {
  std::atomic<bool> may_end{false};
  // Threads of tests before this one are gone by then.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto before = os::CurrentHoldings().threads;
  std::thread waiting([&] {
    while (!may_end.load()) sched_yield();
  });
  EXPECT_EQ(ThreadsAtLast(before + 1), before + 1);
  may_end.store(true);
  waiting.join();
  EXPECT_EQ(ThreadsAtLast(before), before);
}

TEST(WorkTest, BytesAndDifferences) {
  EXPECT_EQ(SeededBytes(7, 100), SeededBytes(7, 100));
  EXPECT_NE(SeededBytes(7, 100), SeededBytes(8, 100));
  EXPECT_EQ(FirstDifference({1, 2, 3}, {1, 2, 3}), "");
  EXPECT_EQ(FirstDifference({1, 2, 3}, {1, 9, 9}),
            "byte 1 is 0x02, expected 0x09 (2 of 3 bytes differ)");
  EXPECT_NE(FirstDifference({1}, {1, 2}), "");
}

TEST(WorkTest, AGuardedPageEndsWhereItSays) {
  const GuardedPage page;
  ASSERT_TRUE(page.ok());
  auto* const last = static_cast<volatile uint8_t*>(page.Before(8)) + 7;
  *last = 1;
  EXPECT_DEATH(last[1] = 1, "");
}

}  // namespace
}  // namespace halyard::conformance
