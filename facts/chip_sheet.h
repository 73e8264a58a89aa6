// SPDX-License-Identifier: Apache-2.0
//
// Facts of a chip as published, read from ports/chips/<id>.yaml; ports/chips/README.md has the
// schema. An empty optional is what the sheet calls unknown.
#ifndef HALYARD_FACTS_CHIP_SHEET_H_
#define HALYARD_FACTS_CHIP_SHEET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace halyard::facts {

/// Maker and part number of an Arm core.
struct MidrPart {
  uint32_t implementer = 0;
  uint32_t part = 0;
  friend bool operator==(const MidrPart&, const MidrPart&) = default;
};

struct X86Family {
  std::string vendor;
  uint32_t family = 0;
  std::vector<std::pair<uint32_t, uint32_t>> models;  ///< first and last; empty: every model
};

/// What a machine must show for the sheet to be about it: every part that is not empty.
struct MatchRule {
  std::string arch;
  std::vector<MidrPart> midr;
  std::vector<X86Family> x86;
  std::vector<std::string> hints;
  std::vector<std::string> isa;
};

struct CoreClass {
  std::string name;
  std::string microarchitecture;
  std::optional<uint32_t> count;  ///< in one socket, of the largest part of the line
  std::optional<uint32_t> max_mhz;
  uint32_t smt = 1;
};

struct NotedWord {
  std::string word;
  std::string note;
};

struct SheetCache {
  uint32_t level = 0;
  uint32_t kind = 0;  ///< HY_CACHE_*
  std::optional<uint32_t> kib;
  std::optional<uint32_t> line_bytes;
  std::string per;         ///< who shares one: core, pair, cluster, ccx, node, chip, drawer
  std::string core_class;  ///< empty: every class
};

struct SheetMemory {
  std::string name;
  std::vector<std::string> when_model_contains;
  std::optional<uint32_t> channels;
  std::string type;
  std::optional<uint32_t> mt_s;
  std::optional<uint32_t> bus_bits;
  std::optional<double> theoretical_gb_per_s;  ///< of one socket
};

enum class SheetKind { kGeneric = 0, kFamily = 1, kChip = 2 };

struct ChipSheet {
  std::string id;
  std::string name;
  SheetKind kind = SheetKind::kGeneric;
  MatchRule match;
  std::vector<CoreClass> core_classes;  ///< fastest first
  std::vector<std::string> isa;
  std::vector<NotedWord> isa_optional;
  std::vector<NotedWord> isa_absent;  ///< whatever is said of the chip
  std::vector<std::pair<std::string, uint32_t>> vector_bits;
  std::vector<SheetCache> caches;
  std::vector<SheetMemory> memory;
  std::vector<uint32_t> nodes_per_socket;  ///< that firmware may offer; empty: unknown
  std::vector<uint32_t> base_page_bytes;
  double min_ok_share = 0.6;  ///< of theoretical_gb_per_s that a healthy machine reads
  std::string checked_how;    ///< hardware, emulation, none
  std::string checked_model;
  std::string checked_note;
};

/// Reads a sheet from its text. Strict: an unknown, repeated or missing key, a wrong type, or facts
/// that contradict each other refuse it. `path` gives the id it must have, and names it in errors.
/// Errors   INVALID_ARGUMENT with the file and, where there is one, the line.
absl::StatusOr<ChipSheet> ParseChipSheet(const std::string& path, const std::string& text);

/// Errors   NOT_FOUND: cannot be read; as ParseChipSheet.
absl::StatusOr<ChipSheet> ReadChipSheet(const std::string& path);

/// The sheets of a folder, by id: its files <id>.yaml with no other dot in their names.
/// Errors   NOT_FOUND: no such folder; as ReadChipSheet.
absl::StatusOr<std::vector<ChipSheet>> ReadChipSheets(const std::string& folder);

/// The sheet of an id.
/// Errors   NOT_FOUND, with the ids that there are.
absl::StatusOr<ChipSheet> FindChipSheet(const std::vector<ChipSheet>& sheets, absl::string_view id);

absl::string_view SheetKindName(SheetKind kind);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_CHIP_SHEET_H_
