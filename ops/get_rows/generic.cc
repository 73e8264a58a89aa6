// SPDX-License-Identifier: Apache-2.0
#include "base/simd/blocks.h"
#include "base/simd/pieces.h"
#include "base/simd/scalar.h"
#include "ops/get_rows/contract.h"
#include "ops/kernel_table.h"

namespace {

// Elements of a piece, moved where the types are equal, else decoded.
void Fetch(const hy_get_rows_args* args, int64_t row, const hyk_pieces* piece, void* out) {
  const hy_tensor* table = &args->table;
  const void* in = hy_tensor_row(table, row);
  float values[HYK_PIECE];
  if (table->type == args->y.type) {
    const uint64_t size = hy_type_facts(table->type)->block_bytes;
    memcpy((unsigned char*)out + (uint64_t)piece->first * size,
           (const unsigned char*)in + (uint64_t)piece->first * size, (uint64_t)piece->count * size);
    return;
  }
  hyk_values(table->type, in, table->shape[1], piece->first, piece->count, values);
  hyk_store_f32(args->y.type, out, piece->first, piece->count, values);
}

void Clear(uint32_t type, const hyk_pieces* piece, void* out) {
  const uint64_t size = hy_type_facts(type)->block_bytes;
  memset((unsigned char*)out + (uint64_t)piece->first * size, 0, (uint64_t)piece->count * size);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_get_rows_args* args = static_cast<const hy_get_rows_args*>(raw);
  const int32_t* rows = static_cast<const int32_t*>(args->rows.data);
  hyk_pieces piece = hyk_share(args->y.shape[0], args->y.shape[1], context);
  hy_status status = HY_OK;
  while (hyk_next(&piece)) {
    const int64_t row = rows[piece.row];
    void* out = hy_tensor_row(&args->y, piece.row);
    if (row >= 0 && row < args->table.shape[0]) {
      Fetch(args, row, &piece, out);
    } else {
      Clear(args->y.type, &piece, out);
      status = HY_OUT_OF_RANGE;
    }
  }
  return status;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_GET_ROWS_VERSION,
    .id = "get_rows/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "get_rows",
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
