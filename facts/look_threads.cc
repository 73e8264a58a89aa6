// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/cpu_list.h"
#include "facts/findings.h"
#include "hal/topology_draw.h"

namespace halyard::facts {
namespace {

void LookAtBudget(const Machine& machine, std::vector<Finding>* findings) {
  const hal::Topology& topology = *machine.topology;
  if ((topology.limits & HY_LIMIT_QUOTA) != 0) {
    const bool whole = topology.quota_millicpus % 1000 == 0;
    findings->push_back(
        {"threads.quota", whole ? Severity::kInfo : Severity::kWarning,
         absl::StrFormat("a CPU quota allows %.2f CPUs of %u",
                         static_cast<double>(topology.quota_millicpus) / 1000,
                         static_cast<unsigned>(topology.pus.size())),
         "Teams are sized by it. Better a cpuset of whole CPUs than a quota: a team that is "
         "stopped half-way waits for its slowest worker"});
  }
  if ((topology.limits & (HY_LIMIT_AFFINITY | HY_LIMIT_CPUSET)) != 0) {
    const bool cpuset = (topology.limits & HY_LIMIT_CPUSET) != 0;
    std::string of =
        machine.whole == nullptr ? "" : absl::StrCat(" of ", machine.whole->pus.size());
    findings->push_back(
        {"threads.affinity", Severity::kInfo,
         absl::StrCat(cpuset ? "the cpuset" : "the affinity mask", " leaves this process ",
                      hal::FormatCount(topology.pus.size(), "CPU"), of),
         "Meant? Else look at taskset, the cpuset, or the service manager"});
  }
  if ((topology.limits & HY_LIMIT_ONLINE) != 0) {
    findings->push_back({"threads.offline", Severity::kInfo,
                         "some CPUs of this machine are offline",
                         "Meant? Else write 1 to /sys/devices/system/cpu/cpuN/online"});
  }
}

void LookAtShape(const hal::Topology& topology, std::vector<Finding>* findings) {
  std::set<uint32_t> classes;
  bool smt = false;
  std::vector<uint32_t> isolated;
  for (const hy_pu& pu : topology.pus) {
    classes.insert(pu.perf_class);
    smt |= pu.smt_index > 0;
    if ((pu.flags & HY_PU_ISOLATED) != 0) isolated.push_back(pu.os_id);
  }
  if (smt) {
    findings->push_back({"threads.smt", Severity::kInfo, "cores run several threads each (SMT)",
                         "Teams take one worker a core unless told otherwise"});
  }
  if (classes.size() > 1) {
    findings->push_back({"threads.classes", Severity::kInfo,
                         absl::StrCat("cores of ", classes.size(), " speeds"),
                         "A team over all of them waits for the slowest: measure a team of the "
                         "fastest class too"});
  }
  if (!isolated.empty()) {
    findings->push_back({"threads.isolated", Severity::kInfo,
                         absl::StrCat("isolated CPUs: ", FormatCpuList(isolated)),
                         "The scheduler moves nothing there: only pinned workers use them"});
  }
}

Finding BindingFinding(const std::vector<hal::WorkerReport>& reports) {
  uint32_t bound = 0;
  for (const hal::WorkerReport& report : reports) {
    if ((report.flags & HY_WORKER_BOUND) != 0) ++bound;
  }
  if (bound == reports.size()) {
    return {"threads.binding", Severity::kInfo,
            absl::StrCat(hal::FormatCount(bound, "worker"), " bound, as the system confirms"), ""};
  }
  return {
      "threads.binding", Severity::kWarning,
      absl::StrCat("only ", bound, " of ", hal::FormatCount(reports.size(), "worker"),
                   " could be bound to a CPU"),
      "Allow sched_setaffinity (seccomp, container policy): unbound workers move, and with them "
      "the figures"};
}

/// Makes a team and reads back where its workers are: a mask that is accepted and ignored shows.
Finding TryBinding(const hal::Device& device) {
  hal::TeamRequest request;
  request.name = "doctor";
  const absl::StatusOr<hal::Team> team = device.CreateTeam(request);
  if (!team.ok()) {
    return {"threads.team", Severity::kError,
            absl::StrCat("no thread team can be made: ", team.status().message()),
            "Raise the limit on threads (ulimit -u, pids.max)"};
  }
  const absl::StatusOr<std::vector<hal::WorkerReport>> reports = team->Readback();
  if (!reports.ok()) {
    return {"threads.readback", Severity::kWarning,
            absl::StrCat("where workers run is not known: ", reports.status().message()),
            "Figures from this machine may move between runs"};
  }
  return BindingFinding(*reports);
}

}  // namespace

std::vector<Finding> LookAtThreads(const Machine& machine) {
  std::vector<Finding> findings;
  LookAtBudget(machine, &findings);
  LookAtShape(*machine.topology, &findings);
  if (machine.runs_here()) findings.push_back(TryBinding(*machine.device));
  return findings;
}

}  // namespace halyard::facts
