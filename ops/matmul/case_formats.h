// SPDX-License-Identifier: Apache-2.0
//
// What the cases of products have in common: the types that weights may have, and their blocks.
#ifndef HALYARD_OPS_MATMUL_CASE_FORMATS_H_
#define HALYARD_OPS_MATMUL_CASE_FORMATS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "halyard/tensor.h"

namespace halyard::ops {

inline constexpr uint32_t kProductWeights[] = {
    HY_TYPE_F32,  HY_TYPE_F16,  HY_TYPE_BF16, HY_TYPE_Q8_0, HY_TYPE_Q4_0,
    HY_TYPE_Q4_1, HY_TYPE_Q5_0, HY_TYPE_Q5_1, HY_TYPE_Q2_K, HY_TYPE_Q3_K,
    HY_TYPE_Q4_K, HY_TYPE_Q5_K, HY_TYPE_Q6_K, HY_TYPE_W8A8, HY_TYPE_W4A8_G128};

/// Columns that a case counts as one block: the format's own, or 32 where it has none.
inline int64_t CaseBlock(uint32_t w) {
  const uint32_t block = hy_type_facts(w)->block;
  return block == 1 || block == HY_BLOCK_ROW ? 32 : block;
}

/// Distribution of what is added to sums of products: such that exact sums stay exact.
inline absl::string_view AddendDist(absl::string_view dist) {
  return dist == "lossless" || dist == "lossless_asym" || dist == "walking" || dist == "onehot"
             ? "lossless"
             : "uniform";
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_MATMUL_CASE_FORMATS_H_
