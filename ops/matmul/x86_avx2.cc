// SPDX-License-Identifier: Apache-2.0
//
// Packed products for AVX2, FMA and F16C.
#include "base/simd/tile_avx2.h"
#include "ops/matmul/packed.h"

HALYARD_KERNELS(HYK_PACKED_TABLE)
