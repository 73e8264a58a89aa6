// SPDX-License-Identifier: Apache-2.0
//
// HAL-TOP: the machine as the port describes it, against itself and against the system.
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "absl/strings/str_cat.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

std::set<uint32_t> Ids(const std::vector<hy_pu>& pus, uint64_t flags) {
  std::set<uint32_t> ids;
  for (const hy_pu& pu : pus) {
    if ((pu.flags & flags) == flags) ids.insert(pu.os_id);
  }
  return ids;
}

#define HY_NEED_OWN_MACHINE(topology)         \
  if ((topology).source == HY_SOURCE_FIXTURE) \
  GTEST_SKIP() << "the topology is that of another machine"

// Whether all of these bits are in a mask.
struct IsaCheck {
  uint32_t bit;
  bool is_live;
  const char* name;
};

// What the compiler's own run time or the kernel says, apart from the code in base/.
std::vector<IsaCheck> LiveIsaChecks() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return {{HY_ISA_X86_SSE4_2, __builtin_cpu_supports("sse4.2") != 0, "sse4.2"},
          {HY_ISA_X86_AVX, __builtin_cpu_supports("avx") != 0, "avx"},
          {HY_ISA_X86_AVX2, __builtin_cpu_supports("avx2") != 0, "avx2"},
          {HY_ISA_X86_FMA, __builtin_cpu_supports("fma") != 0, "fma"},
          {HY_ISA_X86_AVX512F, __builtin_cpu_supports("avx512f") != 0, "avx512f"},
          {HY_ISA_X86_AVX512_VNNI, __builtin_cpu_supports("avx512vnni") != 0, "avx512vnni"}};
#elif defined(__aarch64__)
  // Source   Linux, arch/arm64/include/uapi/asm/hwcap.h
  const unsigned long hwcap = getauxval(AT_HWCAP);
  return {{HY_ISA_ARM64_ASIMD, ((hwcap >> 1) & 1) != 0, "asimd"},
          {HY_ISA_ARM64_ATOMICS, ((hwcap >> 8) & 1) != 0, "atomics"},
          {HY_ISA_ARM64_ASIMDHP, ((hwcap >> 10) & 1) != 0, "asimdhp"},
          {HY_ISA_ARM64_ASIMDDP, ((hwcap >> 20) & 1) != 0, "asimddp"},
          {HY_ISA_ARM64_SVE, ((hwcap >> 22) & 1) != 0, "sve"}};
#else
  return {};
#endif
}

// Quota of one cgroup file pair, in millicpus; 0 if there is none.
uint64_t QuotaOf(const std::string& quota, const std::string& period) {
  const double quota_us = std::strtod(quota.c_str(), nullptr);
  const double period_us = std::strtod(period.c_str(), nullptr);
  if (quota_us <= 0 || period_us <= 0) return 0;
  return static_cast<uint64_t>(quota_us * 1000 / period_us);
}

// The least quota on the way from this process' cgroup up to the root, by the files themselves.
uint64_t SystemQuotaMillicpus() {
  const std::string groups = os::ReadFile("/proc/self/cgroup").value_or("");
  uint64_t least = 0;
  const auto take = [&](uint64_t millicpus) {
    if (millicpus != 0 && (least == 0 || millicpus < least)) least = millicpus;
  };
  size_t begin = 0;
  while (begin < groups.size()) {
    const size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    for (;;) {
      if (controllers.empty()) {
        const std::string text =
            os::ReadFile("/sys/fs/cgroup" + path + "/cpu.max").value_or("max 1");
        take(QuotaOf(text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)));
      } else if (controllers.find("cpu") != std::string::npos) {
        const std::string folder = "/sys/fs/cgroup/cpu" + path;
        take(QuotaOf(os::ReadFile(folder + "/cpu.cfs_quota_us").value_or("-1"),
                     os::ReadFile(folder + "/cpu.cfs_period_us").value_or("0")));
      }
      if (path.empty() || path == "/") break;
      path.resize(path.rfind('/'));
    }
  }
  return least;
}

}  // namespace

HY_DUTY("HAL-TOP-01", TheRecordsAgreeWithEachOther) {
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology all, context.device().ReadTopology(true));
  ASSERT_FALSE(all.pus.empty());
  std::set<uint32_t> units, nodes;
  std::set<std::pair<uint32_t, uint32_t>> threads_of_cores;
  for (const hy_node& node : all.nodes) {
    EXPECT_TRUE(nodes.insert(node.os_id).second) << "node " << node.os_id << " is there twice";
    EXPECT_LE(node.bytes_free, node.bytes_total) << "node " << node.os_id;
  }
  for (const hy_pu& pu : all.pus) {
    EXPECT_TRUE(units.insert(pu.os_id).second) << "unit " << pu.os_id << " is there twice";
    EXPECT_NE(pu.os_id, HY_ID_NONE);
    if (pu.node_id != HY_ID_NONE) {
      EXPECT_EQ(nodes.count(pu.node_id), 1u)
          << "unit " << pu.os_id << " is on node " << pu.node_id << ", which is not listed";
    }
    if (pu.core_id != HY_ID_NONE) {
      EXPECT_TRUE(threads_of_cores.insert({pu.core_id, pu.smt_index}).second)
          << "core " << pu.core_id << " has thread " << pu.smt_index << " twice";
    }
  }
  for (const hy_cache& cache : all.caches) {
    EXPECT_EQ(units.count(cache.first_pu), 1u)
        << "an L" << cache.level << " cache names unit " << cache.first_pu << ", not listed";
    EXPECT_GE(cache.pu_count, 1u);
    EXPECT_LE(cache.pu_count, units.size());
    EXPECT_GE(cache.level, 1u);
  }
  for (const hy_distance& distance : all.distances) {
    EXPECT_EQ(nodes.count(distance.from_node), 1u) << "distance from " << distance.from_node;
    EXPECT_EQ(nodes.count(distance.to_node), 1u) << "distance to " << distance.to_node;
    if (distance.from_node == distance.to_node) {
      EXPECT_EQ(distance.value, 10u);
    }
  }
  for (const hy_page_pool& pool : all.page_pools) {
    EXPECT_LE(pool.free, pool.total);
    EXPECT_EQ(pool.page_bytes & (pool.page_bytes - 1), 0u) << pool.page_bytes;
    if (pool.node_id != HY_ID_NONE) {
      EXPECT_EQ(nodes.count(pool.node_id), 1u) << pool.node_id;
    }
  }
}

HY_DUTY("HAL-TOP-02", AllowedUnitsAreThisThreadsMask) {
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology own, context.device().ReadTopology());
  HY_NEED_OWN_MACHINE(own);
  const std::optional<std::set<uint32_t>> mask = os::ThreadMask();
  if (!mask.has_value()) GTEST_SKIP() << "the system does not tell the affinity mask";
  EXPECT_EQ(Ids(own.pus, HY_PU_ALLOWED), *mask);
  // And with a mask of one unit, on a thread of its own.
  for (const uint32_t unit : {*mask->begin(), *mask->rbegin()}) {
    OnNewThread([&] {
      if (!os::SetThreadMask({unit})) return;
      HY_ASSERT_OK_AND_ASSIGN(const hal::Topology narrow, context.device().ReadTopology());
      EXPECT_EQ(Ids(narrow.pus, HY_PU_ALLOWED), std::set<uint32_t>{unit});
      EXPECT_LE(narrow.budget_millicpus, 1000u);
    });
  }
}

HY_DUTY("HAL-TOP-03", TheBudgetLiesWithinUnitsAndQuota) {
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology own, context.device().ReadTopology());
  const uint64_t units = Ids(own.pus, HY_PU_ALLOWED).size();
  EXPECT_GE(own.budget_millicpus, 1u);
  EXPECT_LE(own.budget_millicpus, 1000 * units);
  if (own.quota_millicpus != 0) {
    EXPECT_LE(own.budget_millicpus, own.quota_millicpus);
  }
  EXPECT_GE(own.budget_workers(), 1u);
  if (own.source == HY_SOURCE_FIXTURE) return;
  const uint64_t quota = SystemQuotaMillicpus();
  context.Fact("quota_millicpus", absl::StrCat(quota));
  if (quota != 0) {
    EXPECT_LE(own.budget_millicpus, std::max<uint64_t>(quota + 1, 1)) << "the cgroup's quota";
  } else if (own.quota_millicpus == 0) {
    EXPECT_EQ(own.budget_millicpus, 1000 * units) << "nothing else limits this process";
  }
}

HY_DUTY("HAL-TOP-04", ClassesAreOrderedAndUniform) {
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology all, context.device().ReadTopology(true));
  std::map<uint32_t, uint32_t> capacity_of_class;
  uint32_t most = 0;
  for (const hy_pu& pu : all.pus) {
    EXPECT_GE(pu.capacity, 1u) << "unit " << pu.os_id;
    EXPECT_LE(pu.capacity, 1024u) << "unit " << pu.os_id;
    const auto [entry, is_new] = capacity_of_class.emplace(pu.perf_class, pu.capacity);
    EXPECT_EQ(entry->second, pu.capacity) << "units of class " << pu.perf_class << " differ";
    most = std::max(most, pu.capacity);
  }
  ASSERT_FALSE(capacity_of_class.empty());
  EXPECT_EQ(capacity_of_class.begin()->first, 0u) << "there is no class 0";
  EXPECT_EQ(capacity_of_class.begin()->second, most) << "class 0 is not the fastest";
  uint32_t expected_class = 0;
  uint32_t last = 1025;
  for (const auto& [perf_class, capacity] : capacity_of_class) {
    EXPECT_EQ(perf_class, expected_class++) << "class numbers have a gap";
    EXPECT_LE(capacity, last) << "class " << perf_class << " is faster than the one before";
    last = capacity;
  }
}

HY_DUTY("HAL-TOP-05", TheIsaIsWhatTheProcessorExecutes) {
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology own, context.device().ReadTopology());
  HY_NEED_OWN_MACHINE(own);
  const IsaMask live = LiveIsa();
  const std::vector<IsaCheck> checks = LiveIsaChecks();
  // One kind of core: then no unit has more than the one that runs this.
  const bool uniform = own.pus.front().perf_class == own.pus.back().perf_class;
  for (const hy_pu& pu : own.pus) {
    for (size_t word = 0; word < 2; ++word) {
      EXPECT_EQ(live[word] & ~pu.isa[word], 0u)
          << "unit " << pu.os_id << " lacks what all units execute";
      if (uniform) {
        EXPECT_EQ(pu.isa[word] & ~live[word], 0u)
            << "unit " << pu.os_id << " claims what cannot be executed here";
      }
    }
    for (const IsaCheck& check : checks) {
      const bool claimed = hy_isa_has(pu.isa, check.bit) != 0;
      EXPECT_TRUE(claimed || !check.is_live) << "unit " << pu.os_id << " has " << check.name;
      if (uniform) {
        EXPECT_TRUE(!claimed || check.is_live)
            << "unit " << pu.os_id << " claims " << check.name << ", which cannot be executed";
      }
    }
  }
}

HY_DUTY("HAL-TOP-06", AllMeansAllOnlineUnits) {
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology own, context.device().ReadTopology(false));
  HY_ASSERT_OK_AND_ASSIGN(const hal::Topology all, context.device().ReadTopology(true));
  EXPECT_EQ(Ids(own.pus, 0), Ids(own.pus, HY_PU_ALLOWED)) << "a unit that is not allowed is listed";
  const std::set<uint32_t> listed = Ids(all.pus, 0);
  for (const uint32_t unit : Ids(own.pus, 0)) EXPECT_EQ(listed.count(unit), 1u) << unit;
  EXPECT_EQ(Ids(all.pus, HY_PU_ALLOWED), Ids(own.pus, HY_PU_ALLOWED));
  HY_NEED_OWN_MACHINE(all);
  const std::optional<std::set<uint32_t>> online = os::OnlineUnits();
  if (!online.has_value()) GTEST_SKIP() << "the system does not tell which units are online";
  EXPECT_EQ(Ids(all.pus, HY_PU_ONLINE), *online);
}

DutyTable TopologyDuties() {
  static constexpr DutyTest kTests[] = {
      TheRecordsAgreeWithEachOther,     AllowedUnitsAreThisThreadsMask,
      TheBudgetLiesWithinUnitsAndQuota, ClassesAreOrderedAndUniform,
      TheIsaIsWhatTheProcessorExecutes, AllMeansAllOnlineUnits};
  return kTests;
}

}  // namespace halyard::conformance
