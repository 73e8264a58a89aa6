// SPDX-License-Identifier: Apache-2.0
//
// The binary layout of the HAL boundary as this compiler sees it, as text.
#ifndef HALYARD_HAL_ABI_LAYOUT_H_
#define HALYARD_HAL_ABI_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace halyard::hal {

struct FieldLayout {
  std::string name;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
  uint64_t alignment_bytes = 0;
};

struct StructLayout {
  std::string name;
  uint64_t size_bytes = 0;
  uint64_t alignment_bytes = 0;
  std::vector<FieldLayout> fields;
};

struct Constant {
  std::string name;
  uint64_t value = 0;
};

/// All structs of hal_types.h and the table of hal.h, in the order of the headers.
std::vector<StructLayout> HalStructs();

/// All enumerators and numeric macros of status.h, hal_types.h, hal.h and isa.h.
std::vector<Constant> HalConstants();

/// A golden text: a line each for a struct, a field and a constant. Does not depend on the byte order,
/// only on the sizes of pointers and the alignment of 64-bit integers.
std::string LayoutText(const std::string& title, const std::vector<StructLayout>& structs,
                       const std::vector<Constant>& constants);
std::string HalLayoutText();

/// "lp64" or "ilp32".
const char* DataModel();

}  // namespace halyard::hal

#endif  // HALYARD_HAL_ABI_LAYOUT_H_
