// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/ABI/stable/sysfs-devices-node, admin-guide/mm/numaperf.rst (access
//          classes) and ABI/testing/sysfs-kernel-mm-memory-tiers.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cpu_list.h"
#include "hal/topology_parts.h"

namespace halyard::hal {
namespace {

using Ids = std::vector<uint32_t>;

// Memory tier of ordinary memory: MEMTIER_ADISTANCE_DRAM of include/linux/memory-tiers.h over the
// size of a tier. Lower tiers are faster.
constexpr uint32_t kDramTier = 4;

// Memory without CPUs that reads so much faster than that of the CPUs is of another kind.
constexpr uint64_t kHbmSpeedupPercent = 150;
constexpr uint64_t kMaxMbPerS = uint64_t{1} << 40;

std::string NodeFolder(uint32_t node) {
  return absl::StrCat("sys/devices/system/node/node", node, "/");
}

// "MemTotal:  123 kB", or the same behind "Node 0 ".
uint64_t MeminfoBytes(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() > 2 && words[0] == "Node") words.erase(words.begin(), words.begin() + 2);
    uint64_t kib = 0;
    if (words.size() >= 2 && absl::ConsumeSuffix(&words[0], ":") && words[0] == key &&
        absl::SimpleAtoi(words[1], &kib) && kib < (uint64_t{1} << 53)) {
      return kib << 10;
    }
  }
  return 0;
}

hy_node NewNode(uint32_t id) {
  hy_node node{};
  node.struct_size = sizeof node;
  node.os_id = id;
  return node;
}

void SetMemory(absl::string_view meminfo, hy_node* node) {
  node->bytes_total = MeminfoBytes(meminfo, "MemTotal");
  node->bytes_free = MeminfoBytes(meminfo, "MemFree");
  if (node->bytes_total > 0) node->flags |= HY_NODE_HAS_MEMORY;
}

// Class 1 is about CPUs alone; class 0 may be about a device that is nearer.
void ReadSpeed(const SystemView& view, hy_node* node) {
  for (absl::string_view access : {"access1", "access0"}) {
    const std::string folder = absl::StrCat(NodeFolder(node->os_id), access, "/initiators/");
    node->read_mb_per_s =
        std::min(ReadNumber(view, absl::StrCat(folder, "read_bandwidth")).value_or(0), kMaxMbPerS);
    node->read_latency_ns = ReadNumber(view, absl::StrCat(folder, "read_latency")).value_or(0);
    if (node->read_mb_per_s != 0) return;
  }
}

void ReadDistances(const SystemView& view, Topology* topology) {
  for (const hy_node& from : topology->nodes) {
    const std::string text =
        view.Read(absl::StrCat(NodeFolder(from.os_id), "distance")).value_or("");
    const std::vector<absl::string_view> row =
        absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    // A column for each node that is online, in their order: which is not their number.
    if (row.size() != topology->nodes.size()) continue;
    for (size_t column = 0; column < row.size(); ++column) {
      hy_distance distance{};
      distance.struct_size = sizeof distance;
      distance.from_node = from.os_id;
      distance.to_node = topology->nodes[column].os_id;
      if (absl::SimpleAtoi(row[column], &distance.value)) topology->distances.push_back(distance);
    }
  }
}

std::map<uint32_t, uint32_t> ReadTiers(const SystemView& view) {
  constexpr absl::string_view kFolder = "sys/devices/virtual/memory_tiering";
  std::map<uint32_t, uint32_t> tier_of_node;
  for (uint32_t tier : ListNumbered(view, kFolder, "memory_tier")) {
    const auto nodes = ReadList(view, absl::StrCat(kFolder, "/memory_tier", tier, "/nodelist"));
    for (uint32_t node : nodes.value_or(Ids())) tier_of_node[node] = tier;
  }
  return tier_of_node;
}

// The kind is told by contrast only: a machine with one kind of memory does not say which. Slower
// tiers may be anything, and stay unknown.
void SetKinds(const SystemView& view, std::vector<hy_node>* nodes) {
  const std::map<uint32_t, uint32_t> tiers = ReadTiers(view);
  uint64_t cpu_side_mb_per_s = 0;
  for (const hy_node& node : *nodes) {
    if ((node.flags & HY_NODE_HAS_CPUS) == 0) continue;
    cpu_side_mb_per_s = std::max(cpu_side_mb_per_s, node.read_mb_per_s);
  }
  bool any_hbm = false;
  for (hy_node& node : *nodes) {
    const auto tier = tiers.find(node.os_id);
    const bool faster_tier = tier != tiers.end() && tier->second < kDramTier;
    const bool faster_told = cpu_side_mb_per_s != 0 && (node.flags & HY_NODE_HAS_CPUS) == 0 &&
                             node.read_mb_per_s * 100 >= cpu_side_mb_per_s * kHbmSpeedupPercent;
    if ((node.flags & HY_NODE_HAS_MEMORY) == 0 || !(faster_tier || faster_told)) continue;
    node.kind = HY_NODE_HBM;
    any_hbm = true;
  }
  if (!any_hbm) return;
  for (hy_node& node : *nodes) {
    const bool beside = (node.flags & HY_NODE_HAS_CPUS) != 0 && node.kind == 0;
    if (beside && (node.flags & HY_NODE_HAS_MEMORY) != 0) node.kind = HY_NODE_DRAM;
  }
}

void ReadPools(const SystemView& view, uint32_t node, const std::string& folder,
               std::vector<hy_page_pool>* pools) {
  std::vector<hy_page_pool> found;
  for (const std::string& name : view.List(folder)) {
    absl::string_view size = name;
    uint64_t kib = 0;
    if (!absl::ConsumePrefix(&size, "hugepages-") || !absl::ConsumeSuffix(&size, "kB") ||
        !absl::SimpleAtoi(size, &kib) || kib == 0 || kib >= (uint64_t{1} << 53)) {
      continue;
    }
    const std::string pool_folder = absl::StrCat(folder, "/", name);
    const std::optional<uint64_t> total =
        ReadNumber(view, absl::StrCat(pool_folder, "/nr_hugepages"));
    if (!total.has_value()) continue;
    hy_page_pool pool{};
    pool.struct_size = sizeof pool;
    pool.node_id = node;
    pool.page_bytes = kib << 10;
    pool.total = *total;
    pool.free = ReadNumber(view, absl::StrCat(pool_folder, "/free_hugepages")).value_or(0);
    found.push_back(pool);
  }
  std::sort(found.begin(), found.end(), [](const hy_page_pool& a, const hy_page_pool& b) {
    return a.page_bytes < b.page_bytes;
  });
  pools->insert(pools->end(), found.begin(), found.end());
}

// A kernel without NUMA has one node, which it calls 0, with everything. Where the tables of the
// kernel cannot be seen at all, nodes stay unknown instead.
void MakeOnlyNode(const SystemView& view, Topology* topology, absl::Span<UnitDraft> units) {
  hy_node node = NewNode(0);
  node.flags = HY_NODE_HAS_CPUS | HY_NODE_ALLOWED;
  SetMemory(view.Read("proc/meminfo").value_or(""), &node);
  for (UnitDraft& unit : units) unit.pu.node_id = node.os_id;
  topology->nodes.push_back(node);
}

void ReadNumaNodes(const SystemView& view, const Ids& ids, Topology* topology,
                   absl::Span<UnitDraft> units) {
  const std::string status = view.Read("proc/self/status").value_or("");
  const absl::string_view mems = LineValue(status, "Mems_allowed_list");
  const Ids allowed = mems.empty() ? ids : ParseCpuList(mems).value_or(ids);
  std::map<uint32_t, uint32_t> node_of_unit;
  for (uint32_t id : ids) {
    hy_node node = NewNode(id);
    const Ids cpus = ReadList(view, absl::StrCat(NodeFolder(id), "cpulist")).value_or(Ids());
    for (uint32_t cpu : cpus) node_of_unit[cpu] = id;
    if (!cpus.empty()) node.flags |= HY_NODE_HAS_CPUS;
    if (std::binary_search(allowed.begin(), allowed.end(), id)) node.flags |= HY_NODE_ALLOWED;
    SetMemory(view.Read(absl::StrCat(NodeFolder(id), "meminfo")).value_or(""), &node);
    ReadSpeed(view, &node);
    topology->nodes.push_back(node);
  }
  for (UnitDraft& unit : units) {
    const auto found = node_of_unit.find(unit.pu.os_id);
    if (found != node_of_unit.end()) unit.pu.node_id = found->second;
  }
}

}  // namespace

void ReadNodes(const SystemView& view, Topology* topology, absl::Span<UnitDraft> units) {
  Ids ids = ReadList(view, "sys/devices/system/node/online").value_or(Ids());
  if (ids.empty()) ids = ListNumbered(view, "sys/devices/system/node", "node");
  if (ids.empty() && topology->source == view.source()) {
    MakeOnlyNode(view, topology, units);
  } else {
    ReadNumaNodes(view, ids, topology, units);
    ReadDistances(view, topology);
    SetKinds(view, &topology->nodes);
  }
  ReadPools(view, HY_ID_NONE, "sys/kernel/mm/hugepages", &topology->page_pools);
  for (uint32_t id : ids) {
    ReadPools(view, id, absl::StrCat(NodeFolder(id), "hugepages"), &topology->page_pools);
  }
}

}  // namespace halyard::hal
