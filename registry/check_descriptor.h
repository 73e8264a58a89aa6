// SPDX-License-Identifier: Apache-2.0
//
// What a descriptor must hold before the registry takes it. Each check gives the reason why not, in
// words that tell its author what to change; empty if nothing is wrong.
#ifndef HALYARD_REGISTRY_CHECK_DESCRIPTOR_H_
#define HALYARD_REGISTRY_CHECK_DESCRIPTOR_H_

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "halyard/kernel.h"

namespace halyard::registry {

/// Copies a descriptor by the size rule: fields that it lacks are 0, and what it has beyond those of
/// this Halyard must be 0. `min_bytes`: the size in ABI 1.0.
template <typename T>
std::string CopySized(const T* given, size_t min_bytes, T* out) {
  if (given == nullptr) return "is NULL";
  const size_t bytes = given->struct_size;
  if (bytes < min_bytes) {
    return absl::StrCat("has struct_size ", bytes, ", less than the ", min_bytes,
                        " bytes of ABI 1.0: set it to sizeof");
  }
  const auto* raw = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(T); i < bytes; ++i) {
    if (raw[i] != 0) {
      return absl::StrCat("uses fields beyond the ", sizeof(T),
                          " bytes that this Halyard knows: update Halyard, or leave them 0");
    }
  }
  std::memset(out, 0, sizeof(T));
  std::memcpy(out, given, bytes < sizeof(T) ? bytes : sizeof(T));
  out->struct_size = sizeof(T);
  return "";
}

/// 1 to 63 lower-case letters, digits, '_' and '.', the first a letter.
bool IsWord(absl::string_view text);

std::string CheckOp(const hy_op_desc& op);
std::string CheckLayout(const hy_layout_desc& layout, absl::string_view provider, bool built_in);
/// All that a kernel says of itself, against its op; whether layout and id are free or known is for
/// the registry.
std::string CheckKernel(const hy_kernel_desc& kernel, const hy_op_desc& op,
                        absl::string_view provider);

/// The types part of a kernel's id: "any", or one word for each TYPED operand of the op: "f32.any".
std::string TypesText(const hy_op_desc& op, const uint32_t types[HY_MAX_TYPES]);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_CHECK_DESCRIPTOR_H_
