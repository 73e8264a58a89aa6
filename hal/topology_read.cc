// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cpu_list.h"
#include "hal/bind.h"
#include "hal/cgroup.h"
#include "hal/cpuinfo.h"
#include "hal/topology.h"
#include "hal/topology_parts.h"

namespace halyard::hal {
namespace {

using Ids = std::vector<uint32_t>;

Ids Intersection(const Ids& a, const Ids& b) {
  Ids both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

Ids Union(const Ids& a, const Ids& b) {
  Ids either;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
  return either;
}

// The mask of the calling thread. /proc/self is the whole process, whose first thread may be bound
// otherwise, so on the live machine it is the second choice.
Ids ReadAffinity(const SystemView& view) {
  if (view.is_live()) {
    absl::StatusOr<Ids> mask = ThisThreadMask();
    if (mask.ok()) return *std::move(mask);
  }
  const std::string status = view.Read("proc/self/status").value_or("");
  return ParseCpuList(LineValue(status, "Cpus_allowed_list")).value_or(Ids());
}

struct UnitSets {
  uint32_t source = HY_SOURCE_UNKNOWN;
  Ids online;
  Ids allowed;
  uint64_t limits = 0;
};

Ids ReadOnline(const SystemView& view, const Ids& affinity, uint32_t* source) {
  *source = view.source();
  Ids online = ReadList(view, "sys/devices/system/cpu/online").value_or(Ids());
  if (!online.empty()) return online;
  online = ListNumbered(view, "sys/devices/system/cpu", "cpu");
  if (!online.empty()) return online;

  *source = HY_SOURCE_PROCFS;
  for (const CpuinfoUnit& unit :
       ParseCpuinfo(view.arch(), view.Read("proc/cpuinfo").value_or(""))) {
    online.push_back(unit.os_id);
  }
  std::sort(online.begin(), online.end());
  online.erase(std::unique(online.begin(), online.end()), online.end());
  if (online.empty()) online = affinity;
  if (!online.empty()) return online;

  *source = HY_SOURCE_UNKNOWN;
  return {0};
}

UnitSets ReadUnitSets(const SystemView& view) {
  UnitSets sets;
  const Ids affinity = ReadAffinity(view);
  sets.online = ReadOnline(view, affinity, &sets.source);
  // Containers may be shown a list of units other than the ones they run on (lxcfs): what the
  // scheduler says wins.
  if (view.is_live()) sets.online = Union(sets.online, affinity);
  const Ids cpuset = Intersection(ReadCpuset(view).value_or(sets.online), sets.online);
  // A mask names absent units too, and the kernel keeps it within the cpuset by itself.
  sets.allowed = affinity.empty() ? cpuset : Intersection(affinity, sets.online);
  if (sets.allowed.empty()) sets.allowed = sets.online;

  const Ids present = ReadList(view, "sys/devices/system/cpu/present").value_or(sets.online);
  if (present.size() > sets.online.size()) sets.limits |= HY_LIMIT_ONLINE;
  const bool cpuset_holds =
      std::includes(cpuset.begin(), cpuset.end(), sets.allowed.begin(), sets.allowed.end());
  if (cpuset_holds && cpuset.size() < sets.online.size()) sets.limits |= HY_LIMIT_CPUSET;
  const size_t before_affinity = cpuset_holds ? cpuset.size() : sets.online.size();
  if (sets.allowed.size() < before_affinity) sets.limits |= HY_LIMIT_AFFINITY;
  return sets;
}

void SetFlags(const SystemView& view, const UnitSets& sets, std::vector<UnitDraft>* units) {
  const Ids isolated = ReadList(view, "sys/devices/system/cpu/isolated").value_or(Ids());
  for (UnitDraft& unit : *units) {
    const uint32_t id = unit.pu.os_id;
    unit.pu.flags = HY_PU_ONLINE;
    if (std::binary_search(sets.allowed.begin(), sets.allowed.end(), id)) {
      unit.pu.flags |= HY_PU_ALLOWED;
    }
    if (std::binary_search(isolated.begin(), isolated.end(), id)) unit.pu.flags |= HY_PU_ISOLATED;
  }
}

// Keeps of each cache the units that are listed, so that its name is one of them, and names the
// last cache of each unit by that name.
void AddCaches(const std::vector<CacheDraft>& drafts, Topology* topology) {
  std::vector<uint32_t> llc_level(topology->pus.size(), 0);
  for (const CacheDraft& draft : drafts) {
    hy_cache cache = draft.cache;
    std::vector<size_t> sharers;
    for (uint32_t id : draft.units) {
      const hy_pu* pu = topology->FindPu(id);
      if (pu != nullptr) sharers.push_back(static_cast<size_t>(pu - topology->pus.data()));
    }
    if (sharers.empty()) continue;
    cache.first_pu = topology->pus[sharers.front()].os_id;
    cache.pu_count = static_cast<uint32_t>(sharers.size());
    topology->caches.push_back(cache);
    if (cache.kind == HY_CACHE_INSTRUCTION) continue;
    for (size_t index : sharers) {
      if (cache.level <= llc_level[index]) continue;
      llc_level[index] = cache.level;
      topology->pus[index].llc_id = cache.first_pu;
    }
  }
  std::sort(topology->caches.begin(), topology->caches.end(),
            [](const hy_cache& a, const hy_cache& b) {
              return std::tie(a.level, a.kind, a.first_pu) < std::tie(b.level, b.kind, b.first_pu);
            });
}

}  // namespace

std::optional<uint64_t> ReadNumber(const SystemView& view, absl::string_view path) {
  const std::optional<std::string> text = view.Read(path);
  uint64_t number = 0;
  if (!text.has_value() || !absl::SimpleAtoi(*text, &number)) return std::nullopt;
  return number;
}

std::optional<Ids> ReadList(const SystemView& view, absl::string_view path) {
  const std::optional<std::string> text = view.Read(path);
  if (!text.has_value()) return std::nullopt;
  absl::StatusOr<Ids> ids = ParseCpuList(*text);
  if (!ids.ok()) return std::nullopt;
  return *std::move(ids);
}

absl::string_view LineValue(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, key) && absl::ConsumePrefix(&line, ":")) {
      return absl::StripAsciiWhitespace(line);
    }
  }
  return {};
}

Ids ListNumbered(const SystemView& view, absl::string_view folder, absl::string_view prefix) {
  Ids numbers;
  for (const std::string& name : view.List(folder)) {
    absl::string_view rest = name;
    uint32_t number = 0;
    // SimpleAtoi alone would take "cpu07" for a second 7.
    if (absl::ConsumePrefix(&rest, prefix) && absl::SimpleAtoi(rest, &number) &&
        absl::StrCat(number) == rest) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Topology ReadTopology(const SystemView& view, bool all) {
  Topology topology;
  const UnitSets sets = ReadUnitSets(view);
  topology.source = sets.source;
  topology.limits = sets.limits;
  // Read as a whole even if few units are allowed: classes are those of the machine.
  std::vector<UnitDraft> units = ReadUnits(view, sets.online);
  SetFlags(view, sets, &units);
  AssignClasses(view.arch(), absl::MakeSpan(units));
  ReadNodes(view, &topology, absl::MakeSpan(units));
  const std::vector<CacheDraft> caches = ReadCaches(view, units);
  for (const UnitDraft& unit : units) {
    if (all || (unit.pu.flags & HY_PU_ALLOWED) != 0) topology.pus.push_back(unit.pu);
  }
  AddCaches(caches, &topology);

  topology.budget_millicpus = uint64_t{1000} * sets.allowed.size();
  topology.quota_millicpus = ReadQuotaMillicpus(view);
  if (topology.quota_millicpus != 0 && topology.quota_millicpus < topology.budget_millicpus) {
    topology.budget_millicpus = topology.quota_millicpus;
    topology.limits |= HY_LIMIT_QUOTA;
  }
  return topology;
}

}  // namespace halyard::hal
