// SPDX-License-Identifier: Apache-2.0
//
// Plain loops over chunks of a row that stay in the first cache: sums in 64 lanes, then one pass that
// scales. Rows are shared out in order, so a row's bits depend on nothing else.
#include <math.h>

#include "base/simd/pieces.h"
#include "base/simd/reduce.h"
#include "base/simd/row_store.h"
#include "ops/kernel_table.h"
#include "ops/rmsnorm/contract.h"

namespace {

struct Row {
  int64_t index;
  const void* x;
  const void* add;  // NULL: none
  void* sum;        // NULL: none
};

// Elements [first, first + count) of what is normalised, in f32.
void LoadSum(const hy_rmsnorm_args* args, const Row* row, int64_t first, int64_t count, float* s) {
  float add[HYK_PIECE];
  hyk_load_f32(args->x.type, row->x, first, count, s);
  if (row->add == nullptr) return;
  hyk_load_f32(args->add.type, row->add, first, count, add);
  for (int64_t i = 0; i < count; ++i) s[i] += add[i];
}

float Scale(const hy_rmsnorm_args* args, const Row* row, int64_t cols) {
  float lane[HYK_LANES] = {0};
  float s[HYK_PIECE];
  for (int64_t first = 0; first < cols; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, cols - first);
    LoadSum(args, row, first, count, s);
    if (row->sum != nullptr) {
      hyk_store_f32(args->sum.type, row->sum, first, count, s);
      hyk_load_f32(args->sum.type, row->sum, first, count, s);
    }
    hyk_add_squares(s, count, lane);
  }
  return 1.0f / sqrtf(hyk_sum_lanes(lane) / (float)cols + args->eps);
}

void Normalise(const hy_rmsnorm_args* args, const Row* row, float scale,
               const hy_kernel_context* context) {
  const int64_t cols = args->x.shape[1];
  const float* w = static_cast<const float*>(args->w.data);
  float s[HYK_PIECE];
  for (int64_t first = 0; first < cols; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, cols - first);
    if (row->sum != nullptr) {
      hyk_load_f32(args->sum.type, row->sum, first, count, s);
    } else {
      LoadSum(args, row, first, count, s);
    }
    for (int64_t i = 0; i < count; ++i) s[i] *= scale;
    if (hy_tensor_present(&args->w)) {
      for (int64_t i = 0; i < count; ++i) s[i] *= w[first + i];
    }
    hyk_store_piece(&args->y, row->index, first, count, s, context);
  }
  hyk_finish_row(&args->y, row->index, context);
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return workers * hyk_row_scratch(&static_cast<const hy_rmsnorm_args*>(raw)->y);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_rmsnorm_args* args = static_cast<const hy_rmsnorm_args*>(raw);
  const int64_t cols = hy_tensor_cols(&args->x);
  int64_t begin;
  int64_t end;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t r = begin; r < end && cols > 0; ++r) {
    const Row row = {r, hy_tensor_row(&args->x, r),
                     hy_tensor_present(&args->add) ? hy_tensor_row(&args->add, r) : nullptr,
                     hy_tensor_present(&args->sum) ? hy_tensor_row(&args->sum, r) : nullptr};
    Normalise(args, &row, Scale(args, &row, cols), context);
  }
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_RMSNORM_VERSION,
    .id = "rmsnorm/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "rmsnorm",
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
