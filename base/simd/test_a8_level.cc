// SPDX-License-Identifier: Apache-2.0
//
// The conversions and quantisers of base/simd at one ISA level: compiled once for each, under a name
// of its own.
#include "base/simd/a8.h"
#include "base/simd/blocks.h"

#define HALYARD_CAT_(a, b) a##b
#define HALYARD_CAT(a, b) HALYARD_CAT_(a, b)

extern "C" void HALYARD_CAT(halyard_test_a8_, HALYARD_LEVEL)(uint32_t a8_type, int asymmetric,
                                                             const hyk_a8_source* source,
                                                             void* record);
extern "C" void HALYARD_CAT(halyard_test_a8_, HALYARD_LEVEL)(uint32_t a8_type, int asymmetric,
                                                             const hyk_a8_source* source,
                                                             void* record) {
  hyk_a8_write(a8_type, asymmetric, source, record);
}

// Loads `count` numbers of one float type, and stores them as another.
extern "C" void HALYARD_CAT(halyard_test_convert_, HALYARD_LEVEL)(uint32_t from, const void* in,
                                                                  uint32_t to, void* out,
                                                                  int64_t count);
extern "C" void HALYARD_CAT(halyard_test_convert_, HALYARD_LEVEL)(uint32_t from, const void* in,
                                                                  uint32_t to, void* out,
                                                                  int64_t count) {
  float piece[HYK_A8_PIECE];
  for (int64_t at = 0; at < count; at += HYK_A8_PIECE) {
    const int64_t n = count - at < HYK_A8_PIECE ? count - at : HYK_A8_PIECE;
    hyk_load_f32(from, in, at, n, piece);
    hyk_store_f32(to, out, at, n, piece);
  }
}

// Decodes a row of `k` elements in pieces.
extern "C" void HALYARD_CAT(halyard_test_values_, HALYARD_LEVEL)(uint32_t type, const void* row,
                                                                 int64_t k, float* out);
extern "C" void HALYARD_CAT(halyard_test_values_, HALYARD_LEVEL)(uint32_t type, const void* row,
                                                                 int64_t k, float* out) {
  for (int64_t at = 0; at < k; at += HYK_A8_PIECE) {
    const int64_t n = k - at < HYK_A8_PIECE ? k - at : HYK_A8_PIECE;
    hyk_values(type, row, k, at, n, out + at);
  }
}
