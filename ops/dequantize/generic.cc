// SPDX-License-Identifier: Apache-2.0
#include "base/simd/blocks.h"
#include "base/simd/pieces.h"
#include "base/simd/scalar.h"
#include "ops/dequantize/contract.h"
#include "ops/kernel_table.h"

namespace {

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_dequantize_args* args = static_cast<const hy_dequantize_args*>(raw);
  const int64_t cols = args->x.shape[1];
  float values[HYK_PIECE];
  hyk_pieces piece = hyk_share(args->x.shape[0], cols, context);
  while (hyk_next(&piece)) {
    hyk_values(args->x.type, hy_tensor_row(&args->x, piece.row), cols, piece.first, piece.count,
               values);
    hyk_store_f32(args->y.type, hy_tensor_row(&args->y, piece.row), piece.first, piece.count,
                  values);
  }
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_DEQUANTIZE_VERSION,
    .id = "dequantize/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "dequantize",
    .types = {},
    .isa = HALYARD_LEVEL_ISA,
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_GENERIC + HALYARD_LEVEL_RANK,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = nullptr,
    .run = Run,
};

}  // namespace

HALYARD_KERNELS(&kGeneric)
