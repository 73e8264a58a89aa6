// SPDX-License-Identifier: Apache-2.0
//
// Facts of a chip as published, read from ports/chips/<chip>.yaml (its README has the schema).
#ifndef HALYARD_FACTS_CHIP_SHEET_H_
#define HALYARD_FACTS_CHIP_SHEET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/system_view.h"
#include "hal/topology.h"

namespace halyard::facts {

struct MidrRule {
  uint32_t implementer = 0;
  std::vector<uint32_t> parts;
};

struct X86Rule {
  std::string vendor;
  uint32_t family = 0;
  std::vector<uint32_t> models;  ///< empty: every model of the family
};

/// What a machine must show for the sheet to be about it. All parts that are given must hold.
struct MatchRule {
  std::string arch;
  std::vector<MidrRule> midr;
  std::vector<X86Rule> x86;
  std::vector<std::string> cpuinfo;  ///< each must stand in /proc/cpuinfo or the device-tree model
  std::vector<std::string> isa;
  uint32_t specificity() const;  ///< of several sheets that fit, the highest is taken
};

struct ChipSheet {
  std::string id;
  std::string name;
  MatchRule match;
  std::vector<std::string> isa;         ///< words that each unit has
  std::vector<std::string> isa_absent;  ///< words that no unit has, whatever is said of the chip
  std::optional<double> read_gb_per_s;  ///< theoretical, of one socket
  double min_ok_share = 0.6;            ///< of it that a healthy machine reaches with all threads
  std::string checked_how;              ///< hardware, emulation, none
  std::string checked_note;
  std::string file;
};

/// Reads one sheet, strictly: an unknown, repeated or missing key is an error with its line.
/// Errors   NOT_FOUND, INVALID_ARGUMENT.
absl::StatusOr<ChipSheet> ReadChipSheet(const std::string& path);

/// All sheets of a folder, by id.
absl::StatusOr<std::vector<ChipSheet>> ReadChipSheets(const std::string& folder);

/// The sheet that fits the machine most specifically; nullptr if none does.
const ChipSheet* MatchChipSheet(const std::vector<ChipSheet>& sheets, const hal::SystemView& view,
                                const hal::Topology& topology);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_CHIP_SHEET_H_
