// SPDX-License-Identifier: Apache-2.0
//
// Packed products for AArch64 with 8-bit matrix products.
#define HYK_I8MM
#include "base/simd/tile_neon.h"
#include "ops/matmul/packed.h"

HALYARD_KERNELS(HYK_PACKED_TABLE)
