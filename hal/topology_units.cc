// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/admin-guide/cputopology.rst and
// ABI/testing/sysfs-devices-system-cpu.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/cpu_list.h"
#include "hal/topology_parts.h"

namespace halyard::hal {
namespace {

using Ids = std::vector<uint32_t>;

std::string UnitFolder(uint32_t unit) {
  return absl::StrCat("sys/devices/system/cpu/cpu", unit, "/");
}

// Reads one unit at a time, but what the units of a core or package share only once: on a large
// machine the files are many, and each costs a few microseconds. Labels that the kernel may repeat
// (core 0 of each package) become numbers that are unique in the machine, by order of first use.
class UnitReader {
 public:
  UnitReader(const SystemView& view, absl::Span<const uint32_t> online)
      : view_(view), has_midr_(view.arch() == "aarch64") {
    drafts_.reserve(online.size());
    for (uint32_t id : online) {
      UnitDraft draft;
      draft.pu.struct_size = sizeof(hy_pu);
      draft.pu.os_id = id;
      draft.pu.core_id = draft.pu.cluster_id = draft.pu.llc_id = HY_ID_NONE;
      draft.pu.node_id = draft.pu.package_id = draft.pu.matrix_unit_id = HY_ID_NONE;
      drafts_.push_back(std::move(draft));
    }
    for (absl::string_view pmu : {"cpu_core", "cpu_atom", "cpu_lowpower"}) {
      const auto units = ReadList(view_, absl::StrCat("sys/devices/", pmu, "/cpus"));
      for (uint32_t id : units.value_or(Ids())) pmu_of_unit_[id] = std::string(pmu);
    }
  }

  std::vector<UnitDraft> Read() {
    for (UnitDraft& draft : drafts_) {
      if (draft.pu.core_id == HY_ID_NONE) ReadCore(&draft);
      ReadSpeed(&draft);
      const IsaMask isa = view_.isa(draft.pu.os_id);
      draft.pu.isa[0] = isa[0];
      draft.pu.isa[1] = isa[1];
    }
    return std::move(drafts_);
  }

 private:
  UnitDraft* Find(uint32_t id) {
    const auto found = std::lower_bound(
        drafts_.begin(), drafts_.end(), id,
        [](const UnitDraft& draft, uint32_t wanted) { return draft.pu.os_id < wanted; });
    return found != drafts_.end() && found->pu.os_id == id ? &*found : nullptr;
  }

  // Fills in the place of a unit and of the other threads of its core.
  void ReadCore(UnitDraft* draft) {
    const std::string folder = absl::StrCat(UnitFolder(draft->pu.os_id), "topology/");
    draft->pu.package_id = ReadPackage(draft->pu.os_id, folder);
    draft->pu.cluster_id = ReadCluster(draft->pu.package_id, folder);
    const std::optional<Ids> listed = ReadList(view_, absl::StrCat(folder, "thread_siblings_list"));
    if (!listed.has_value()) {
      ReadCoreId(draft, folder);
      return;
    }
    // With the list, core_id is no help: it may repeat in each cluster or package.
    Ids threads = *listed;
    if (!std::binary_search(threads.begin(), threads.end(), draft->pu.os_id)) {
      threads = {draft->pu.os_id};
    }
    const uint32_t core = core_count_++;
    uint32_t smt_index = 0;
    for (uint32_t id : threads) {
      UnitDraft* sibling = Find(id);
      if (sibling == nullptr || sibling->pu.core_id != HY_ID_NONE) continue;
      sibling->pu.core_id = core;
      sibling->pu.smt_index = smt_index++;
      sibling->pu.cluster_id = draft->pu.cluster_id;
      sibling->pu.package_id = draft->pu.package_id;
    }
  }

  // Without the list, core_id is all there is to tell which units are one core.
  void ReadCoreId(UnitDraft* draft, const std::string& folder) {
    const std::optional<uint64_t> label = ReadNumber(view_, absl::StrCat(folder, "core_id"));
    if (!label.has_value()) return;
    const auto [core, added] = cores_.try_emplace(
        std::make_tuple(draft->pu.package_id, draft->pu.cluster_id, *label), core_count_);
    if (added) ++core_count_;
    draft->pu.core_id = core->second;
    draft->pu.smt_index = threads_of_core_[core->second]++;
  }

  uint32_t ReadCluster(uint32_t package, const std::string& folder) {
    const std::optional<uint64_t> label = ReadNumber(view_, absl::StrCat(folder, "cluster_id"));
    // 65535 is -1 in 16 bits, as x86 writes it.
    if (!label.has_value() || *label >= 65535) return HY_ID_NONE;
    const auto number = static_cast<uint32_t>(clusters_.size());
    return clusters_.try_emplace({package, *label}, number).first->second;
  }

  // Package ids repeat where sockets are numbered anew in each book (s390x): then the lists of
  // units tell the packages apart, and a repeated id is replaced by a free one.
  uint32_t ReadPackage(uint32_t unit, const std::string& folder) {
    const auto known = package_of_unit_.find(unit);
    if (known != package_of_unit_.end()) return known->second;
    const std::optional<uint64_t> label =
        ReadNumber(view_, absl::StrCat(folder, "physical_package_id"));
    if (!label.has_value() || *label >= HY_ID_NONE) return HY_ID_NONE;
    std::optional<Ids> units = ReadList(view_, absl::StrCat(folder, "package_cpus_list"));
    if (!units.has_value()) units = ReadList(view_, absl::StrCat(folder, "core_siblings_list"));
    uint32_t id = static_cast<uint32_t>(*label);
    if (!units.has_value()) return id;
    if (packages_.count(id) != 0 && *packages_.rbegin() + 1 < HY_ID_NONE) {
      id = *packages_.rbegin() + 1;
    }
    packages_.insert(id);
    for (uint32_t member : *units) package_of_unit_.emplace(member, id);
    package_of_unit_.emplace(unit, id);
    return id;
  }

  void ReadSpeed(UnitDraft* draft) {
    const std::string folder = UnitFolder(draft->pu.os_id);
    draft->pu.max_khz =
        ReadNumber(view_, absl::StrCat(folder, "cpufreq/cpuinfo_max_freq")).value_or(0);
    draft->raw_capacity = ReadNumber(view_, absl::StrCat(folder, "cpu_capacity")).value_or(0);
    const auto pmu = pmu_of_unit_.find(draft->pu.os_id);
    if (pmu != pmu_of_unit_.end()) draft->core_type = pmu->second;
    if (!has_midr_) return;
    const std::string midr =
        view_.Read(absl::StrCat(folder, "regs/identification/midr_el1")).value_or("");
    uint64_t number = 0;
    // Implementer and part number; two steppings are one type.
    if (absl::SimpleHexAtoi(midr, &number)) {
      draft->core_type = absl::StrCat("midr", absl::Hex(number & 0xff00fff0u));
    }
  }

  const SystemView& view_;
  const bool has_midr_;
  std::vector<UnitDraft> drafts_;
  std::map<uint32_t, std::string> pmu_of_unit_;
  std::map<uint32_t, uint32_t> package_of_unit_;
  std::set<uint32_t> packages_;
  std::map<uint32_t, uint32_t> threads_of_core_;
  uint32_t core_count_ = 0;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> cores_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> clusters_;
};

uint32_t CacheKind(absl::string_view text) {
  if (text == "Data") return HY_CACHE_DATA;
  if (text == "Instruction") return HY_CACHE_INSTRUCTION;
  return text == "Unified" ? uint32_t{HY_CACHE_UNIFIED} : 0;
}

// "32K", "1M" or "512".
uint64_t ParseCacheBytes(absl::string_view text) {
  uint64_t unit = 1;
  if (absl::ConsumeSuffix(&text, "K")) {
    unit = uint64_t{1} << 10;
  } else if (absl::ConsumeSuffix(&text, "M")) {
    unit = uint64_t{1} << 20;
  } else if (absl::ConsumeSuffix(&text, "G")) {
    unit = uint64_t{1} << 30;
  }
  uint64_t number = 0;
  return absl::SimpleAtoi(text, &number) && number < (uint64_t{1} << 32) ? number * unit : 0;
}

class CacheReader {
 public:
  explicit CacheReader(const SystemView& view) : view_(view) {}

  std::vector<CacheDraft> Read(absl::Span<const UnitDraft> units) {
    for (const UnitDraft& unit : units) {
      // Threads of a core share all its caches.
      if (unit.pu.smt_index != 0) continue;
      const std::string folder = absl::StrCat(UnitFolder(unit.pu.os_id), "cache");
      for (uint32_t index : ListNumbered(view_, folder, "index")) {
        ReadLeaf(unit.pu.os_id, absl::StrCat(folder, "/index", index, "/"));
      }
    }
    return std::move(caches_);
  }

 private:
  void ReadLeaf(uint32_t unit, const std::string& folder) {
    CacheDraft draft;
    draft.cache.struct_size = sizeof(hy_cache);
    draft.cache.level = static_cast<uint32_t>(
        std::min<uint64_t>(ReadNumber(view_, absl::StrCat(folder, "level")).value_or(0), 16));
    draft.cache.kind = CacheKind(view_.Read(absl::StrCat(folder, "type")).value_or(""));
    if (draft.cache.level == 0 || draft.cache.kind == 0) return;
    draft.units = ReadList(view_, absl::StrCat(folder, "shared_cpu_list")).value_or(Ids());
    if (!std::binary_search(draft.units.begin(), draft.units.end(), unit)) draft.units = {unit};
    draft.cache.first_pu = draft.units.front();
    if (!seen_.insert({draft.cache.level, draft.cache.kind, draft.cache.first_pu}).second) return;
    draft.cache.bytes = ParseCacheBytes(view_.Read(absl::StrCat(folder, "size")).value_or(""));
    draft.cache.line_bytes = static_cast<uint32_t>(std::min<uint64_t>(
        ReadNumber(view_, absl::StrCat(folder, "coherency_line_size")).value_or(0), 65536));
    caches_.push_back(std::move(draft));
  }

  const SystemView& view_;
  std::vector<CacheDraft> caches_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen_;
};

}  // namespace

std::vector<UnitDraft> ReadUnits(const SystemView& view, absl::Span<const uint32_t> online) {
  return UnitReader(view, online).Read();
}

std::vector<CacheDraft> ReadCaches(const SystemView& view, absl::Span<const UnitDraft> units) {
  return CacheReader(view).Read(units);
}

}  // namespace halyard::hal
