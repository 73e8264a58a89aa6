// SPDX-License-Identifier: Apache-2.0
#include "hal/team_plan.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"

namespace halyard::hal {
namespace {

// More threads than any machine has units; keeps a wild count from taking all memory first.
constexpr uint32_t kMaxWorkers = 65'536;

struct Candidates {
  std::vector<uint32_t>
      pus;  // fastest class first; the first units of all cores before second ones
  uint32_t cores = 0;
};

bool IsAllowed(const hy_pu& pu) { return (pu.flags & HY_PU_ALLOWED) != 0; }

Candidates FindCandidates(const Topology& topology, uint32_t perf_class) {
  std::vector<const hy_pu*> units;
  for (const hy_pu& pu : topology.pus) {
    if (IsAllowed(pu) && (perf_class == HY_ID_NONE || pu.perf_class == perf_class)) {
      units.push_back(&pu);
    }
  }
  std::stable_sort(units.begin(), units.end(), [](const hy_pu* a, const hy_pu* b) {
    return std::tie(a->perf_class, a->os_id) < std::tie(b->perf_class, b->os_id);
  });
  // A core's first allowed unit need not be its thread 0, so cores are counted as they are met.
  Candidates found;
  std::vector<uint32_t> siblings;
  std::set<uint32_t> cores;
  for (const hy_pu* pu : units) {
    const bool first = pu->core_id == HY_ID_NONE || cores.insert(pu->core_id).second;
    (first ? found.pus : siblings).push_back(pu->os_id);
  }
  found.cores = static_cast<uint32_t>(found.pus.size());
  found.pus.insert(found.pus.end(), siblings.begin(), siblings.end());
  return found;
}

absl::Status CheckList(const Topology& topology, const std::vector<uint32_t>& pus) {
  for (const uint32_t id : pus) {
    const hy_pu* pu = topology.FindPu(id);
    if (pu == nullptr || !IsAllowed(*pu)) {
      return absl::NotFoundError(absl::StrCat("unit ", id, " is ",
                                              pu == nullptr ? "not there" : "not allowed",
                                              "; see the allowed units in `halyard info`"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCount(uint32_t count, uint32_t limit, bool oversubscribe) {
  if (count > limit && !oversubscribe) {
    return absl::OutOfRangeError(
        absl::StrCat(count, " workers on a budget of ", limit,
                     "; ask for fewer, or allow oversubscription if that is meant"));
  }
  if (count > kMaxWorkers) {
    return absl::ResourceExhaustedError(absl::StrCat(count, " workers; ", kMaxWorkers, " at most"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> PlanTeam(const Topology& topology,
                                               const TeamRequest& request) {
  std::vector<uint32_t> source = request.pus;
  uint32_t limit = topology.budget_workers();
  uint32_t count = request.count;
  if (!source.empty()) {
    absl::Status status = CheckList(topology, source);
    if (!status.ok()) return status;
    if (count == 0) count = static_cast<uint32_t>(source.size());
  } else {
    Candidates candidates = FindCandidates(topology, request.perf_class);
    if (candidates.pus.empty()) {
      return absl::NotFoundError(
          request.perf_class == HY_ID_NONE
              ? std::string("no allowed unit")
              : absl::StrCat("no allowed unit of class ", request.perf_class));
    }
    limit = std::min(limit, static_cast<uint32_t>(candidates.pus.size()));
    if (count == 0) count = std::min(limit, candidates.cores);
    source = std::move(candidates.pus);
  }
  absl::Status status = CheckCount(count, limit, request.allow_oversubscription);
  if (!status.ok()) return status;
  std::vector<uint32_t> plan(count);
  for (uint32_t i = 0; i < count; ++i) plan[i] = source[i % source.size()];
  return plan;
}

uint64_t UsableMillicpus(const Topology& topology, absl::Span<const uint32_t> pus) {
  const std::set<uint32_t> distinct(pus.begin(), pus.end());
  return std::min<uint64_t>(topology.budget_millicpus, 1'000 * uint64_t{distinct.size()});
}

IsaMask WorkerIsa(const Topology& topology, const WorkerReport& report) {
  if ((report.flags & HY_WORKER_MASK_KNOWN) == 0 || report.mask.empty() ||
      topology.source == HY_SOURCE_FIXTURE) {
    return LiveIsa();
  }
  IsaMask common = {UINT64_MAX, UINT64_MAX};
  for (const uint32_t id : report.mask) {
    const hy_pu* pu = topology.FindPu(id);
    if (pu == nullptr || (pu->isa[0] | pu->isa[1]) == 0) return LiveIsa();
    common[0] &= pu->isa[0];
    common[1] &= pu->isa[1];
  }
  return common;
}

}  // namespace halyard::hal
