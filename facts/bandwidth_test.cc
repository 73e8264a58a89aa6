// SPDX-License-Identifier: Apache-2.0
#include "facts/bandwidth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"
#include "facts/stream/select.h"
#include "hal/fake_port.h"
#include "hal/host_services.h"
#include "hal/test_image.h"

namespace halyard::facts {
namespace {

using ::testing::ElementsAre;

/// The kernels of this build that this processor executes: the best, and with each level taken
/// away the next.
std::vector<StreamKernel> Kernels() {
  std::vector<StreamKernel> kernels;
  std::set<std::string> names;
  IsaMask isa = LiveIsa();
  for (const uint32_t taken :
       {uint32_t{HY_ISA_VENDOR_LAST}, uint32_t{HY_ISA_X86_AVX512F}, uint32_t{HY_ISA_X86_AVX2}}) {
    isa[taken / 64] &= ~(uint64_t{1} << (taken % 64));
    const StreamKernel kernel = SelectStreamKernel(isa);
    if (names.insert(kernel.name).second) kernels.push_back(kernel);
  }
  return kernels;
}

TEST(StreamKernels, EachReadsEveryWordOnce) {
  std::mt19937_64 random(20240607);
  struct alignas(64) Line {
    uint64_t words[8];
  };
  const std::vector<StreamKernel> kernels = Kernels();
  EXPECT_STREQ(kernels.back().name, "generic");
  for (const size_t bytes : {0u, 512u, 1024u, 4096u, 65536u + 512u}) {
    std::vector<Line> lines(bytes / sizeof(Line) + 1);
    uint64_t sum = 0;
    for (Line& line : lines) {
      for (uint64_t& word : line.words) word = random();
    }
    for (size_t i = 0; i < bytes / 8; ++i) sum += lines[i / 8].words[i % 8];
    for (const StreamKernel& kernel : kernels) {
      EXPECT_EQ(kernel.read(lines.data(), bytes), sum) << kernel.name << ", " << bytes << " bytes";
    }
  }
}

TEST(StreamKernels, NoneIsChosenThatTheIsaLacks) {
  EXPECT_STREQ(SelectStreamKernel({}).name, "generic");
  IsaMask only_avx512f{};
  hy_isa_set(only_avx512f.data(), HY_ISA_X86_AVX512F);
  EXPECT_STREQ(SelectStreamKernel(only_avx512f).name, "generic");
}

hal::Topology SmallTopology(uint32_t cpus, uint32_t nodes) {
  hal::Topology topology;
  topology.budget_millicpus = 1000 * uint64_t{cpus};
  for (uint32_t id = 0; id < cpus; ++id) {
    hy_pu pu{};
    pu.os_id = id;
    pu.core_id = id;
    pu.node_id = id * nodes / cpus;
    topology.pus.push_back(pu);
  }
  for (uint32_t id = 0; id < nodes; ++id) {
    hy_node node{};
    node.os_id = id;
    node.flags = HY_NODE_HAS_CPUS | HY_NODE_HAS_MEMORY | HY_NODE_ALLOWED;
    topology.nodes.push_back(node);
  }
  return topology;
}

std::vector<uint32_t> Counts(const std::vector<BandwidthPlan>& plans) {
  std::vector<uint32_t> counts;
  for (const BandwidthPlan& plan : plans) counts.push_back(plan.team.count);
  return counts;
}

TEST(BandwidthPlan, OneToAllWorkers) {
  EXPECT_THAT(Counts(PlanBandwidth(SmallTopology(1, 1), {})), ElementsAre(1));
  EXPECT_THAT(Counts(PlanBandwidth(SmallTopology(3, 1), {})), ElementsAre(1, 2, 3));
  EXPECT_THAT(Counts(PlanBandwidth(SmallTopology(20, 1), {})), ElementsAre(1, 2, 3, 4, 8, 16, 20));
  BandwidthRequest request;
  request.max_threads = 2;
  EXPECT_THAT(Counts(PlanBandwidth(SmallTopology(20, 1), request)), ElementsAre(1, 2));
  hal::Topology quota = SmallTopology(4, 1);
  quota.budget_millicpus = 500;
  EXPECT_THAT(Counts(PlanBandwidth(quota, {})), ElementsAre(1));
  hal::Topology smt = SmallTopology(4, 1);
  for (hy_pu& pu : smt.pus) pu.core_id /= 2;
  EXPECT_THAT(Counts(PlanBandwidth(smt, {})), ElementsAre(1, 2)) << "one worker a core";
}

TEST(BandwidthPlan, EachNodeOnlyIfThereAreSeveral) {
  const std::vector<BandwidthPlan> plans = PlanBandwidth(SmallTopology(4, 2), {});
  EXPECT_THAT(Counts(plans), ElementsAre(1, 2, 3, 4, 2, 2));
  EXPECT_EQ(plans[4].node_id, 0u);
  EXPECT_THAT(plans[4].team.pus, ElementsAre(0, 1));
  EXPECT_EQ(plans[5].node_id, 1u);
  EXPECT_THAT(plans[5].team.pus, ElementsAre(2, 3));
  BandwidthRequest request;
  request.per_node = false;
  EXPECT_EQ(PlanBandwidth(SmallTopology(4, 2), request).size(), 4u);
}

TEST(BandwidthPlan, NodesWithoutMemoryAndMemoryWithoutCpus) {
  hal::Topology topology = SmallTopology(2, 2);
  topology.nodes[1].flags = HY_NODE_HAS_CPUS | HY_NODE_ALLOWED;
  hy_node fast{};
  fast.os_id = 8;
  fast.flags = HY_NODE_HAS_MEMORY | HY_NODE_ALLOWED;
  topology.nodes.push_back(fast);
  hy_node forbidden = fast;
  forbidden.os_id = 9;
  forbidden.flags = HY_NODE_HAS_MEMORY;
  topology.nodes.push_back(forbidden);
  const std::vector<BandwidthPlan> plans = PlanBandwidth(topology, {});
  ASSERT_EQ(plans.size(), 4u);  // 1, 2; node 0; node 8
  EXPECT_EQ(plans[2].node_id, 0u);
  EXPECT_EQ(plans[3].node_id, 8u);
  EXPECT_TRUE(plans[3].team.pus.empty());
  EXPECT_EQ(plans[3].team.count, 2u);
}

TEST(BandwidthPlan, BytesExceedTheCachesAndFitTheMemory) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  hal::Topology topology = SmallTopology(8, 1);
  EXPECT_EQ(ChooseBytes(topology, 1, 0), 64 * kMiB);
  for (const uint32_t first : {0u, 4u}) {
    hy_cache cache{};
    cache.level = 3;
    cache.kind = HY_CACHE_UNIFIED;
    cache.first_pu = first;
    cache.pu_count = 4;
    cache.bytes = 96 * kMiB;
    topology.caches.push_back(cache);
  }
  const uint64_t most = sizeof(void*) > 4 ? 1024 * kMiB : 128 * kMiB;
  EXPECT_EQ(ChooseBytes(topology, 1, 0), std::min(most, 4 * 96 * kMiB)) << "one has one cache";
  EXPECT_EQ(ChooseBytes(topology, 2, 0), std::min(most, 4 * 96 * kMiB));
  EXPECT_EQ(ChooseBytes(topology, 8, 0), 4 * 24 * kMiB) << "eight share both";
  EXPECT_EQ(ChooseBytes(topology, 8, 320 * kMiB), 10 * kMiB);
  EXPECT_EQ(ChooseBytes(topology, 8, 1), kMiB) << "too little memory: the figure is of caches";
  topology.caches[0].bytes = uint64_t{4} << 30;
  EXPECT_EQ(ChooseBytes(topology, 1, 0), most);
}

/// Measures the host's memory through a port of the tests, on a machine that is written here.
class Measured : public ::testing::Test {
 protected:
  static std::shared_ptr<const hal::SystemView> Image(absl::string_view nodes) {
    return hal::TestImage(
        absl::StrCat("sys/devices/system/cpu/online = 0-1\n"
                     "sys/devices/system/cpu/cpu{0-1}/topology/core_id = {}\n"
                     "sys/devices/system/cpu/cpu{0-1}/topology/"
                     "thread_siblings_list = {}\n",
                     nodes));
  }
  void TearDown() override { hal::SetHostSystem(hal::RealSystem()); }

  static void ExpectSane(const std::vector<BandwidthRow>& rows) {
    for (const BandwidthRow& row : rows) {
      EXPECT_TRUE(row.work == "read" || row.work == "copy") << row.work;
      EXPECT_GT(row.median_gb_per_s, 0);
      EXPECT_LE(row.min_gb_per_s, row.median_gb_per_s);
      EXPECT_LE(row.median_gb_per_s, row.max_gb_per_s);
      EXPECT_LT(row.max_gb_per_s, 1e5) << "no memory is so fast";
      EXPECT_LE(row.workers_bound, row.threads);
      EXPECT_EQ(row.kernel == "memcpy", row.work == "copy");
    }
  }
};

TEST_F(Measured, TinySizesGiveSaneRows) {
  hal::SetHostSystem(Image(""));
  const hal::Device device = hal::OpenFake(std::make_shared<hal::FakePort>(hal::FakePort::Shape{}));
  BandwidthRequest request;
  request.bytes_per_thread = 1;
  request.runs = 3;
  std::vector<BandwidthRow> told;
  const auto rows =
      MeasureBandwidth(device, request, [&told](const BandwidthRow& row) { told.push_back(row); });
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 4u);  // read and copy, with 1 and 2 threads; no node rows
  EXPECT_EQ(told.size(), rows->size());
  for (const BandwidthRow& row : *rows) {
    EXPECT_EQ(row.bytes_per_thread, 512u);
    EXPECT_EQ(row.runs, 3u);
    EXPECT_EQ(row.node_id, HY_ID_NONE);
  }
  EXPECT_EQ(rows->back().threads, 2u);
  ExpectSane(*rows);
}

TEST_F(Measured, NodesGetRowsOnMachinesWithSeveral) {
  hal::SetHostSystem(
      Image("sys/devices/system/node/online = 0-1\n"
            "sys/devices/system/node/node{0-1}/cpulist = {}\n"
            "sys/devices/system/node/node{0-1}/meminfo <<END\n"
            "Node {} MemTotal: 1048576 kB\nNode {} MemFree: 1048576 kB\nEND\n"));
  const hal::Device device = hal::OpenFake(std::make_shared<hal::FakePort>(hal::FakePort::Shape{}));
  BandwidthRequest request;
  request.bytes_per_thread = 4096;
  request.runs = 1;
  const auto rows = MeasureBandwidth(device, request);
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::vector<uint32_t> nodes;
  for (const BandwidthRow& row : *rows) {
    if (row.work == "read") nodes.push_back(row.node_id);
  }
  EXPECT_THAT(nodes, ElementsAre(HY_ID_NONE, HY_ID_NONE, 0, 1));
  ExpectSane(*rows);
}

TEST_F(Measured, AFailureOfTheDeviceIsPassedOn) {
  hal::SetHostSystem(Image(""));
  const auto port = std::make_shared<hal::FakePort>(hal::FakePort::Shape{});
  const hal::Device device = hal::OpenFake(port);
  BandwidthRequest request;
  request.bytes_per_thread = 4096;
  port->Inject("alloc", HY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(MeasureBandwidth(device, request).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(MeasureBandwidth(device, request).ok());
}

}  // namespace
}  // namespace halyard::facts
