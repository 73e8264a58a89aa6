// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

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

Finding BuildFinding(const std::vector<std::string>& missing) {
  if (missing.empty()) {
    return {"isa.build", Severity::kInfo, "the build needs nothing that this processor lacks", ""};
  }
  return {"isa.build", Severity::kError,
          absl::StrCat("this program was built to need ", absl::StrJoin(missing, " "),
                       ", which the processor lacks"),
          "Build without -march and -mcpu flags: kernels choose their ISA by themselves"};
}

void CompareWithSheet(const Machine& machine, std::vector<Finding>* findings) {
  const ChipSheet& sheet = *machine.sheet;
  std::vector<std::string> missing;
  for (const std::string& word : sheet.isa) {
    if (HasWord(machine.marks, word) == false) missing.push_back(word);
  }
  if (missing.empty()) {
    findings->push_back(
        {"isa.sheet", Severity::kInfo,
         absl::StrCat("has the instructions that the sheet ", sheet.id, " promises"), ""});
  } else {
    findings->push_back(
        {"isa.sheet", Severity::kWarning,
         absl::StrCat("lacks ", absl::StrJoin(missing, " "), ", which the sheet ", sheet.id,
                      " promises"),
         "A hypervisor, an emulator, an old kernel or a boot option may hide it. Kernels "
         "that need it are passed over; nothing breaks"});
  }
  std::vector<std::string> present;
  for (const NotedWord& absent : sheet.isa_absent) {
    if (HasWord(machine.marks, absent.word) == true) present.push_back(absent.word);
  }
  if (present.empty()) return;
  // A level says what its members need not have; a better member is no surprise.
  const bool surprise = sheet.kind != SheetKind::kGeneric;
  findings->push_back(
      {"isa.sheet_absent", surprise ? Severity::kWarning : Severity::kInfo,
       absl::StrCat("has ", absl::StrJoin(present, " "), ", which the sheet ", sheet.id,
                    surprise ? " says it lacks" : " does not count on"),
       surprise ? "Is this the chip? Then the sheet is wrong: please report it" : ""});
}

void CompareVectors(const Machine& machine, std::vector<Finding>* findings) {
  const uint32_t live_bits = LiveVectorBytes() * 8;
  if (!machine.runs_here() || live_bits == 0) return;
  for (const auto& [word, bits] : machine.sheet->vector_bits) {
    const bool scalable = word == "sve" || word == "sve2" || word == "v";
    if (!scalable || bits == live_bits) continue;
    findings->push_back({"isa.vector_bits", Severity::kInfo,
                         absl::StrCat("vectors of ", live_bits, " bits, ", bits, " in the sheet"),
                         "The system may be set to less: sysctl abi.sve_default_vector_length"});
    return;
  }
}

}  // namespace

std::vector<Finding> LookAtIsa(const Machine& machine) {
  std::vector<Finding> findings;
  if (machine.runs_here()) findings.push_back(BuildFinding(NamesMissing(BuildIsa(), LiveIsa())));
  const auto [common, any] = CommonAndAny(*machine.topology);
  const std::vector<std::string> uneven = NamesMissing(any, common);
  if (!uneven.empty()) {
    findings.push_back({"isa.uneven", Severity::kInfo,
                        absl::StrCat("only some CPUs have ", absl::StrJoin(uneven, " ")),
                        "A team uses what all its CPUs have: make a team of one class to use it"});
  }
  if (machine.sheet != nullptr) {
    CompareWithSheet(machine, &findings);
    CompareVectors(machine, &findings);
  }
  return findings;
}

}  // namespace halyard::facts
