// SPDX-License-Identifier: Apache-2.0
#include "hal/host_services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/monotonic_clock.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const hy_host_services& Host() { return *HostServices(); }

TEST(HostServicesTest, TheTableIsWhatAPortNeeds) {
  EXPECT_EQ(hy_negotiate(HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, HostServices()), HY_REFUSED_NONE);
  EXPECT_EQ(HostServices(), HostServices());
}

TEST(HostServicesTest, AReportIsKeptForOneThreadAndTakenOnce) {
  EXPECT_EQ(Host().report(HY_NOT_FOUND, "no unit 7"), HY_NOT_FOUND);
  std::thread([] {
    EXPECT_EQ(TakeReport(), "");
    Host().report(HY_INTERNAL, "of another thread");
  }).join();
  EXPECT_EQ(TakeReport(), "no unit 7");
  EXPECT_EQ(TakeReport(), "");
}

TEST(HostServicesTest, ReportsOfAnyLengthAndNoneAreTaken) {
  Host().report(HY_INTERNAL, std::string(100000, 'x').c_str());
  EXPECT_THAT(TakeReport(), HasSubstr("xxxx"));
  EXPECT_EQ(Host().report(HY_ABORTED, nullptr), HY_ABORTED);
  EXPECT_EQ(TakeReport(), "");
}

TEST(HostServicesTest, LogLinesReachTheSink) {
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel level, absl::string_view message) {
    lines.push_back(std::to_string(static_cast<uint32_t>(level)) + " " + std::string(message));
  });
  Host().log(HY_LOG_WARNING, "slow");
  Host().log(77, "a level that does not exist");
  Host().log(HY_LOG_INFO, nullptr);
  SetLogSink({});
  EXPECT_THAT(lines, ElementsAre("2 slow", "3 a level that does not exist"));
}

TEST(HostServicesTest, MemoryIsAlignedAndCounted) {
  const HostMemoryUse before = CurrentHostMemoryUse();
  std::vector<void*> blocks;
  for (const uint64_t alignment : {0u, 1u, 2u, 16u, 64u, 4096u, 65536u}) {
    void* block = Host().memory_alloc(100, alignment);
    ASSERT_NE(block, nullptr);
    const uint64_t least = alignment < 16 ? 16 : alignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % least, 0u);
    std::memset(block, 0xa5, 100);
    blocks.push_back(block);
  }
  EXPECT_EQ(CurrentHostMemoryUse().allocations, before.allocations + blocks.size());
  EXPECT_EQ(CurrentHostMemoryUse().bytes, before.bytes + 100 * blocks.size());
  for (void* block : blocks) Host().memory_free(block);
  Host().memory_free(nullptr);
  EXPECT_EQ(CurrentHostMemoryUse().allocations, before.allocations);
  EXPECT_EQ(CurrentHostMemoryUse().bytes, before.bytes);
}

TEST(HostServicesTest, WrongRequestsGiveNull) {
  EXPECT_EQ(Host().memory_alloc(16, 3), nullptr);
  EXPECT_EQ(Host().memory_alloc(std::numeric_limits<uint64_t>::max(), 16), nullptr);
  EXPECT_EQ(Host().memory_alloc(1, uint64_t{1} << 63), nullptr);
  void* nothing = Host().memory_alloc(0, 0);
  EXPECT_NE(nothing, nullptr);
  Host().memory_free(nothing);
}

TEST(HostServicesTest, TheNthAllocationFailsOnce) {
  FailHostAllocation(3);
  std::vector<void*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(Host().memory_alloc(8, 0));
  EXPECT_EQ(FailHostAllocation(0), 5u);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i] == nullptr, i == 2) << i;
    Host().memory_free(blocks[i]);
  }
  void* later = Host().memory_alloc(8, 0);
  EXPECT_NE(later, nullptr);
  Host().memory_free(later);
}

hy_alloc_desc Pages(uint64_t bytes) {
  hy_alloc_desc desc{};
  desc.struct_size = sizeof desc;
  desc.memory_class = HY_ID_NONE;
  desc.bytes = bytes;
  desc.flags = HY_ALLOC_PREFAULT | HY_ALLOC_ZERO;
  return desc;
}

TEST(HostServicesTest, PagesAreGivenCountedAndTakenBack) {
  const HostMemoryUse before = CurrentHostMemoryUse();
  const hy_alloc_desc desc = Pages(100000);
  void* pages = nullptr;
  ASSERT_EQ(Host().pages_alloc(&desc, &pages, nullptr), HY_OK) << TakeReport();
  EXPECT_EQ(static_cast<unsigned char*>(pages)[99999], 0);
  EXPECT_EQ(CurrentHostMemoryUse().bytes, before.bytes + 100000);
  hy_placement placement{};
  placement.struct_size = sizeof placement;
  EXPECT_EQ(Host().pages_query(pages, 100000, &placement), HY_OK);
  EXPECT_EQ(Host().pages_free(pages), HY_OK);
  EXPECT_EQ(Host().pages_free(pages), HY_INVALID_ARGUMENT);
  EXPECT_EQ(CurrentHostMemoryUse().bytes, before.bytes);
}

TEST(HostServicesTest, PagesFailWhenAskedToAndByTheRules) {
  void* pages = &pages;
  const hy_alloc_desc desc = Pages(4096);
  FailHostAllocation(1);
  EXPECT_EQ(Host().pages_alloc(&desc, &pages, nullptr), HY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(pages, nullptr);
  EXPECT_EQ(FailHostAllocation(0), 1u);
  EXPECT_EQ(Host().pages_alloc(nullptr, &pages, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(Host().pages_alloc(&desc, nullptr, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(Host().pages_free(nullptr), HY_OK);
}

TEST(HostServicesTest, TopologyComesFromTheChosenSystem) {
  const auto image = ParseSystemImage(
      "@machine Two units\n@arch aarch64\n@page_bytes 4096\n@isa asimd\n"
      "sys/devices/system/cpu/online = 4-5\nsys/devices/system/cpu/present = 4-5\n"
      "sys/devices/system/cpu/possible = 4-5\n");
  ASSERT_TRUE(image.ok()) << image.status();
  const auto live = HostSystem();
  SetHostSystem(*image);
  hy_pu units[2] = {};
  hy_topology topology{};
  topology.struct_size = sizeof topology;
  topology.flags = HY_TOPOLOGY_ALL;
  topology.pus = {units, 0, 2, sizeof(hy_pu), 0};
  EXPECT_EQ(Host().topology_read(&topology), HY_OK) << TakeReport();
  topology.flags = 1u << 9;
  EXPECT_EQ(Host().topology_read(&topology), HY_INVALID_ARGUMENT);
  EXPECT_EQ(Host().topology_read(nullptr), HY_INVALID_ARGUMENT);
  SetHostSystem(live);
  EXPECT_EQ(topology.pus.count, 2u);
  EXPECT_EQ(units[0].os_id, 4u);
  EXPECT_EQ(units[1].os_id, 5u);
}

TEST(HostServicesTest, TheTimestampIsTheHostsRawClock) {
  hy_timestamp now{};
  now.struct_size = sizeof now;
  const uint64_t before = MonotonicRawNs();
  ASSERT_EQ(Host().timestamp(&now), HY_OK);
  const uint64_t after = MonotonicRawNs();
  EXPECT_LE(before, now.host_ns);
  EXPECT_LE(now.host_ns, after);
  EXPECT_EQ(now.hz, 1'000'000'000u);
  EXPECT_EQ(now.ticks, now.host_ns);
  EXPECT_EQ(Host().timestamp(nullptr), HY_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace halyard::hal
