// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "facts/bandwidth.h"

namespace halyard::facts {
namespace {

constexpr uint64_t kBlockBytes = 4096;
constexpr uint64_t kLeastBytes = uint64_t{1} << 20;
constexpr uint64_t kUsualBytes = uint64_t{64} << 20;
/// Addresses of 32 bits must hold two buffers for each of a few workers.
constexpr uint64_t kMostBytes = uint64_t{sizeof(void*) > 4 ? 1024 : 128} << 20;
/// So many times the share of the last-level cache leaves a sixteenth of hits at most, with the
/// random replacement of such caches.
constexpr uint64_t kCacheTimes = 4;
/// Every count up to here is measured, then powers of two.
constexpr uint32_t kEachCount = 4;

/// The most of the last-level caches that one of `threads` workers can have for itself.
uint64_t CacheShare(const hal::Topology& topology, uint32_t threads) {
  uint32_t last_level = 0;
  for (const hy_cache& cache : topology.caches) last_level = std::max(last_level, cache.level);
  uint64_t sum = 0;
  uint64_t largest = 0;
  for (const hy_cache& cache : topology.caches) {
    if (cache.level != last_level || cache.kind == HY_CACHE_INSTRUCTION) continue;
    sum += cache.bytes;
    largest = std::max(largest, cache.bytes);
  }
  return std::min(largest, sum / std::max(1u, threads));
}

/// One unit for each core of a node.
std::vector<uint32_t> CoresOfNode(const hal::Topology& topology, uint32_t node_id, uint32_t most) {
  std::vector<uint32_t> units;
  std::set<uint32_t> cores;
  for (const hy_pu& pu : topology.pus) {
    if (pu.node_id != node_id || units.size() >= most) continue;
    const bool first = pu.core_id == HY_ID_NONE || cores.insert(pu.core_id).second;
    if (first) units.push_back(pu.os_id);
  }
  return units;
}

BandwidthPlan PlanAnywhere(uint32_t workers) {
  BandwidthPlan plan;
  plan.team.count = workers;
  plan.team.name = "bandwidth";
  return plan;
}

}  // namespace

std::vector<BandwidthPlan> PlanBandwidth(const hal::Topology& topology,
                                         const BandwidthRequest& request) {
  uint32_t most = topology.budget_workers();
  std::set<uint32_t> cores;
  for (const hy_pu& pu : topology.pus) cores.insert(pu.core_id);
  // Unknown cores all have the same id: then the budget alone counts.
  if (cores.count(HY_ID_NONE) == 0) most = std::min(most, static_cast<uint32_t>(cores.size()));
  if (request.max_threads != 0) most = std::min(most, request.max_threads);
  most = std::max(1u, most);
  std::vector<BandwidthPlan> plans;
  for (uint32_t count = 1; count < most; count = count < kEachCount ? count + 1 : count * 2) {
    plans.push_back(PlanAnywhere(count));
  }
  plans.push_back(PlanAnywhere(most));
  if (!request.per_node || topology.nodes.size() < 2) return plans;
  for (const hy_node& node : topology.nodes) {
    constexpr uint64_t kNeeded = HY_NODE_HAS_MEMORY | HY_NODE_ALLOWED;
    if ((node.flags & kNeeded) != kNeeded) continue;
    BandwidthPlan plan = PlanAnywhere(most);
    plan.node_id = node.os_id;
    plan.team.pus = CoresOfNode(topology, node.os_id, most);
    plan.team.count = plan.team.pus.empty() ? most : static_cast<uint32_t>(plan.team.pus.size());
    const bool has_cpus = (node.flags & HY_NODE_HAS_CPUS) != 0;
    if (!plan.team.pus.empty() || !has_cpus) plans.push_back(std::move(plan));
  }
  return plans;
}

uint64_t ChooseBytes(const hal::Topology& topology, uint32_t threads, uint64_t headroom_bytes) {
  uint64_t bytes = std::max(kUsualBytes, kCacheTimes * CacheShare(topology, threads));
  // Two buffers each, and half of what is free stays free.
  if (headroom_bytes != 0) {
    bytes = std::min(bytes, headroom_bytes / (uint64_t{4} * std::max(1u, threads)));
  }
  return std::clamp(bytes, kLeastBytes, kMostBytes) / kBlockBytes * kBlockBytes;
}

}  // namespace halyard::facts
