// SPDX-License-Identifier: Apache-2.0
//
// Block formats of weights and quantised activations: decoders and packers of our own, plain loops,
// right on every byte order. Layouts are in docs/formats.md; types in halyard/tensor.h.
#ifndef HALYARD_BASE_QUANT_FORMAT_H_
#define HALYARD_BASE_QUANT_FORMAT_H_

#include <cstdint>

namespace halyard::quant {

/// Decodes a row of `k` elements of any type but i32, exactly: every value of every format is a
/// double. `k` is whole blocks; `row` may be unaligned for weight formats.
void DecodeRow(uint32_t type, const void* row, int64_t k, double* out);

/// As DecodeRow, each value rounded once to f32.
void DecodeRowF32(uint32_t type, const void* row, int64_t k, float* out);

/// Encodes a row, from f32, by the format's rule (docs/formats.md says each: how the scale is found
/// and codes are rounded). For float types: rounds to nearest even. All bytes of the row are written.
/// A block without a non-zero finite amplitude gives scale 0 and codes for 0; a block of a weight format with a
/// NaN or Inf gives a NaN scale. Deterministic; the same bits on every target.
void EncodeRow(uint32_t type, const float* in, int64_t k, void* row);

/// Codes of one row of activations, as `quantize` to a8_b32, a8_b256, a8_token and as matmul kernels
/// of the class that it serves must make them. Writes a whole row record (hy_type_row_bytes).
///   symmetric (blocks, token):  a = max |x|; if a < 2^-120: scale 0, codes 0; if a is not finite or
///   x has a NaN: scale NaN, codes 0. Else, in f32: scale = a / 127, inverse = 127 / a,
///   code = x * inverse rounded to nearest even (so within -127..127).
///   asymmetric (token): lo = min(0, min x), hi = max(0, max x); r = hi - lo in f32; if r < 2^-120 or
///   not finite as above. Else scale = r / 255, inverse = 255 / r,
///   zero = -128 - round(lo * inverse), clamped to -128..127; code = round(x * inverse) + zero, clamped.
void QuantizeActivations(uint32_t a8_type, bool asymmetric, const float* in, int64_t k, void* row);

}  // namespace halyard::quant

#endif  // HALYARD_BASE_QUANT_FORMAT_H_
