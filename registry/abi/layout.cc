// SPDX-License-Identifier: Apache-2.0
#include "registry/abi/layout.h"

#include <cstddef>

#include "halyard/kernel.h"

namespace halyard::registry {

std::vector<hal::StructLayout> KernelStructs() {
  std::vector<hal::StructLayout> structs;
#define HY_STRUCT(type) structs.push_back({#type, sizeof(type), alignof(type), {}});
#define HY_FIELD(type, field)      \
  structs.back().fields.push_back( \
      {#field, offsetof(type, field), sizeof(type::field), alignof(decltype(type::field))});
#define HY_CONSTANT(name)
#include "registry/abi/members.inc"
#undef HY_STRUCT
#undef HY_FIELD
#undef HY_CONSTANT
  return structs;
}

std::vector<hal::Constant> KernelConstants() {
  std::vector<hal::Constant> constants;
#define HY_STRUCT(type)
#define HY_FIELD(type, field)
#define HY_CONSTANT(name) constants.push_back({#name, static_cast<uint64_t>(name)});
#include "registry/abi/members.inc"
#undef HY_STRUCT
#undef HY_FIELD
#undef HY_CONSTANT
  return constants;
}

}  // namespace halyard::registry
