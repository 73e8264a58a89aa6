// SPDX-License-Identifier: Apache-2.0
#include "base/simd/pieces.h"
#include "base/simd/scalar.h"
#include "ops/cast/contract.h"
#include "ops/kernel_table.h"

namespace {

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_cast_args* args = static_cast<const hy_cast_args*>(raw);
  const hy_tensor* x = &args->x;
  const hy_tensor* y = &args->y;
  const uint64_t size = hy_type_facts(x->type)->block_bytes;
  float values[HYK_PIECE];
  if (x->data == y->data) return HY_OK;
  hyk_pieces piece = hyk_share(hy_tensor_rows(x), hy_tensor_cols(x), context);
  while (hyk_next(&piece)) {
    const unsigned char* in = static_cast<const unsigned char*>(hy_tensor_row(x, piece.row));
    unsigned char* out = static_cast<unsigned char*>(hy_tensor_row(y, piece.row));
    if (x->type == y->type) {
      memcpy(out + (uint64_t)piece.first * size, in + (uint64_t)piece.first * size,
             (uint64_t)piece.count * size);
    } else {
      hyk_load_f32(x->type, in, piece.first, piece.count, values);
      hyk_store_f32(y->type, out, piece.first, piece.count, values);
    }
  }
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_CAST_VERSION,
    .id = "cast/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "cast",
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
