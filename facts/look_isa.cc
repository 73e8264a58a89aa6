// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu_features.h"
#include "facts/findings.h"

namespace halyard::facts {
namespace {

std::vector<std::string> NamesMissing(const IsaMask& wanted, const IsaMask& there) {
  return IsaNames({wanted[0] & ~there[0], wanted[1] & ~there[1]});
}

/// What every listed unit executes, and what any does.
std::pair<IsaMask, IsaMask> CommonAndAny(const hal::Topology& topology) {
  IsaMask common{~uint64_t{0}, ~uint64_t{0}};
  IsaMask any{};
  for (const hy_pu& pu : topology.pus) {
    for (size_t word = 0; word < 2; ++word) {
      common[word] &= pu.isa[word];
      any[word] |= pu.isa[word];
    }
  }
  if (topology.pus.empty()) common = {};
  return {common, any};
}

void CompareWithSheet(const Machine& machine, const IsaMask& common, const IsaMask& any,
                      std::vector<Finding>* findings) {
  const std::string arch = machine.view->arch();
  const ChipSheet& sheet = *machine.sheet;
  const std::vector<std::string> missing = NamesMissing(IsaFromWords(arch, sheet.isa), common);
  if (!missing.empty()) {
    findings->push_back({"isa.sheet", Severity::kWarning,
                         absl::StrCat("the sheet of ", sheet.name, " lists ",
                                      absl::StrJoin(missing, " "), ", which this machine lacks"),
                         "The hypervisor, an emulator or a boot option may mask it; kernels that "
                         "need it are passed over"});
  }
  for (const auto& [word, note] : sheet.isa_absent) {
    const int bit = IsaBit(arch, word);
    if (bit >= 0 && hy_isa_has(any.data(), static_cast<uint32_t>(bit)) != 0) {
      findings->push_back({"isa.sheet_absent", Severity::kWarning,
                           absl::StrCat("this machine reports ", word, ", which ", sheet.name,
                                        " is not known to have"),
                           "Check that this is the chip, and tell the sheet's owner"});
    }
  }
}

}  // namespace

std::vector<Finding> LookAtIsa(const Machine& machine) {
  std::vector<Finding> findings;
  const auto [common, any] = CommonAndAny(*machine.topology);
  if (machine.view->is_live()) {
    const std::vector<std::string> missing = NamesMissing(BuildIsa(), LiveIsa());
    if (!missing.empty()) {
      findings.push_back({"isa.build", Severity::kError,
                          absl::StrCat("this program was built to need ",
                                       absl::StrJoin(missing, " "), ", which the processor lacks"),
                          "Build without -march or -mcpu flags; kernels choose their ISA by "
                          "themselves"});
    } else {
      findings.push_back({"isa.build", Severity::kInfo,
                          "the build needs nothing that this processor lacks", ""});
    }
  }
  const std::vector<std::string> uneven = NamesMissing(any, common);
  if (!uneven.empty()) {
    findings.push_back({"isa.uneven", Severity::kInfo,
                        absl::StrCat("only some units have ", absl::StrJoin(uneven, " ")),
                        "A team uses what all its units have: make a team of one class to use it"});
  }
  if (machine.sheet != nullptr) CompareWithSheet(machine, common, any, &findings);
  return findings;
}

}  // namespace halyard::facts
