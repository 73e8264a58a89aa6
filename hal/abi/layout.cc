// SPDX-License-Identifier: Apache-2.0
#include "hal/abi/layout.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "halyard/hal.h"
#include "halyard/isa.h"

namespace halyard::hal {

std::vector<StructLayout> HalStructs() {
  std::vector<StructLayout> structs;
#define HY_STRUCT(type) structs.push_back({#type, sizeof(type), alignof(type), {}});
#define HY_FIELD(type, field)      \
  structs.back().fields.push_back( \
      {#field, offsetof(type, field), sizeof(type::field), alignof(decltype(type::field))});
#define HY_CONSTANT(name)
#include "hal/abi/members.inc"
#undef HY_STRUCT
#undef HY_FIELD
#undef HY_CONSTANT
  return structs;
}

std::vector<Constant> HalConstants() {
  std::vector<Constant> constants;
#define HY_STRUCT(type)
#define HY_FIELD(type, field)
#define HY_CONSTANT(name) constants.push_back({#name, static_cast<uint64_t>(name)});
#include "hal/abi/members.inc"
#undef HY_STRUCT
#undef HY_FIELD
#undef HY_CONSTANT
  return constants;
}

std::string LayoutText(const std::string& title, const std::vector<StructLayout>& structs,
                       const std::vector<Constant>& constants) {
  std::string text = absl::StrCat(title, ", ", DataModel(), ": bytes\n");
  for (const StructLayout& type : structs) {
    absl::StrAppend(&text, "\nstruct ", type.name, " size ", type.size_bytes, " align ",
                    type.alignment_bytes, "\n");
    for (const FieldLayout& field : type.fields) {
      absl::StrAppend(&text, "  ", field.name, " offset ", field.offset_bytes, " size ",
                      field.size_bytes, "\n");
    }
  }
  absl::StrAppend(&text, "\n");
  for (const Constant& constant : constants) {
    absl::StrAppend(&text, "constant ", constant.name, " ", constant.value, "\n");
  }
  return text;
}

std::string HalLayoutText() {
  return LayoutText(absl::StrCat("HAL ABI ", HY_HAL_ABI_MAJOR, ".", HY_HAL_ABI_MINOR), HalStructs(),
                    HalConstants());
}

const char* DataModel() { return sizeof(void*) == 8 ? "lp64" : "ilp32"; }

}  // namespace halyard::hal
