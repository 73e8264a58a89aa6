// SPDX-License-Identifier: Apache-2.0
#include "hal/topology_draw.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/cpu_features.h"
#include "base/cpu_list.h"

namespace halyard::hal {
namespace {

using Pus = std::vector<const hy_pu*>;

constexpr size_t kColumns = 100;

// Words after a title, broken into lines that are indented.
std::string Wrap(absl::string_view title, const std::vector<std::string>& words) {
  std::string text(title);
  size_t column = text.size();
  for (const std::string& word : words) {
    if (column + 1 + word.size() > kColumns) {
      absl::StrAppend(&text, "\n   ");
      column = 3;
    }
    absl::StrAppend(&text, " ", word);
    column += 1 + word.size();
  }
  return text + "\n";
}

std::string FormatCpus(uint64_t millicpus) {
  const std::string number = millicpus % 1000 == 0
                                 ? absl::StrCat(millicpus / 1000)
                                 : absl::StrCat(static_cast<double>(millicpus) / 1000);
  return absl::StrCat(number, millicpus == 1000 ? " CPU" : " CPUs");
}

template <typename Field>
size_t CountIds(const Topology& topology, Field field) {
  std::set<uint32_t> ids;
  for (const hy_pu& pu : topology.pus) {
    if (pu.*field != HY_ID_NONE) ids.insert(pu.*field);
  }
  return ids.size();
}

std::string DrawSummary(const Topology& topology) {
  constexpr const char* kSources[] = {"an unknown source", "sysfs", "procfs", "the port",
                                      "an image"};
  std::vector<std::string> counts = {FormatCount(topology.pus.size(), "unit")};
  const size_t cores = CountIds(topology, &hy_pu::core_id);
  const size_t packages = CountIds(topology, &hy_pu::package_id);
  if (cores != 0) counts.push_back(FormatCount(cores, "core"));
  if (packages != 0) counts.push_back(FormatCount(packages, "package"));
  if (!topology.nodes.empty()) counts.push_back(FormatCount(topology.nodes.size(), "node"));
  return absl::StrCat(absl::StrJoin(counts, ", "), "; read from ",
                      kSources[std::min<uint32_t>(topology.source, 5) % 5], "\n");
}

std::string DrawBudget(const Topology& topology) {
  std::vector<std::string> bounds;
  if ((topology.limits & HY_LIMIT_ONLINE) != 0) bounds.push_back("units that are offline");
  if ((topology.limits & HY_LIMIT_CPUSET) != 0) bounds.push_back("the cpuset");
  if ((topology.limits & HY_LIMIT_AFFINITY) != 0) bounds.push_back("the affinity mask");
  const std::string quota = absl::StrCat("the quota of ", FormatCpus(topology.quota_millicpus));
  if ((topology.limits & HY_LIMIT_QUOTA) != 0) bounds.push_back(quota);
  std::string text = absl::StrCat("budget: ", FormatCpus(topology.budget_millicpus));
  absl::StrAppend(&text, bounds.empty() ? ", nothing bounds it" : ", bounded by ",
                  absl::StrJoin(bounds, ", "));
  if (topology.quota_millicpus != 0 && (topology.limits & HY_LIMIT_QUOTA) == 0) {
    absl::StrAppend(&text, "; ", quota, " does not matter");
  }
  return text + "\n";
}

// Units with (or, for `wanted` 0, without) a flag.
std::string DrawFlagged(const Topology& topology, uint64_t flag, uint64_t wanted,
                        absl::string_view title) {
  std::vector<uint32_t> ids;
  for (const hy_pu& pu : topology.pus) {
    if ((pu.flags & flag) == wanted) ids.push_back(pu.os_id);
  }
  if (ids.empty()) return "";
  return absl::StrCat(title, ": units ", FormatCpuList(ids), "\n");
}

size_t ThreadsOfCore(const Topology& topology, const hy_pu& pu) {
  if (pu.core_id == HY_ID_NONE) return 1;
  return static_cast<size_t>(
      std::count_if(topology.pus.begin(), topology.pus.end(),
                    [&pu](const hy_pu& other) { return other.core_id == pu.core_id; }));
}

// "2" or "2-4".
std::string FormatSpan(const std::set<size_t>& values) {
  if (values.size() == 1) return absl::StrCat(*values.begin());
  return absl::StrCat(*values.begin(), "-", *values.rbegin());
}

// The caches of a class that the tree does not show: "L1d 32 KiB", "L2 2 MiB for 4 cores".
std::vector<std::string> ClassCaches(const Topology& topology, uint32_t perf_class) {
  std::map<std::tuple<uint32_t, uint32_t, std::string>, std::set<size_t>> cores_of_cache;
  for (const hy_cache& cache : topology.caches) {
    const hy_pu* first = topology.FindPu(cache.first_pu);
    if (first == nullptr || first->perf_class != perf_class) continue;
    if (SharedLastCache(topology, *first) == &cache) continue;
    const size_t threads = ThreadsOfCore(topology, *first);
    cores_of_cache[{cache.level, cache.kind, CacheName(cache)}].insert(
        std::max<size_t>(1, cache.pu_count / threads));
  }
  std::vector<std::string> parts;
  for (const auto& [cache, cores] : cores_of_cache) {
    parts.push_back(std::get<2>(cache));
    if (*cores.rbegin() > 1) absl::StrAppend(&parts.back(), " for ", FormatSpan(cores), " cores");
  }
  return parts;
}

std::string FormatClocks(const Pus& pus) {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (const hy_pu* pu : pus) {
    least = std::min(least, pu->max_khz);
    most = std::max(most, pu->max_khz);
  }
  if (most == 0) return "";
  if (least / 1000 == most / 1000) return absl::StrCat("up to ", most / 1000, " MHz");
  return absl::StrCat("up to ", least / 1000, "-", most / 1000, " MHz");
}

IsaMask SharedIsa(const Pus& pus) {
  IsaMask isa = {pus[0]->isa[0], pus[0]->isa[1]};
  for (const hy_pu* pu : pus) {
    isa[0] &= pu->isa[0];
    isa[1] &= pu->isa[1];
  }
  return isa;
}

std::string DrawIsa(absl::string_view title, const IsaMask& isa) {
  const std::vector<std::string> names = IsaNames(isa);
  return Wrap(title, names.empty() ? std::vector<std::string>{"nothing known"} : names);
}

std::string DrawClasses(const Topology& topology) {
  std::map<uint32_t, Pus> classes;
  for (const hy_pu& pu : topology.pus) classes[pu.perf_class].push_back(&pu);
  std::set<IsaMask> isas;
  for (const auto& [id, pus] : classes) isas.insert(SharedIsa(pus));
  std::string text;
  for (const auto& [id, pus] : classes) {
    const bool cores_known = pus[0]->core_id != HY_ID_NONE;
    std::vector<std::string> facts = {
        cores_known ? FormatCount(CountCores(pus), "core") : FormatCount(pus.size(), "unit"),
        absl::StrCat("capacity ", pus[0]->capacity)};
    const std::string clocks = FormatClocks(pus);
    if (!clocks.empty()) facts.push_back(clocks);
    for (std::string& cache : ClassCaches(topology, id)) facts.push_back(std::move(cache));
    for (size_t i = 0; i + 1 < facts.size(); ++i) facts[i].push_back(',');
    absl::StrAppend(&text, Wrap(absl::StrCat("class ", id, ":"), facts));
    if (isas.size() > 1) absl::StrAppend(&text, DrawIsa("  isa:", SharedIsa(pus)));
  }
  if (isas.size() == 1) absl::StrAppend(&text, DrawIsa("isa:", *isas.begin()));
  return text;
}

std::string DrawPools(const Topology& topology) {
  std::vector<std::string> parts;
  for (const hy_page_pool& pool : topology.page_pools) {
    if (pool.node_id != HY_ID_NONE) continue;
    const std::string size = FormatBytes(pool.page_bytes);
    parts.push_back(absl::StrCat(size, " x ", pool.total));
    if (pool.total != 0) absl::StrAppend(&parts.back(), " (", pool.free, " free)");
  }
  if (parts.empty()) return "huge pages: no size is offered\n";
  return absl::StrCat("huge pages: ", absl::StrJoin(parts, ", "), "\n");
}

std::string DrawDistances(const Topology& topology) {
  if (topology.nodes.size() < 2 || topology.distances.empty()) return "";
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> values;
  for (const hy_distance& each : topology.distances) {
    values[{each.from_node, each.to_node}] = each.value;
  }
  std::string text = "distance  ";
  for (const hy_node& to : topology.nodes) absl::StrAppendFormat(&text, " %4d", to.os_id);
  for (const hy_node& from : topology.nodes) {
    absl::StrAppendFormat(&text, "\n  node %-3d", from.os_id);
    for (const hy_node& to : topology.nodes) {
      const auto found = values.find({from.os_id, to.os_id});
      text += found == values.end() ? "    ?" : absl::StrFormat(" %4d", found->second);
    }
  }
  return text + "\n";
}

}  // namespace

std::string FormatBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  uint64_t size = 1;
  while (unit < 6 && bytes / size >= 1024) {
    size <<= 10;
    ++unit;
  }
  if (bytes % size == 0) return absl::StrCat(bytes / size, " ", kUnits[unit]);
  const double value = static_cast<double>(bytes) / static_cast<double>(size);
  std::string number = absl::StrFormat("%.*f", value < 10 ? 2 : 1, value);
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
  return absl::StrCat(number, " ", kUnits[unit]);
}

std::string FormatCount(uint64_t count, const std::string& noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string CacheName(const hy_cache& cache) {
  const char* kind = cache.kind == HY_CACHE_DATA          ? "d"
                     : cache.kind == HY_CACHE_INSTRUCTION ? "i"
                                                          : "";
  std::string name = absl::StrCat("L", cache.level, kind);
  if (cache.bytes != 0) absl::StrAppend(&name, " ", FormatBytes(cache.bytes));
  return name;
}

const hy_cache* SharedLastCache(const Topology& topology, const hy_pu& pu) {
  if (pu.llc_id == HY_ID_NONE) return nullptr;
  const hy_cache* last = nullptr;
  for (const hy_cache& cache : topology.caches) {
    if (cache.first_pu != pu.llc_id || cache.kind == HY_CACHE_INSTRUCTION) continue;
    if (last == nullptr || cache.level > last->level) last = &cache;
  }
  Pus sharers;
  for (const hy_pu& other : topology.pus) {
    if (other.llc_id == pu.llc_id) sharers.push_back(&other);
  }
  return last != nullptr && CountCores(sharers) > 1 ? last : nullptr;
}

std::string DrawTopology(const Topology& topology) {
  if (topology.pus.empty()) return "no units\n";
  return absl::StrCat(
      DrawSummary(topology), DrawBudget(topology),
      DrawFlagged(topology, HY_PU_ALLOWED, 0, "not allowed"),
      DrawFlagged(topology, HY_PU_ISOLATED, HY_PU_ISOLATED, "isolated"),
      DrawFlagged(topology, HY_PU_NEEDS_BIND, HY_PU_NEEDS_BIND, "bound by the port"),
      DrawClasses(topology), DrawTree(topology), DrawPools(topology), DrawDistances(topology));
}

}  // namespace halyard::hal
