// SPDX-License-Identifier: Apache-2.0
//
// Packed products for AVX-512 with VNNI.
#include "base/simd/tile_avx512.h"
#include "ops/matmul/packed.h"

HALYARD_KERNELS(HYK_PACKED_TABLE)
