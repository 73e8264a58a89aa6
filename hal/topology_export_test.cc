// SPDX-License-Identifier: Apache-2.0
//
// Topologies across the C boundary, and as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hal/test_image.h"
#include "hal/topology.h"

namespace halyard::hal {
namespace {

using testing::HasSubstr;

Topology Read(const std::string& lines, bool all = true) {
  return ReadTopology(*TestImage(lines), all);
}

constexpr char kEightUnits[] =
    "sys/devices/system/cpu/online = 0-7\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/level = 1\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/type = Data\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/shared_cpu_list = {}\n"
    "sys/devices/system/node/online = 4-5\n"
    "sys/devices/system/node/node4/cpulist = 0-7\n"
    "sys/devices/system/node/node{4-5}/distance = 10 20\n"
    "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages = 7\n";

constexpr char kTwoUnits[] =
    "sys/devices/system/cpu/online = 3,9\n"
    "sys/devices/system/cpu/cpu{3,9}/topology/thread_siblings_list = {}\n";

hy_topology EmptyOut() {
  hy_topology out{};
  out.struct_size = sizeof out;
  return out;
}

TEST(ExportTest, CountsWithoutArrays) {
  hy_topology out = EmptyOut();
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &out), HY_OK);
  EXPECT_EQ(out.pus.count, 2u);
  EXPECT_EQ(out.nodes.count, 1u);
  EXPECT_EQ(out.budget_millicpus, 2000u);
  EXPECT_EQ(out.source, uint32_t{HY_SOURCE_FIXTURE});
  EXPECT_EQ(out.struct_size, sizeof out);
}

TEST(ExportTest, HonoursAStrideAboveTheRecord) {
  constexpr uint32_t kStride = sizeof(hy_pu) + 24;
  std::vector<unsigned char> memory(3 * kStride, 0xab);
  hy_topology out = EmptyOut();
  out.pus = {memory.data(), 0, 3, kStride, 0};
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &out), HY_OK);
  EXPECT_EQ(out.pus.count, 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    hy_pu pu;
    memcpy(&pu, memory.data() + i * kStride, sizeof pu);
    EXPECT_EQ(pu.os_id, i == 0 ? 3u : 9u);
    EXPECT_EQ(pu.struct_size, sizeof(hy_pu));
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    const bool between = i >= 2 * kStride || i % kStride >= sizeof(hy_pu);
    if (between) {
      EXPECT_EQ(memory[i], 0xab) << i;
    }
  }
}

TEST(ExportTest, HonoursAStrideBelowTheRecord) {
  constexpr uint32_t kStride = 16;
  std::vector<unsigned char> memory(3 * kStride, 0xab);
  hy_topology out = EmptyOut();
  out.pus = {memory.data(), 0, 2, kStride, 0};
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &out), HY_OK);
  uint32_t os_id = 0;
  memcpy(&os_id, memory.data() + kStride + offsetof(hy_pu, os_id), sizeof os_id);
  EXPECT_EQ(os_id, 9u);
  EXPECT_EQ(memory[2 * kStride], 0xab);
}

TEST(ExportTest, ATooSmallArrayStillGetsAllCounts) {
  hy_pu pu{};
  hy_topology out = EmptyOut();
  out.pus = {&pu, 0, 1, sizeof pu, 0};
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &out), HY_OUT_OF_RANGE);
  EXPECT_EQ(out.pus.count, 2u);
  EXPECT_EQ(out.nodes.count, 1u);
  EXPECT_EQ(pu.os_id, 3u);
}

TEST(ExportTest, KeepsTheSizeRule) {
  struct {
    hy_topology known;
    uint64_t later;
  } longer{};
  longer.known.struct_size = sizeof longer;
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &longer.known), HY_OK);
  EXPECT_EQ(longer.known.struct_size, sizeof longer);
  longer.later = 1;
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &longer.known), HY_UNIMPLEMENTED);

  hy_topology shorter = EmptyOut();
  shorter.struct_size = offsetof(hy_topology, budget_millicpus);
  shorter.budget_millicpus = 77;
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &shorter), HY_OK);
  EXPECT_EQ(shorter.budget_millicpus, 77u);
  EXPECT_EQ(shorter.pus.count, 2u);
}

TEST(ExportTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), nullptr), HY_INVALID_ARGUMENT);
  hy_topology out = EmptyOut();
  out.flags = uint64_t{1} << 40;
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &out), HY_INVALID_ARGUMENT);
  hy_pu pu{};
  out = EmptyOut();
  out.pus = {&pu, 0, 1, 0, 0};
  EXPECT_EQ(ExportTopology(Read(kTwoUnits), &out), HY_INVALID_ARGUMENT);
}

TEST(ImportTest, ComesBackAsExported) {
  for (const char* lines : {kTwoUnits, kEightUnits}) {
    const Topology topology = Read(lines);
    const auto copy = ImportTopology(true, [&](hy_topology* out) {
      EXPECT_EQ(out->flags, HY_TOPOLOGY_ALL);
      return ExportTopology(topology, out);
    });
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(DrawTopology(*copy), DrawTopology(topology));
    EXPECT_EQ(copy->limits, topology.limits);
    EXPECT_EQ(copy->caches.size(), topology.caches.size());
  }
}

TEST(ImportTest, GrowsForALargeMachine) {
  const Topology topology = Read(
      "sys/devices/system/cpu/online = 0-4999\n"
      "sys/devices/system/cpu/cpu{0-4999}/topology/thread_siblings_list = {}\n");
  int calls = 0;
  const auto copy = ImportTopology(false, [&](hy_topology* out) {
    ++calls;
    EXPECT_EQ(out->flags, 0u);
    return ExportTopology(topology, out);
  });
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->pus.size(), 5000u);
  EXPECT_EQ(copy->FindPu(4999)->os_id, 4999u);
  EXPECT_EQ(calls, 2);
}

TEST(ImportTest, SortsWhatAPortGivesInAnyOrder) {
  Topology shuffled = Read(kTwoUnits);
  std::swap(shuffled.pus[0], shuffled.pus[1]);
  const auto copy =
      ImportTopology(false, [&](hy_topology* out) { return ExportTopology(shuffled, out); });
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->pus[0].os_id, 3u);
  EXPECT_EQ(copy->pus[1].os_id, 9u);
}

TEST(ImportTest, ReportsAFailingPort) {
  EXPECT_EQ(ImportTopology(false, [](hy_topology*) { return HY_DATA_LOSS; }).status().code(),
            absl::StatusCode::kDataLoss);
  // Counts that grow with each call, and counts beyond all reason.
  uint32_t count = 300;
  EXPECT_EQ(ImportTopology(false,
                           [&](hy_topology* out) {
                             out->pus.count = count *= 2;
                             return HY_OUT_OF_RANGE;
                           })
                .status()
                .code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(ImportTopology(false,
                           [](hy_topology* out) {
                             out->nodes.count = UINT32_MAX;
                             return HY_OK;
                           })
                .status()
                .code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(ImportTopology(false, [](hy_topology*) { return HY_OUT_OF_RANGE; }).status().code(),
            absl::StatusCode::kInternal);
}

// ----------------------------------------------------------------------------------- drawing ---

TEST(DrawTest, ListsTheAllowedUnitsOnlyIfSoRead) {
  const std::string lines =
      absl::StrCat(kEightUnits, "proc/self/status = Cpus_allowed_list:\t2,4\n");
  EXPECT_THAT(DrawTopology(Read(lines, true)), HasSubstr("not allowed: units 0-1,3,5-7\n"));
  const std::string allowed = DrawTopology(Read(lines, false));
  EXPECT_THAT(allowed, HasSubstr("2 units"));
  EXPECT_THAT(allowed, testing::Not(HasSubstr("not allowed")));
}

TEST(DrawTest, NothingIsNothing) { EXPECT_EQ(DrawTopology(Topology()), "no units\n"); }

TEST(DrawTest, SaysWhatBoundTheBudget) {
  Topology topology = Read(kTwoUnits);
  topology.budget_millicpus = 500;
  topology.quota_millicpus = 500;
  topology.limits = HY_LIMIT_QUOTA | HY_LIMIT_CPUSET;
  EXPECT_THAT(DrawTopology(topology),
              HasSubstr("budget: 0.5 CPUs, bounded by the cpuset, the quota of 0.5 CPUs\n"));
  topology.budget_millicpus = 1000;
  topology.quota_millicpus = 7250;
  topology.limits = 0;
  EXPECT_THAT(
      DrawTopology(topology),
      HasSubstr("budget: 1 CPU, nothing bounds it; the quota of 7.25 CPUs does not matter\n"));
}

// A port may fill records in part, or wrongly: drawing still draws.
TEST(DrawTest, DrawsStrangeRecords) {
  Topology topology;
  hy_pu pu{};
  for (uint32_t id : {5u, 6u}) {
    pu.os_id = id;
    pu.node_id = id;
    pu.llc_id = 77;
    pu.perf_class = HY_ID_NONE;
    topology.pus.push_back(pu);
  }
  hy_node node{};
  node.os_id = 6;
  node.kind = 99;
  node.flags = HY_NODE_HAS_MEMORY;
  topology.nodes.push_back(node);
  topology.source = 12345;
  hy_cache cache{};
  cache.first_pu = 77;
  topology.caches.push_back(cache);
  EXPECT_THAT(DrawTopology(topology), HasSubstr("unit 5"));
}

}  // namespace
}  // namespace halyard::hal
