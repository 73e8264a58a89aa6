// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "facts/findings.h"

namespace halyard::facts {
namespace {

void LookAtBudget(const hal::Topology& topology, std::vector<Finding>* findings) {
  if ((topology.limits & HY_LIMIT_QUOTA) != 0) {
    const bool whole = topology.quota_millicpus % 1000 == 0;
    findings->push_back(
        {"threads.quota", whole ? Severity::kInfo : Severity::kWarning,
         absl::StrFormat("a CPU quota allows %.2f CPUs, fewer than there are",
                         static_cast<double>(topology.quota_millicpus) / 1000),
         "Teams are sized by the quota. Give the container whole CPUs, or a cpuset in place of a "
         "quota: a team that is throttled half-way waits for its slowest worker"});
  }
  if ((topology.limits & (HY_LIMIT_AFFINITY | HY_LIMIT_CPUSET)) != 0) {
    findings->push_back({"threads.affinity", Severity::kInfo,
                         absl::StrCat("this process may use ", topology.pus.size(),
                                      " units, fewer than there are"),
                         "Meant? Else look at taskset, the cpuset, or the service manager"});
  }
}

void LookAtShape(const hal::Topology& topology, std::vector<Finding>* findings) {
  std::set<uint32_t> classes;
  bool smt = false;
  bool isolated = false;
  for (const hy_pu& pu : topology.pus) {
    classes.insert(pu.perf_class);
    smt |= pu.smt_index > 0;
    isolated |= (pu.flags & HY_PU_ISOLATED) != 0;
  }
  if (smt) {
    findings->push_back({"threads.smt", Severity::kInfo, "cores run several threads (SMT)",
                         "Teams take one worker a core unless told otherwise"});
  }
  if (classes.size() > 1) {
    findings->push_back({"threads.classes", Severity::kInfo,
                         absl::StrCat("cores of ", classes.size(), " speeds"),
                         "A team over all of them waits for the slowest: measure a team of the "
                         "fastest class too"});
  }
  if (isolated) {
    findings->push_back({"threads.isolated", Severity::kInfo, "some units are isolated (isolcpus)",
                         "The scheduler moves nothing there: only pinned workers use them"});
  }
}

void LookAtBinding(const hal::Device& device, std::vector<Finding>* findings) {
  hal::TeamRequest request;
  request.name = "doctor";
  const absl::StatusOr<hal::Team> team = device.CreateTeam(request);
  if (!team.ok()) {
    findings->push_back({"threads.team", Severity::kError,
                         absl::StrCat("no thread team can be made: ", team.status().message()),
                         "Raise the limit on threads (ulimit -u, pids.max)"});
    return;
  }
  const absl::StatusOr<std::vector<hal::WorkerReport>> reports = team->Readback();
  if (!reports.ok()) {
    findings->push_back({"threads.readback", Severity::kWarning,
                         absl::StrCat("where workers run is not known: ", reports.status().message()),
                         "Figures from this machine may move between runs"});
    return;
  }
  uint32_t bound = 0;
  for (const hal::WorkerReport& report : *reports) {
    if ((report.flags & HY_WORKER_BOUND) != 0) ++bound;
  }
  if (bound == reports->size()) {
    findings->push_back({"threads.binding", Severity::kInfo,
                         absl::StrCat("all ", bound, " workers are bound, as the system confirms"), ""});
  } else {
    findings->push_back({"threads.binding", Severity::kWarning,
                         absl::StrCat("only ", bound, " of ", reports->size(),
                                      " workers could be bound to a unit"),
                         "Allow sched_setaffinity (seccomp, container policy); unbound workers "
                         "move, and with them the figures"});
  }
}

}  // namespace

std::vector<Finding> LookAtThreads(const Machine& machine) {
  std::vector<Finding> findings;
  LookAtBudget(*machine.topology, &findings);
  LookAtShape(*machine.topology, &findings);
  LookAtBinding(*machine.device, &findings);
  return findings;
}

}  // namespace halyard::facts
