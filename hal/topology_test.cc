// SPDX-License-Identifier: Apache-2.0
#include "hal/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hal/bind.h"
#include "hal/test_image.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

using testing::Each;
using testing::ElementsAre;

template <typename Field>
std::vector<uint32_t> Column(const Topology& topology, Field field) {
  std::vector<uint32_t> values;
  for (const hy_pu& pu : topology.pus) values.push_back(static_cast<uint32_t>(pu.*field));
  return values;
}

Topology Read(const std::string& lines, absl::string_view arch = "x86_64", bool all = true) {
  return ReadTopology(*TestImage(lines, arch), all);
}

// ------------------------------------------------------------------------------ which units ---

TEST(UnitsTest, AnEmptyMachineHasOneUnit) {
  const Topology topology = Read("");
  ASSERT_EQ(topology.pus.size(), 1u);
  EXPECT_EQ(topology.pus[0].os_id, 0u);
  EXPECT_EQ(topology.pus[0].flags, HY_PU_ALLOWED | HY_PU_ONLINE);
  EXPECT_EQ(topology.pus[0].core_id, HY_ID_NONE);
  EXPECT_EQ(topology.pus[0].capacity, 1024u);
  EXPECT_EQ(topology.source, uint32_t{HY_SOURCE_UNKNOWN});
  EXPECT_EQ(topology.budget_millicpus, 1000u);
  EXPECT_TRUE(topology.nodes.empty());
}

TEST(UnitsTest, WithoutSysfsTheMaskAndCpuinfoCount) {
  const std::string status = "proc/self/status = Cpus_allowed_list:\t1,4\n";
  const Topology by_mask = Read(status);
  EXPECT_THAT(Column(by_mask, &hy_pu::os_id), ElementsAre(1, 4));
  EXPECT_EQ(by_mask.source, uint32_t{HY_SOURCE_PROCFS});
  const std::string cpuinfo =
      "proc/cpuinfo <<END\nprocessor : 0\n\nprocessor : 1\n\nprocessor : 2\nEND\n";
  const Topology by_both = Read(status + cpuinfo);
  EXPECT_THAT(Column(by_both, &hy_pu::os_id), ElementsAre(0, 1, 2));
  EXPECT_EQ(by_both.budget_millicpus, 1000u);
  EXPECT_EQ(by_both.limits, HY_LIMIT_AFFINITY);
}

TEST(UnitsTest, FoldersCountWhereTheOnlineListIsHidden) {
  const Topology topology = Read(
      "sys/devices/system/cpu/cpu{0,3}/topology/core_id = 0\n"
      "sys/devices/system/cpu/cpu03/topology/core_id = 0\n"
      "sys/devices/system/cpu/cpufreq/boost = 1\n");
  EXPECT_THAT(Column(topology, &hy_pu::os_id), ElementsAre(0, 3));
  EXPECT_EQ(topology.source, uint32_t{HY_SOURCE_FIXTURE});
}

TEST(UnitsTest, SaysWhatBoundTheBudget) {
  const std::string base =
      "sys/devices/system/cpu/online = 0-7\n"
      "proc/self/cgroup = 0::/\n"
      "proc/self/mountinfo = 30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n";
  auto limits = [&](const std::string& lines) { return Read(base + lines).limits; };
  EXPECT_EQ(limits(""), 0u);
  EXPECT_EQ(limits("sys/devices/system/cpu/present = 0-7\n"), 0u);
  EXPECT_EQ(limits("sys/devices/system/cpu/present = 0-8\n"), HY_LIMIT_ONLINE);
  EXPECT_EQ(limits("proc/self/status = Cpus_allowed_list:\t0-3\n"), HY_LIMIT_AFFINITY);
  EXPECT_EQ(limits("proc/self/status = Cpus_allowed_list:\t0-1023\n"), 0u);
  const std::string cpuset = "cg/cpuset.cpus.effective = 0-3\n";
  EXPECT_EQ(limits(cpuset + "proc/self/status = Cpus_allowed_list:\t0-3\n"), HY_LIMIT_CPUSET);
  EXPECT_EQ(limits(cpuset + "proc/self/status = Cpus_allowed_list:\t0\n"),
            HY_LIMIT_CPUSET | HY_LIMIT_AFFINITY);
  // Without a mask, the cpuset alone decides.
  EXPECT_EQ(Read(base + cpuset).budget_millicpus, 4000u);
}

TEST(UnitsTest, AMaskWithoutAnyOnlineUnitDoesNotEmptyTheMachine) {
  const Topology topology =
      Read("sys/devices/system/cpu/online = 0-1\nproc/self/status = Cpus_allowed_list:\t8-9\n",
           "x86_64", false);
  EXPECT_THAT(Column(topology, &hy_pu::os_id), ElementsAre(0, 1));
}

TEST(UnitsTest, CoresAreNumberedThroughPackagesAndThreadsWithinCores) {
  const Topology topology = Read(
      "sys/devices/system/cpu/online = 0-3,512-515\n"
      "sys/devices/system/cpu/cpu{0-3}/topology/physical_package_id = 7\n"
      "sys/devices/system/cpu/cpu{512-515}/topology/physical_package_id = 9\n"
      "sys/devices/system/cpu/cpu{0-3,512-515}/topology/core_id = {%2}\n"
      "sys/devices/system/cpu/cpu{0,2}/topology/thread_siblings_list = 0,2\n"
      "sys/devices/system/cpu/cpu{1,3}/topology/thread_siblings_list = 1,3\n"
      "sys/devices/system/cpu/cpu{512,514}/topology/thread_siblings_list = 512,514\n"
      "sys/devices/system/cpu/cpu{513,515}/topology/thread_siblings_list = 513,515\n");
  EXPECT_THAT(Column(topology, &hy_pu::core_id), ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_THAT(Column(topology, &hy_pu::smt_index), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(Column(topology, &hy_pu::package_id), ElementsAre(7, 7, 7, 7, 9, 9, 9, 9));
}

TEST(UnitsTest, CoreIdCountsWhereSiblingsAreNotListed) {
  const Topology topology = Read(
      "sys/devices/system/cpu/online = 0-3\n"
      "sys/devices/system/cpu/cpu{0-3}/topology/physical_package_id = {/2}\n"
      "sys/devices/system/cpu/cpu{0-3}/topology/core_id = 5\n");
  EXPECT_THAT(Column(topology, &hy_pu::core_id), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(Column(topology, &hy_pu::smt_index), ElementsAre(0, 1, 0, 1));
}

TEST(UnitsTest, UnknownIdsStayUnknown) {
  const Topology topology = Read(
      "sys/devices/system/cpu/online = 0-1\n"
      "sys/devices/system/cpu/cpu{0-1}/topology/physical_package_id = -1\n"
      "sys/devices/system/cpu/cpu0/topology/cluster_id = -1\n"
      "sys/devices/system/cpu/cpu1/topology/cluster_id = 65535\n");
  EXPECT_THAT(Column(topology, &hy_pu::package_id), Each(HY_ID_NONE));
  EXPECT_THAT(Column(topology, &hy_pu::cluster_id), Each(HY_ID_NONE));
  EXPECT_THAT(Column(topology, &hy_pu::core_id), Each(HY_ID_NONE));
  EXPECT_THAT(Column(topology, &hy_pu::llc_id), Each(HY_ID_NONE));
  EXPECT_THAT(Column(topology, &hy_pu::matrix_unit_id), Each(HY_ID_NONE));
}

TEST(UnitsTest, AnIsolatedUnitMayBeAllowed) {
  const Topology topology = Read(
      "sys/devices/system/cpu/online = 0-3\nsys/devices/system/cpu/isolated = 2-3\n"
      "proc/self/status = Cpus_allowed_list:\t0,2\n");
  const uint64_t on = HY_PU_ONLINE;
  EXPECT_EQ(topology.pus[0].flags, on | HY_PU_ALLOWED);
  EXPECT_EQ(topology.pus[1].flags, on);
  EXPECT_EQ(topology.pus[2].flags, on | HY_PU_ALLOWED | HY_PU_ISOLATED);
  EXPECT_EQ(topology.pus[3].flags, on | HY_PU_ISOLATED);
}

// ----------------------------------------------------------------------------------- caches ---

constexpr char kTwoCaches[] =
    "sys/devices/system/cpu/online = 0-7\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/level = 1\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/type = Data\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/size = 32K\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/coherency_line_size = 64\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index0/shared_cpu_list = {}\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index3/level = 3\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index3/type = Unified\n"
    "sys/devices/system/cpu/cpu{0-7}/cache/index3/size = 8M\n"
    "sys/devices/system/cpu/cpu{0-3}/cache/index3/shared_cpu_list = 0-3\n"
    "sys/devices/system/cpu/cpu{4-7}/cache/index3/shared_cpu_list = 4-7\n";

TEST(CachesTest, TheLastDataCacheNamesTheDomain) {
  const Topology topology = Read(kTwoCaches);
  EXPECT_THAT(Column(topology, &hy_pu::llc_id), ElementsAre(0, 0, 0, 0, 4, 4, 4, 4));
  ASSERT_EQ(topology.caches.size(), 10u);
  const hy_cache& last = topology.caches.back();
  EXPECT_EQ(last.level, 3u);
  EXPECT_EQ(last.kind, uint32_t{HY_CACHE_UNIFIED});
  EXPECT_EQ(last.first_pu, 4u);
  EXPECT_EQ(last.pu_count, 4u);
  EXPECT_EQ(last.bytes, uint64_t{8} << 20);
  EXPECT_EQ(last.line_bytes, 0u);
  EXPECT_EQ(topology.caches[0].line_bytes, 64u);
}

TEST(CachesTest, NameListedUnitsOnly) {
  const Topology topology = Read(
      absl::StrCat(kTwoCaches, "proc/self/status = Cpus_allowed_list:\t2-3\n"), "x86_64", false);
  EXPECT_THAT(Column(topology, &hy_pu::llc_id), ElementsAre(2, 2));
  ASSERT_EQ(topology.caches.size(), 3u);
  EXPECT_EQ(topology.caches[2].first_pu, 2u);
  EXPECT_EQ(topology.caches[2].pu_count, 2u);
}

TEST(CachesTest, AnInstructionCacheIsNoLastCache) {
  const Topology topology = Read(
      "sys/devices/system/cpu/online = 0\n"
      "sys/devices/system/cpu/cpu0/cache/index0/level = 2\n"
      "sys/devices/system/cpu/cpu0/cache/index0/type = Instruction\n"
      "sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list = 0\n");
  EXPECT_EQ(topology.pus[0].llc_id, HY_ID_NONE);
  EXPECT_EQ(topology.caches.size(), 1u);
}

// ---------------------------------------------------------------------------------- classes ---

std::string Clocks(const std::vector<uint64_t>& khz) {
  std::string lines = absl::StrCat("sys/devices/system/cpu/online = 0-", khz.size() - 1, "\n");
  for (size_t i = 0; i < khz.size(); ++i) {
    absl::StrAppend(&lines, "sys/devices/system/cpu/cpu", i, "/cpufreq/cpuinfo_max_freq = ", khz[i],
                    "\n");
  }
  return lines;
}

TEST(ClassesTest, FavouredCoresAreNoClass) {
  const Topology topology = Read(Clocks({5000000, 5300000, 5700000, 5100000}));
  EXPECT_THAT(Column(topology, &hy_pu::perf_class), Each(0));
  EXPECT_THAT(Column(topology, &hy_pu::capacity), Each(1024));
  EXPECT_EQ(topology.pus[1].max_khz, 5300000u);
}

TEST(ClassesTest, ClocksFarApartAre) {
  const Topology topology = Read(Clocks({2000000, 4000000, 2000000, 3000000}));
  EXPECT_THAT(Column(topology, &hy_pu::perf_class), ElementsAre(2, 0, 2, 1));
  EXPECT_THAT(Column(topology, &hy_pu::capacity), ElementsAre(512, 1024, 512, 768));
}

TEST(ClassesTest, AnUnknownClockMakesNoClass) {
  std::string lines = Clocks({2000000, 4000000});
  lines += "sys/devices/system/cpu/online = 0-2\n";
  EXPECT_THAT(Column(Read(lines), &hy_pu::perf_class), Each(0));
}

TEST(ClassesTest, CapacityComesBeforeClocks) {
  std::string lines = Clocks({4000000, 4000000, 2000000});
  absl::StrAppend(&lines, "sys/devices/system/cpu/cpu0/cpu_capacity = 400\n",
                  "sys/devices/system/cpu/cpu{1-2}/cpu_capacity = 800\n");
  const Topology topology = Read(lines, "aarch64");
  EXPECT_THAT(Column(topology, &hy_pu::perf_class), ElementsAre(1, 0, 0));
  EXPECT_THAT(Column(topology, &hy_pu::capacity), ElementsAre(512, 1024, 1024));
}

TEST(ClassesTest, CapacitiesOfOneCoreTypeMayMeanClocks) {
  const std::string lines =
      "sys/devices/system/cpu/online = 0-3\n"
      "sys/devices/system/cpu/cpu{0-1}/cpu_capacity = 1024\n"
      "sys/devices/system/cpu/cpu{2-3}/cpu_capacity = 945\n";
  EXPECT_THAT(Column(Read(lines, "aarch64"), &hy_pu::perf_class), ElementsAre(0, 0, 1, 1));
  // x86 scales capacities by the boost clock of each core, so there they are binning.
  EXPECT_THAT(Column(Read(lines, "x86_64"), &hy_pu::perf_class), Each(0));
}

TEST(ClassesTest, CoreTypesAreClassesAtEqualClocks) {
  const std::string clocks = Clocks({3000000, 3000000, 3000000, 3000000});
  const Topology hybrid =
      Read(clocks + "sys/devices/cpu_atom/cpus = 0-1\nsys/devices/cpu_core/cpus = 2-3\n", "x86_64");
  EXPECT_THAT(Column(hybrid, &hy_pu::perf_class), ElementsAre(1, 1, 0, 0));
  const std::string midr = "/regs/identification/midr_el1 = 0x00000000";
  const Topology arm =
      Read(absl::StrCat(clocks, "sys/devices/system/cpu/cpu{0-1}", midr, "411fd461\n",
                        "sys/devices/system/cpu/cpu{2-3}", midr, "413fd0c1\n"),
           "aarch64");
  EXPECT_THAT(Column(arm, &hy_pu::perf_class), ElementsAre(0, 0, 1, 1));
  // Two steppings of one part are one type.
  const Topology steppings =
      Read(absl::StrCat(clocks, "sys/devices/system/cpu/cpu{0-1}", midr, "410fd0c0\n",
                        "sys/devices/system/cpu/cpu{2-3}", midr, "413fd0c1\n"),
           "aarch64");
  EXPECT_THAT(Column(steppings, &hy_pu::perf_class), Each(0));
}

TEST(ClassesTest, UnitsThatExecuteOtherThingsAreAnotherClass) {
  const Topology topology =
      Read("@isa sse2\n@isa[2-3] sse2,avx2\nsys/devices/system/cpu/online = 0-3\n");
  EXPECT_NE(topology.pus[0].perf_class, topology.pus[2].perf_class);
  EXPECT_TRUE(hy_isa_has(topology.pus[2].isa, HY_ISA_X86_AVX2));
  EXPECT_FALSE(hy_isa_has(topology.pus[0].isa, HY_ISA_X86_AVX2));
}

TEST(ClassesTest, AreThoseOfTheMachineEvenIfFewUnitsAreAllowed) {
  const Topology topology = Read(
      Clocks({2000000, 4000000}) + "proc/self/status = Cpus_allowed_list:\t0\n", "x86_64", false);
  EXPECT_THAT(Column(topology, &hy_pu::perf_class), ElementsAre(1));
  EXPECT_THAT(Column(topology, &hy_pu::capacity), ElementsAre(512));
}

// ------------------------------------------------------------------------------------ nodes ---

constexpr char kSparseNodes[] =
    "sys/devices/system/cpu/online = 0-1\n"
    "sys/devices/system/node/online = 0,8,255\n"
    "sys/devices/system/node/node0/cpulist = 0\n"
    "sys/devices/system/node/node8/cpulist = 1\n"
    "sys/devices/system/node/node255/cpulist =\n"
    "sys/devices/system/node/node0/distance = 10 40 80\n"
    "sys/devices/system/node/node8/distance = 40 10 70\n"
    "sys/devices/system/node/node255/distance = 80 70 10\n"
    "sys/devices/system/node/node{0,255}/meminfo <<END\n"
    "Node {} MemTotal:  2048 kB\nNode {} MemFree:  1024 kB\n"
    "END\n"
    "sys/devices/system/node/node255/hugepages/hugepages-2048kB/nr_hugepages = 7\n"
    "sys/devices/system/node/node255/hugepages/hugepages-2048kB/free_hugepages = 5\n"
    "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages = 1\n"
    "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages = 7\n"
    "proc/self/status <<END\nMems_allowed_list:\t0,255\nEND\n";

TEST(NodesTest, AreLabelsNotIndexes) {
  const Topology topology = Read(kSparseNodes, "ppc64le");
  ASSERT_EQ(topology.nodes.size(), 3u);
  EXPECT_THAT(Column(topology, &hy_pu::node_id), ElementsAre(0, 8));
  const hy_node* gpu = topology.FindNode(255);
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->flags, HY_NODE_HAS_MEMORY | HY_NODE_ALLOWED);
  EXPECT_EQ(gpu->bytes_total, 2048u << 10);
  EXPECT_EQ(gpu->bytes_free, 1024u << 10);
  EXPECT_EQ(gpu->kind, 0u);
  EXPECT_EQ(topology.FindNode(8)->flags, HY_NODE_HAS_CPUS);
  EXPECT_EQ(topology.FindNode(1), nullptr);
  ASSERT_EQ(topology.distances.size(), 9u);
  EXPECT_EQ(topology.distances[5].from_node, 8u);
  EXPECT_EQ(topology.distances[5].to_node, 255u);
  EXPECT_EQ(topology.distances[5].value, 70u);
}

TEST(NodesTest, PagePoolsAreOfTheMachineAndOfNodes) {
  const Topology topology = Read(kSparseNodes, "ppc64le");
  ASSERT_EQ(topology.page_pools.size(), 3u);
  EXPECT_EQ(topology.page_pools[0].page_bytes, uint64_t{2} << 20);
  EXPECT_EQ(topology.page_pools[0].node_id, HY_ID_NONE);
  EXPECT_EQ(topology.page_pools[1].page_bytes, uint64_t{1} << 30);
  EXPECT_EQ(topology.page_pools[2].node_id, 255u);
  EXPECT_EQ(topology.page_pools[2].total, 7u);
  EXPECT_EQ(topology.page_pools[2].free, 5u);
}

TEST(NodesTest, ARowOfTheWrongLengthIsNotRead) {
  const Topology topology =
      Read(absl::StrCat(kSparseNodes, "sys/devices/system/node/node8/distance = 10 20\n"));
  EXPECT_EQ(topology.distances.size(), 6u);
}

TEST(NodesTest, AFasterTierIsHbm) {
  const Topology topology =
      Read(absl::StrCat(kSparseNodes,
                        "sys/devices/virtual/memory_tiering/memory_tier2/nodelist = 255\n"
                        "sys/devices/virtual/memory_tiering/memory_tier4/nodelist = 0,8\n"));
  EXPECT_EQ(topology.FindNode(255)->kind, uint32_t{HY_NODE_HBM});
  EXPECT_EQ(topology.FindNode(0)->kind, uint32_t{HY_NODE_DRAM});
  EXPECT_EQ(topology.FindNode(8)->kind, 0u) << "it has no memory";
}

TEST(NodesTest, ASlowerTierStaysUnknown) {
  const Topology topology = Read(absl::StrCat(
      kSparseNodes, "sys/devices/virtual/memory_tiering/memory_tier5/nodelist = 255\n"));
  EXPECT_EQ(topology.FindNode(255)->kind, 0u);
}

TEST(NodesTest, AccessClassesTellSpeedAndHbm) {
  const std::string access = "/access0/initiators/read_bandwidth = ";
  const std::string lines =
      absl::StrCat(kSparseNodes, "sys/devices/system/node/node0", access, "200000\n",
                   "sys/devices/system/node/node0/access0/initiators/read_latency = 90\n");
  const Topology faster =
      Read(absl::StrCat(lines, "sys/devices/system/node/node255", access, "400000\n"));
  EXPECT_EQ(faster.FindNode(0)->read_mb_per_s, 200000u);
  EXPECT_EQ(faster.FindNode(0)->read_latency_ns, 90u);
  EXPECT_EQ(faster.FindNode(255)->kind, uint32_t{HY_NODE_HBM});
  const Topology alike =
      Read(absl::StrCat(lines, "sys/devices/system/node/node255", access, "210000\n"));
  EXPECT_EQ(alike.FindNode(255)->kind, 0u);
}

TEST(NodesTest, AKernelWithoutNumaIsOneNode) {
  const Topology topology =
      Read("sys/devices/system/cpu/online = 0-1\nproc/meminfo <<END\nMemTotal:  4096 kB\nEND\n");
  ASSERT_EQ(topology.nodes.size(), 1u);
  EXPECT_EQ(topology.nodes[0].flags, HY_NODE_HAS_CPUS | HY_NODE_HAS_MEMORY | HY_NODE_ALLOWED);
  EXPECT_THAT(Column(topology, &hy_pu::node_id), Each(0));
}

// ------------------------------------------------------------------------- the live machine ---

TEST(LiveTopologyTest, AllowsWhatTheSchedulerAllowsThisThread) {
  const auto mask = ThisThreadMask();
  ASSERT_TRUE(mask.ok()) << mask.status();
  const Topology topology = ReadTopology(*RealSystem(), false);
  EXPECT_EQ(Column(topology, &hy_pu::os_id), *mask);
  EXPECT_GE(topology.budget_millicpus, 1u);
  EXPECT_LE(topology.budget_millicpus, 1000u * mask->size());
  EXPECT_LE(topology.pus.size(), ReadTopology(*RealSystem(), true).pus.size());
}

TEST(LiveTopologyTest, IsThatOfTheThreadNotOfTheProcess) {
  const auto mask = ThisThreadMask();
  ASSERT_TRUE(mask.ok()) << mask.status();
  const uint32_t last = mask->back();
  if (last >= CPU_SETSIZE) GTEST_SKIP() << "this test's own mask is too small";
  Topology bound;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return;
    bound = ReadTopology(*RealSystem(), false);
  }).join();
  if (bound.pus.empty()) GTEST_SKIP() << "threads cannot be bound here";
  EXPECT_THAT(Column(bound, &hy_pu::os_id), ElementsAre(last));
  EXPECT_EQ(Column(ReadTopology(*RealSystem(), false), &hy_pu::os_id), *mask);
}

}  // namespace
}  // namespace halyard::hal
