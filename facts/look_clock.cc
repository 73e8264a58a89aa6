// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "facts/findings.h"

namespace halyard::facts {
namespace {

std::string FreqFile(uint32_t pu, absl::string_view name) {
  return absl::StrCat("sys/devices/system/cpu/cpu", pu, "/cpufreq/", name);
}

}  // namespace

std::vector<Finding> LookAtClock(const Machine& machine) {
  std::vector<Finding> findings;
  std::map<std::string, uint32_t> governors;
  uint32_t capped = 0;
  for (const hy_pu& pu : machine.topology->pus) {
    if (const auto governor = machine.view->Read(FreqFile(pu.os_id, "scaling_governor"))) {
      ++governors[*governor];
    }
    const auto limit = machine.view->Read(FreqFile(pu.os_id, "scaling_max_freq"));
    const auto most = machine.view->Read(FreqFile(pu.os_id, "cpuinfo_max_freq"));
    uint64_t limit_khz = 0;
    uint64_t most_khz = 0;
    if (limit && most && absl::SimpleAtoi(*limit, &limit_khz) &&
        absl::SimpleAtoi(*most, &most_khz) && limit_khz < most_khz) {
      ++capped;
    }
  }
  if (governors.empty()) {
    findings.push_back({"clock.governor", Severity::kInfo,
                        "the system does not show how the clock is governed",
                        "Usual in a virtual machine: repeat measurements and look at their spread"});
  }
  for (const auto& [governor, count] : governors) {
    const bool steady = governor == "performance";
    findings.push_back({"clock.governor", steady ? Severity::kInfo : Severity::kWarning,
                        absl::StrCat("governor ", governor, " on ", count, " units"),
                        steady ? ""
                               : "Set it to performance: cpupower frequency-set -g performance"});
  }
  if (capped > 0) {
    findings.push_back({"clock.capped", Severity::kWarning,
                        absl::StrCat(capped, " units are held below their highest frequency"),
                        "Look at scaling_max_freq, the power profile and the thermal limits"});
  }
  return findings;
}

}  // namespace halyard::facts
