// SPDX-License-Identifier: Apache-2.0
//
// How a case's tensors lie in memory: what Case::lay says, and the strides that follow.
#ifndef HALYARD_OPS_DATA_LAYOUT_H_
#define HALYARD_OPS_DATA_LAYOUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "halyard/tensor.h"

namespace halyard::ops {

struct Lay {
  int64_t gap_bytes = 0;     ///< padN: between rows, and once more between outer axes
  int64_t offset_bytes = 0;  ///< offN: of the base from 64-byte alignment
  bool in_place = false;
  bool packed = false;
  /// far: neighbours along the outermost axis lie more than 2^31 bytes apart, where that axis has no
  /// more than kMostFar; for memory that is reserved but not backed.
  bool far = false;
};
inline constexpr int64_t kMostFar = 6;
inline constexpr int64_t kFarStride = (int64_t{1} << 31) + 4096;

/// Errors   INVALID_ARGUMENT: neither "dense" nor parts of the above joined by '+'.
absl::StatusOr<Lay> ParseLay(absl::string_view text);

/// Alignment in bytes that a type's rows need.
int64_t TypeAlignment(uint32_t type);

/// A tensor without memory: strides by `lay`, gaps rounded up to what the type's alignment needs.
hy_tensor PlaceTensor(uint32_t type, absl::Span<const int64_t> shape, const Lay& lay);

/// Offset of the base by `lay`, rounded up to the type's alignment.
int64_t BaseOffset(uint32_t type, const Lay& lay);

/// Bytes from the base to the end of the last row; 0 for a tensor without elements.
uint64_t SpanBytes(const hy_tensor& tensor);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_LAYOUT_H_
