// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "facts/findings.h"
#include "facts/memory_limits.h"
#include "hal/topology_draw.h"

namespace halyard::facts {
namespace {

/// Less than this share left is worth a warning.
constexpr uint64_t kScarceShare = 10;
/// A machine that has so much in swap was short of memory, and may be again.
constexpr uint64_t kSwappedShare = 20;

Finding CgroupFinding(uint64_t limit, uint64_t fillable) {
  const bool scarce = fillable < limit / kScarceShare;
  return {"memory.cgroup", scarce ? Severity::kWarning : Severity::kInfo,
          absl::StrCat("the cgroup allows ", hal::FormatBytes(limit), " of memory; ",
                       hal::FormatBytes(fillable), " can still be filled"),
          "Model, KV cache and program must fit below it, or the kernel kills the process"};
}

Finding AvailableFinding(uint64_t available, uint64_t total) {
  const bool scarce = available < total / kScarceShare;
  return {"memory.available", scarce ? Severity::kWarning : Severity::kInfo,
          absl::StrCat(hal::FormatBytes(available), " of ", hal::FormatBytes(total),
                       " memory are available"),
          scarce ? "End what else holds memory: a model that does not fit is read from disk again "
                   "and again"
                 : ""};
}

}  // namespace

std::vector<Finding> LookAtMemoryLimits(const Machine& machine) {
  std::vector<Finding> findings;
  if (machine.view == nullptr) return findings;
  const MemoryLimits limits = ReadMemoryLimits(*machine.view);
  if (limits.total && limits.available) {
    findings.push_back(AvailableFinding(*limits.available, *limits.total));
  }
  if (limits.cgroup && limits.fillable) {
    findings.push_back(CgroupFinding(*limits.cgroup, *limits.fillable));
  }
  if (limits.total && limits.swap_used && *limits.swap_used > *limits.total / kSwappedShare) {
    findings.push_back({"memory.swap", Severity::kWarning,
                        absl::StrCat(hal::FormatBytes(*limits.swap_used), " lie in swap"),
                        "Memory was short. Find out what took it; swapoff -a while measuring"});
  }
  if (limits.commit_left) {
    findings.push_back({"memory.overcommit", Severity::kInfo,
                        absl::StrCat("vm.overcommit_memory=2: ",
                                     hal::FormatBytes(*limits.commit_left), " are left to promise"),
                        "An allocation beyond that fails, even if memory is free: raise "
                        "vm.overcommit_ratio, or set vm.overcommit_memory to 0"});
  }
  if (limits.address_space) {
    findings.push_back(
        {"memory.address_space", Severity::kWarning,
         absl::StrCat("this process may use ", hal::FormatBytes(*limits.address_space),
                      " of addresses (ulimit -v)"),
         "Models are mapped whole: ulimit -v unlimited"});
  }
  return findings;
}

}  // namespace halyard::facts
