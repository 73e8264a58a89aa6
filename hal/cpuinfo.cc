// SPDX-License-Identifier: Apache-2.0
#include "hal/cpuinfo.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace halyard::hal {
namespace {

// "processor : 3" on most architectures, "processor 3: version = ..." on s390x. 32-bit Arm has a
// line "Processor : ARMv7" besides, which names no unit.
bool UnitOfLine(absl::string_view key, absl::string_view value, uint32_t* id) {
  if (!absl::ConsumePrefix(&key, "processor")) return false;
  const absl::string_view number = absl::StripAsciiWhitespace(key);
  return absl::SimpleAtoi(number.empty() ? value : number, id);
}

// The line of ISA words: x86; Arm and LoongArch; s390x; RISC-V, whose "isa" line of late kernels
// holds what all harts share and "hart isa" what this one has.
bool IsWordLine(absl::string_view key) {
  return key == "flags" || key == "Features" || key == "features" || key == "isa" ||
         key == "hart isa";
}

}  // namespace

std::vector<CpuinfoUnit> ParseCpuinfo(absl::string_view arch, absl::string_view text) {
  std::vector<CpuinfoUnit> units;
  IsaMask common{};
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    const absl::string_view key = absl::StripAsciiWhitespace(parts.first);
    const absl::string_view value = absl::StripAsciiWhitespace(parts.second);
    CpuinfoUnit unit;
    if (UnitOfLine(key, value, &unit.os_id)) {
      unit.isa = common;
      units.push_back(unit);
    } else if (IsWordLine(key)) {
      const std::vector<std::string> words =
          absl::StrSplit(value, absl::ByAnyChar(" \t"), absl::SkipEmpty());
      (units.empty() ? common : units.back().isa) = IsaFromWords(arch, words);
    }
  }
  return units;
}

IsaMask CpuinfoIsa(const std::vector<CpuinfoUnit>& units, uint32_t pu) {
  for (const CpuinfoUnit& unit : units) {
    if (unit.os_id == pu) return unit.isa;
  }
  return units.empty() ? IsaMask{} : units.front().isa;
}

}  // namespace halyard::hal
