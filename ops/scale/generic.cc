// SPDX-License-Identifier: Apache-2.0
#include "base/simd/pieces.h"
#include "base/simd/scalar.h"
#include "ops/kernel_table.h"
#include "ops/scale/contract.h"

namespace {

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_scale_args* args = static_cast<const hy_scale_args*>(raw);
  const hy_tensor* x = &args->x;
  const hy_tensor* y = &args->y;
  const float factor = args->factor;
  float values[HYK_PIECE];
  hyk_pieces piece = hyk_share(hy_tensor_rows(x), hy_tensor_cols(x), context);
  while (hyk_next(&piece)) {
    hyk_load_f32(x->type, hy_tensor_row(x, piece.row), piece.first, piece.count, values);
    for (int64_t i = 0; i < piece.count; ++i) values[i] *= factor;
    hyk_store_f32(y->type, hy_tensor_row(y, piece.row), piece.first, piece.count, values);
  }
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_SCALE_VERSION,
    .id = "scale/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "scale",
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
