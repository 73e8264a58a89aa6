// SPDX-License-Identifier: Apache-2.0
//
// A row of scores is kept as f32 where y will lie, or in scratch if y is narrower; three passes over
// it: scores and maximum, exponentials and sum, division.
#include "base/simd/pieces.h"
#include "base/simd/softmax.h"
#include "ops/kernel_table.h"
#include "ops/softmax/contract.h"

namespace {

// Scores of a row; gives the largest.
float LoadScores(const hy_softmax_args* args, int64_t row, float* t) {
  const void* x = hy_tensor_row(&args->x, row);
  const int64_t cols = args->x.shape[1];
  const float* mask = nullptr;
  if (hy_tensor_present(&args->mask)) {
    mask =
        static_cast<const float*>(hy_tensor_row(&args->mask, args->mask.shape[0] == 1 ? 0 : row));
  }
  float lane[HYK_LANES];
  hyk_max_begin(lane);
  for (int64_t first = 0; first < cols; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, cols - first);
    float* piece = t + first;
    hyk_load_f32(args->x.type, x, first, count, piece);
    for (int64_t i = 0; i < count; ++i) piece[i] *= args->scale;
    if (mask != nullptr) {
      for (int64_t i = 0; i < count; ++i) piece[i] += mask[first + i];
    }
    hyk_max_add(piece, count, lane);
  }
  return hyk_max_end(lane);
}

// Exponentials of a row; gives what they are to be multiplied with.
float Exponentials(float* t, int64_t cols, float most) {
  if (most == hyk_lowest()) {
    const float all = hyk_has_nan(t, cols) ? hyk_from_bits(0x7fc00000u) : 0.0f;
    for (int64_t i = 0; i < cols; ++i) t[i] = all;
    return 1.0f;
  }
  float lane[HYK_LANES] = {0};
  hyk_exp_add(t, cols, most, t, lane);
  return 1.0f / hyk_sum_lanes(lane);
}

uint64_t RowBytes(const hy_softmax_args* args) {
  return args->y.type == HY_TYPE_F32 ? 0 : hy_round_up((uint64_t)args->x.shape[1] * 4u, 64);
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return workers * RowBytes(static_cast<const hy_softmax_args*>(raw));
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_softmax_args* args = static_cast<const hy_softmax_args*>(raw);
  const int64_t cols = args->x.shape[1];
  const bool direct = args->y.type == HY_TYPE_F32;
  unsigned char* scratch = static_cast<unsigned char*>(context->scratch);
  int64_t begin;
  int64_t end;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row) {
    void* y = hy_tensor_row(&args->y, row);
    float* t = static_cast<float*>(direct ? y : scratch + context->index * RowBytes(args));
    const float factor = Exponentials(t, cols, LoadScores(args, row, t));
    for (int64_t i = 0; i < cols; ++i) t[i] *= factor;
    if (!direct) hyk_store_f32(args->y.type, y, 0, cols, t);
  }
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_SOFTMAX_VERSION,
    .id = "softmax/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "softmax",
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
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace

HALYARD_KERNELS(&kGeneric)
