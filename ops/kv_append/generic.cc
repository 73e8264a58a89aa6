// SPDX-License-Identifier: Apache-2.0
//
// Each row of each head by itself: moved where types are equal, else through f32 in pieces that stay
// in the first cache. Work is cut by rows and heads, so that one row still serves several workers.
#include "base/simd/q8_0.h"
#include "ops/kernel_table.h"
#include "ops/kv_append/contract.h"

namespace {

constexpr int64_t kPiece = 256;  // whole blocks of q8_0

void EncodeBlocks(const float* x, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; i += HYK_Q8_0_BLOCK, out += HYK_Q8_0_BYTES)
    hyk_encode_q8_0(x + i, out);
}

void Convert(uint32_t from, const void* x, uint32_t to, void* out, int64_t dim) {
  if (from == to) {
    memcpy(out, x, (size_t)hy_type_row_bytes(from, dim));
    return;
  }
  float piece[kPiece];
  for (int64_t first = 0; first < dim; first += kPiece) {
    const int64_t count = dim - first < kPiece ? dim - first : kPiece;
    hyk_load_f32(from, x, first, count, piece);
    if (to == HY_TYPE_Q8_0) {
      EncodeBlocks(piece, count,
                   static_cast<uint8_t*>(out) + first / HYK_Q8_0_BLOCK * HYK_Q8_0_BYTES);
    } else {
      hyk_store_f32(to, out, first, count, piece);
    }
  }
}

void Append(const hy_tensor* from, int64_t row, int64_t head, const hy_tensor* pages,
            int64_t slot) {
  const int64_t page = pages->shape[2];
  const unsigned char* x = static_cast<const unsigned char*>(from->data) + row * from->stride[0] +
                           head * from->stride[1];
  unsigned char* out = static_cast<unsigned char*>(pages->data) + slot / page * pages->stride[0] +
                       head * pages->stride[1] + slot % page * pages->stride[2];
  Convert(from->type, x, pages->type, out, from->shape[2]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_kv_append_args* args = static_cast<const hy_kv_append_args*>(raw);
  const int32_t* slots = static_cast<const int32_t*>(args->slots.data);
  const int64_t heads = args->k.shape[1];
  const int64_t slot_count = args->k_pages.shape[0] * args->k_pages.shape[2];
  hy_status status = HY_OK;
  int64_t begin;
  int64_t end;
  if (args->k.shape[2] == 0) return HY_OK;
  hy_split(args->k.shape[0] * heads, 1, context->index, context->count, &begin, &end);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t slot = slots[i / heads];
    if (slot >= slot_count) status = HY_OUT_OF_RANGE;
    if (slot < 0 || slot >= slot_count) continue;
    Append(&args->k, i / heads, i % heads, &args->k_pages, slot);
    Append(&args->v, i / heads, i % heads, &args->v_pages, slot);
  }
  return status;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_KV_APPEND_VERSION,
    .id = "kv_append/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "kv_append",
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
