// SPDX-License-Identifier: Apache-2.0
//
// Whatever is accepted as a sheet keeps what a reader of sheets relies on.
#include "facts/chip_sheet.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // The id must be the file's name: try the one that the text gives.
  const size_t id = text.find("id: ");
  const std::string name =
      id == std::string::npos ? "x" : text.substr(id + 4, text.find('\n', id) - id - 4);
  const auto sheet = halyard::facts::ParseChipSheet(name + ".yaml", text);
  if (!sheet.ok()) {
    if (sheet.status().message().empty()) __builtin_trap();
    return 0;
  }
  if (sheet->id.empty() || sheet->match.arch.empty()) __builtin_trap();
  if (sheet->min_ok_share <= 0 || sheet->min_ok_share >= 1) __builtin_trap();
  return 0;
}
