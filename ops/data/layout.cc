// SPDX-License-Identifier: Apache-2.0
#include "ops/data/layout.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace halyard::ops {
namespace {

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool ParseBytes(absl::string_view part, absl::string_view prefix, int64_t* out) {
  return absl::ConsumePrefix(&part, prefix) && absl::SimpleAtoi(part, out) && *out >= 0 &&
         *out <= 65536;
}

}  // namespace

absl::StatusOr<Lay> ParseLay(absl::string_view text) {
  Lay lay;
  for (const absl::string_view part : absl::StrSplit(text, '+')) {
    if (part == "dense" && text == part) continue;
    if (part == "inplace") {
      lay.in_place = true;
    } else if (part == "packed") {
      lay.packed = true;
    } else if (part == "far") {
      lay.far = true;
    } else if (!ParseBytes(part, "pad", &lay.gap_bytes) &&
               !ParseBytes(part, "off", &lay.offset_bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("lay=", text, ": '", part,
                       "' is none of dense, padN, offN, inplace, packed, far, joined by '+'"));
    }
  }
  return lay;
}

int64_t TypeAlignment(uint32_t type) {
  if (hy_type_is_a8(type)) return 4;
  return hy_type_is_weights(type) ? 1 : static_cast<int64_t>(hy_type_facts(type)->block_bytes);
}

hy_tensor PlaceTensor(uint32_t type, absl::Span<const int64_t> shape, const Lay& lay) {
  const auto rank = static_cast<uint32_t>(shape.size());
  hy_tensor tensor = hy_tensor_dense(nullptr, type, rank, shape.data());
  const int64_t gap = RoundUp(lay.gap_bytes, TypeAlignment(type));
  for (uint32_t i = rank < 2 ? 0 : rank - 1; i-- > 0;) {
    int64_t inner = i + 2 == rank
                        ? static_cast<int64_t>(hy_type_row_bytes(type, tensor.shape[rank - 1]))
                        : tensor.stride[i + 1] * std::max<int64_t>(1, tensor.shape[i + 1]);
    tensor.stride[i] = inner + gap;
    if (i == 0 && lay.far && shape[0] <= kMostFar && inner < kFarStride) {
      tensor.stride[i] = kFarStride;
    }
  }
  return tensor;
}

int64_t BaseOffset(uint32_t type, const Lay& lay) {
  return RoundUp(lay.offset_bytes, TypeAlignment(type));
}

uint64_t SpanBytes(const hy_tensor& tensor) {
  uint64_t end = hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor));
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] <= 0) return 0;
    if (i + 1 < tensor.rank) {
      end += static_cast<uint64_t>(tensor.shape[i] - 1) * static_cast<uint64_t>(tensor.stride[i]);
    }
  }
  return end;
}

}  // namespace halyard::ops
