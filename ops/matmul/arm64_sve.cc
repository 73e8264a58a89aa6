// SPDX-License-Identifier: Apache-2.0
//
// Packed products for SVE, of any vector length.
#include "base/simd/tile_sve.h"
#include "ops/matmul/packed.h"

HALYARD_KERNELS(HYK_PACKED_TABLE)
