// SPDX-License-Identifier: Apache-2.0
//
// Token by token: a piece of the token's cosines and sines is put apart, then turns all heads.
#include <string.h>

#include "base/simd/pieces.h"
#include "base/simd/scalar.h"
#include "ops/kernel_table.h"
#include "ops/rope/contract.h"

namespace {

constexpr int64_t kPairs = 128;  // at a time

struct Angles {
  int64_t first;  // pair
  int64_t count;
  float cosine[kPairs];
  float sine[kPairs];
};

void* RowOf(const hy_tensor* t, int64_t token, int64_t head) {
  return static_cast<unsigned char*>(t->data) + token * t->stride[0] + head * t->stride[1];
}

void LoadAngles(const hy_tensor* table, int64_t position, int64_t first, int64_t count,
                Angles* angles) {
  const float* row = static_cast<const float*>(RowOf(table, position, first));
  const int64_t step = table->stride[1] / (int64_t)sizeof(float);
  angles->first = first;
  angles->count = count;
  for (int64_t i = 0; i < count; ++i) {
    angles->cosine[i] = row[i * step];
    angles->sine[i] = row[i * step + 1];
  }
}

void TurnSplit(uint32_t type, const void* x, void* y, int64_t pairs, const Angles* angles) {
  float a[kPairs];
  float b[kPairs];
  const int64_t count = angles->count;
  hyk_load_f32(type, x, angles->first, count, a);
  hyk_load_f32(type, x, pairs + angles->first, count, b);
  for (int64_t i = 0; i < count; ++i) {
    const float turned = a[i] * angles->cosine[i] - b[i] * angles->sine[i];
    b[i] = a[i] * angles->sine[i] + b[i] * angles->cosine[i];
    a[i] = turned;
  }
  hyk_store_f32(type, y, angles->first, count, a);
  hyk_store_f32(type, y, pairs + angles->first, count, b);
}

void TurnInterleaved(uint32_t type, const void* x, void* y, const Angles* angles) {
  float pair[2 * kPairs];
  const int64_t count = angles->count;
  hyk_load_f32(type, x, 2 * angles->first, 2 * count, pair);
  for (int64_t i = 0; i < count; ++i) {
    const float a = pair[2 * i];
    const float b = pair[2 * i + 1];
    pair[2 * i] = a * angles->cosine[i] - b * angles->sine[i];
    pair[2 * i + 1] = a * angles->sine[i] + b * angles->cosine[i];
  }
  hyk_store_f32(type, y, 2 * angles->first, 2 * count, pair);
}

// Copies what is not turned: elements from `first` on.
void CopyRest(const hy_rope_args* args, int64_t token, int64_t head, int64_t first) {
  const uint64_t element = hy_type_facts(args->x.type)->block_bytes;
  const uint64_t skipped = (uint64_t)first * element;
  const uint64_t bytes = (uint64_t)args->x.shape[2] * element - skipped;
  if (args->x.data == args->y.data || bytes == 0) return;
  memcpy(static_cast<unsigned char*>(RowOf(&args->y, token, head)) + skipped,
         static_cast<const unsigned char*>(RowOf(&args->x, token, head)) + skipped, bytes);
}

void TurnToken(const hy_rope_args* args, int64_t token, int64_t position, int64_t begin,
               int64_t end) {
  const int64_t pairs = args->table.shape[1];
  Angles angles;
  for (int64_t first = 0; first < pairs; first += kPairs) {
    LoadAngles(&args->table, position, first, hyk_least(kPairs, pairs - first), &angles);
    for (int64_t head = begin; head < end; ++head) {
      const void* x = RowOf(&args->x, token, head);
      void* y = RowOf(&args->y, token, head);
      if (args->mode == HY_ROPE_SPLIT) {
        TurnSplit(args->x.type, x, y, pairs, &angles);
      } else {
        TurnInterleaved(args->x.type, x, y, &angles);
      }
    }
  }
  for (int64_t head = begin; head < end; ++head) CopyRest(args, token, head, 2 * pairs);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_rope_args* args = static_cast<const hy_rope_args*>(raw);
  const int32_t* positions = static_cast<const int32_t*>(args->positions.data);
  const int64_t heads = args->x.shape[1];
  if (args->x.shape[2] == 0) return HY_OK;
  hy_status status = HY_OK;
  int64_t row;
  int64_t last;
  hy_split(args->x.shape[0] * heads, 1, context->index, context->count, &row, &last);
  while (row < last) {
    const int64_t token = row / heads;
    const int64_t begin = row % heads;
    const int64_t end = hyk_least(heads, begin + last - row);
    const int64_t position = positions[token];
    if (position >= 0 && position < args->table.shape[0]) {
      TurnToken(args, token, position, begin, end);
    } else {
      for (int64_t head = begin; head < end; ++head) CopyRest(args, token, head, 0);
      status = HY_OUT_OF_RANGE;
    }
    row += end - begin;
  }
  return status;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ROPE_VERSION,
    .id = "rope/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "rope",
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
