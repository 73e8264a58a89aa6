// SPDX-License-Identifier: Apache-2.0
//
// Whatever is accepted as an image can be read and drawn, and a capture of it is the same machine.
#include <cstddef>
#include <cstdint>
#include <string>

#include "hal/system_view.h"
#include "hal/topology.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using halyard::hal::DrawTopology;
  using halyard::hal::ParseSystemImage;
  using halyard::hal::ReadTopology;
  const auto view = ParseSystemImage(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!view.ok()) return 0;
  const std::string drawn = DrawTopology(ReadTopology(**view, true));
  const auto copy = ParseSystemImage(halyard::hal::CaptureSystemImage(**view, "copy"));
  if (!copy.ok() || DrawTopology(ReadTopology(**copy, true)) != drawn) __builtin_trap();
  return 0;
}
