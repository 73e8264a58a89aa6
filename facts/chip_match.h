// SPDX-License-Identifier: Apache-2.0
//
// Which chip sheet a machine fits, by the rules of ports/chips/README.md.
#ifndef HALYARD_FACTS_CHIP_MATCH_H_
#define HALYARD_FACTS_CHIP_MATCH_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/cpu_features.h"
#include "facts/chip_sheet.h"
#include "hal/system_view.h"
#include "hal/topology.h"

namespace halyard::facts {

/// What a machine shows of itself.
struct ChipMarks {
  struct X86 {
    std::string vendor;
    uint32_t family = 0;
    uint32_t model = 0;
  };
  std::string arch;
  std::string name;            ///< for people, as the system calls it; may be empty
  std::vector<MidrPart> midr;  ///< of all units of the machine, each once
  std::optional<X86> x86;
  std::vector<std::string> texts;  ///< where hints and model names are looked for
  bool is_virtual = false;         ///< a hypervisor is below, as far as it shows
  IsaMask isa{};                   ///< what every usable unit executes
  /// Words of /proc/cpuinfo that every unit of it has; nothing if it has no such line.
  std::optional<std::set<std::string>> words;
};

/// Reads the marks of a view. The ISA is that of the topology: the processor's own word on a live
/// machine, where an emulator may show the /proc/cpuinfo of another.
ChipMarks ReadChipMarks(const hal::SystemView& view, const hal::Topology& topology);

/// Whether a machine has an ISA word: by its HY_ISA bit if it has one, else by /proc/cpuinfo;
/// nothing if neither can tell.
std::optional<bool> HasWord(const ChipMarks& marks, absl::string_view word);

/// True if the machine has all that the rule asks for. Words that cannot be seen are not held
/// against it, as long as one of them can.
bool Fits(const MatchRule& rule, const ChipMarks& marks);

/// The sheet that fits: chip before family before generic, then the one that asks for more words,
/// then the smaller id; nullptr if none fits. Points into `sheets`.
const ChipSheet* MatchChipSheet(const std::vector<ChipSheet>& sheets, const ChipMarks& marks);

/// The first memory entry that fits the machine; nullptr if none does.
const SheetMemory* FittingMemory(const ChipSheet& sheet, const ChipMarks& marks);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_CHIP_MATCH_H_
