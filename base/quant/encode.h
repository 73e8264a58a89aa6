// SPDX-License-Identifier: Apache-2.0
//
// The families of packers behind EncodeRow: each chooses scales and codes for one block of finite
// numbers, not all zero.
#ifndef HALYARD_BASE_QUANT_ENCODE_H_
#define HALYARD_BASE_QUANT_ENCODE_H_

#include <cstdint>

#include "base/quant/pack.h"

namespace halyard::quant {

/// q8_0, w8a8: the largest magnitude is code 127.
void ChooseByLargest(uint32_t type, const float* x, int64_t k, BlockScales* scales, int8_t* codes);
/// q4_0, q5_0, w4a8_g128.
void ChooseScale(uint32_t type, const float* x, int64_t k, BlockScales* scales, int8_t* codes);
/// q4_1, q5_1.
void ChooseScaleAndOffset(uint32_t type, const float* x, int64_t k, BlockScales* scales,
                          int8_t* codes);
/// q2_K, q4_K, q5_K.
void ChooseWithMinimums(uint32_t type, const float* x, BlockScales* scales, int8_t* codes);
/// q3_K, q6_K.
void ChooseSigned(uint32_t type, const float* x, BlockScales* scales, int8_t* codes);

}  // namespace halyard::quant

#endif  // HALYARD_BASE_QUANT_ENCODE_H_
