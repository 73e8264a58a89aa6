// SPDX-License-Identifier: Apache-2.0
//
// Whatever is accepted as a list is written, and read back, as the same list.
#include <cstddef>
#include <cstdint>

#include "base/cpu_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto ids =
      halyard::ParseCpuList(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!ids.ok()) return 0;
  const auto again = halyard::ParseCpuList(halyard::FormatCpuList(*ids));
  if (!again.ok() || *again != *ids) __builtin_trap();
  return 0;
}
