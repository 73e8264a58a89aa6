// SPDX-License-Identifier: Apache-2.0
#include "cli/describe.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/cpu_features.h"
#include "cli/command.h"
#include "hal/topology_draw.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using nlohmann::json;

struct BitName {
  uint64_t bit;
  const char* name;
};

constexpr BitName kCaps[] = {
    {HY_CAP_COHERENT, "coherent"},       {HY_CAP_PERSISTENT_MAP, "persistent_map"},
    {HY_CAP_IMPORT, "import"},           {HY_CAP_NODE_POLICY, "node_policy"},
    {HY_CAP_PAGE_POLICY, "page_policy"}, {HY_CAP_ASYNC, "async"},
    {HY_CAP_REOPEN, "reopen"},
};
constexpr BitName kLimits[] = {
    {HY_LIMIT_ONLINE, "online"},
    {HY_LIMIT_AFFINITY, "affinity"},
    {HY_LIMIT_CPUSET, "cpuset"},
    {HY_LIMIT_QUOTA, "quota"},
};
constexpr BitName kMemoryFlags[] = {
    {HY_MEMORY_HOST_VISIBLE, "host_visible"},
    {HY_MEMORY_COHERENT, "coherent"},
    {HY_MEMORY_DEVICE_LOCAL, "device_local"},
    {HY_MEMORY_SCRATCH, "scratch"},
};

template <size_t n>
std::vector<std::string> Names(uint64_t bits, const BitName (&table)[n]) {
  std::vector<std::string> names;
  for (const BitName& row : table) {
    if ((bits & row.bit) != 0) names.emplace_back(row.name);
  }
  return names;
}

json IdOrNull(uint32_t id) { return id == HY_ID_NONE ? json(nullptr) : json(id); }

const char* SourceName(uint32_t source) {
  static constexpr const char* kNames[] = {"unknown", "sysfs", "procfs", "port", "fixture"};
  return source < std::size(kNames) ? kNames[source] : "unknown";
}

const char* NodeKindName(uint32_t kind) {
  static constexpr const char* kNames[] = {"unknown", "dram", "hbm", "cxl", "device"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

const char* CacheKindName(uint32_t kind) {
  static constexpr const char* kNames[] = {"unknown", "data", "instruction", "unified"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

json PuJson(const hy_pu& pu) {
  return {{"os_id", pu.os_id},
          {"core_id", IdOrNull(pu.core_id)},
          {"smt_index", pu.smt_index},
          {"cluster_id", IdOrNull(pu.cluster_id)},
          {"llc_id", IdOrNull(pu.llc_id)},
          {"node_id", IdOrNull(pu.node_id)},
          {"package_id", IdOrNull(pu.package_id)},
          {"perf_class", pu.perf_class},
          {"capacity", pu.capacity},
          {"max_khz", pu.max_khz},
          {"allowed", (pu.flags & HY_PU_ALLOWED) != 0},
          {"isolated", (pu.flags & HY_PU_ISOLATED) != 0},
          {"isa", IsaNames({pu.isa[0], pu.isa[1]})}};
}

json MemoryClassJson(const hy_memory_class& memory) {
  return {{"id", memory.id},
          {"name", memory.name},
          {"flags", Names(memory.flags, kMemoryFlags)},
          {"bytes_total", memory.bytes_total},
          {"min_alignment", memory.min_alignment}};
}

json PoolJson(const hy_page_pool& pool) {
  return {{"node_id", IdOrNull(pool.node_id)},
          {"page_bytes", pool.page_bytes},
          {"total", pool.total},
          {"free", pool.free}};
}

}  // namespace

std::vector<std::string> CapNames(uint64_t caps) { return Names(caps, kCaps); }
std::vector<std::string> LimitNames(uint64_t limits) { return Names(limits, kLimits); }

json TopologyJson(const hal::Topology& topology) {
  json document = {{"source", SourceName(topology.source)},
                   {"budget_millicpus", topology.budget_millicpus},
                   {"quota_millicpus", topology.quota_millicpus},
                   {"limits", LimitNames(topology.limits)}};
  json& pus = document["pus"] = json::array();
  for (const hy_pu& pu : topology.pus) pus.push_back(PuJson(pu));
  json& nodes = document["nodes"] = json::array();
  for (const hy_node& node : topology.nodes) {
    nodes.push_back({{"os_id", node.os_id},
                     {"kind", NodeKindName(node.kind)},
                     {"bytes_total", node.bytes_total},
                     {"bytes_free", node.bytes_free},
                     {"has_cpus", (node.flags & HY_NODE_HAS_CPUS) != 0},
                     {"has_memory", (node.flags & HY_NODE_HAS_MEMORY) != 0},
                     {"allowed", (node.flags & HY_NODE_ALLOWED) != 0}});
  }
  json& caches = document["caches"] = json::array();
  for (const hy_cache& cache : topology.caches) {
    caches.push_back({{"level", cache.level},
                      {"kind", CacheKindName(cache.kind)},
                      {"first_pu", cache.first_pu},
                      {"pu_count", cache.pu_count},
                      {"line_bytes", cache.line_bytes},
                      {"bytes", cache.bytes}});
  }
  json& distances = document["distances"] = json::array();
  for (const hy_distance& distance : topology.distances) {
    distances.push_back({{"from_node", distance.from_node},
                         {"to_node", distance.to_node},
                         {"value", distance.value}});
  }
  json& pools = document["page_pools"] = json::array();
  for (const hy_page_pool& pool : topology.page_pools) pools.push_back(PoolJson(pool));
  return document;
}

json DeviceJson(const hal::Device& device) {
  json document = {{"id", device.info().id},
                   {"name", device.info().name},
                   {"locator", device.info().locator},
                   {"kind", device.info().kind == HY_DEVICE_DISCRETE ? "discrete" : "cpu"},
                   {"vendor", device.vendor()},
                   {"driver", device.driver()},
                   {"caps", CapNames(device.caps())},
                   {"queue_tier", device.queue_tier()},
                   {"min_alignment", device.min_alignment()},
                   {"max_alloc_bytes", device.max_alloc_bytes()},
                   {"sync_granule_bytes", device.sync_granule_bytes()},
                   {"page_sizes_bytes", device.page_sizes()},
                   {"defaulted_verbs", device.defaulted_verbs()}};
  json& classes = document["memory_classes"] = json::array();
  for (const hy_memory_class& memory : device.memory_classes()) {
    classes.push_back(MemoryClassJson(memory));
  }
  return document;
}

std::string DeviceText(const hal::Device& device) {
  std::string text =
      absl::StrFormat("Device  %s: %s (%s)\n", device.info().id, device.info().name,
                      device.info().kind == HY_DEVICE_DISCRETE ? "discrete" : "CPU class");
  absl::StrAppend(&text, "  vendor       ", device.vendor(), "\n  driver       ", device.driver(),
                  "\n  capabilities ", absl::StrJoin(CapNames(device.caps()), " "), "\n");
  for (const hy_memory_class& memory : device.memory_classes()) {
    absl::StrAppend(&text, "  memory       ", memory.name, ": ", HumanBytes(memory.bytes_total),
                    ", ", absl::StrJoin(Names(memory.flags, kMemoryFlags), " "), "\n");
  }
  std::vector<std::string> sizes;
  for (const uint64_t bytes : device.page_sizes()) sizes.push_back(HumanBytes(bytes));
  absl::StrAppend(&text, "  page sizes   ", absl::StrJoin(sizes, ", "), "\n");
  absl::StrAppend(&text, "  queue        ",
                  device.queue_tier() == HY_QUEUE_TIER_ASYNC ? "asynchronous" : "in line", "\n");
  const std::vector<std::string> defaults = device.defaulted_verbs();
  if (!defaults.empty()) {
    absl::StrAppend(&text, "  by the core  ", absl::StrJoin(defaults, " "), "\n");
  }
  return text;
}

std::string BudgetText(const hal::Topology& topology) {
  std::vector<std::string> bounds;
  const auto quota =
      absl::StrFormat("a quota of %.2f CPUs", static_cast<double>(topology.quota_millicpus) / 1000);
  if ((topology.limits & HY_LIMIT_ONLINE) != 0) bounds.push_back("CPUs that are offline");
  if ((topology.limits & HY_LIMIT_CPUSET) != 0) bounds.push_back("the cpuset");
  if ((topology.limits & HY_LIMIT_AFFINITY) != 0) bounds.push_back("the affinity mask");
  if ((topology.limits & HY_LIMIT_QUOTA) != 0) bounds.push_back(quota);
  return absl::StrCat("up to ", hal::FormatCount(topology.budget_workers(), "worker"), ", ",
                      bounds.empty() ? "nothing limits them" : "limited by ",
                      absl::StrJoin(bounds, " and "));
}

}  // namespace halyard::cli
