// SPDX-License-Identifier: Apache-2.0
//
// Three passes over a row, piece by piece: the mean, the deviations' squares, the output.
#include <math.h>

#include "base/simd/pieces.h"
#include "base/simd/reduce.h"
#include "base/simd/row_store.h"
#include "ops/kernel_table.h"
#include "ops/layernorm/contract.h"

namespace {

float MeanOf(const hy_tensor* x, const void* row) {
  const int64_t cols = x->shape[1];
  float lane[HYK_LANES] = {0};
  float v[HYK_PIECE];
  for (int64_t first = 0; first < cols; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, cols - first);
    hyk_load_f32(x->type, row, first, count, v);
    hyk_add_values(v, count, lane);
  }
  return hyk_sum_lanes(lane) / (float)cols;
}

// Elements [first, first + count) less the mean.
void LoadDeviations(const hy_tensor* x, const void* row, int64_t first, int64_t count, float mean,
                    float* d) {
  hyk_load_f32(x->type, row, first, count, d);
  for (int64_t i = 0; i < count; ++i) d[i] -= mean;
}

float ScaleOf(const hy_layernorm_args* args, const void* row, float mean) {
  const int64_t cols = args->x.shape[1];
  float lane[HYK_LANES] = {0};
  float d[HYK_PIECE];
  for (int64_t first = 0; first < cols; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, cols - first);
    LoadDeviations(&args->x, row, first, count, mean, d);
    hyk_add_squares(d, count, lane);
  }
  return 1.0f / sqrtf(hyk_sum_lanes(lane) / (float)cols + args->eps);
}

void NormaliseRow(const hy_layernorm_args* args, int64_t row, const hy_kernel_context* context) {
  const void* x = hy_tensor_row(&args->x, row);
  const int64_t cols = args->x.shape[1];
  const float* w = static_cast<const float*>(args->w.data);
  const float* b = static_cast<const float*>(args->b.data);
  const float mean = MeanOf(&args->x, x);
  const float scale = ScaleOf(args, x, mean);
  float d[HYK_PIECE];
  for (int64_t first = 0; first < cols; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, cols - first);
    LoadDeviations(&args->x, x, first, count, mean, d);
    for (int64_t i = 0; i < count; ++i) d[i] *= scale;
    if (hy_tensor_present(&args->w)) {
      for (int64_t i = 0; i < count; ++i) d[i] *= w[first + i];
    }
    if (hy_tensor_present(&args->b)) {
      for (int64_t i = 0; i < count; ++i) d[i] += b[first + i];
    }
    hyk_store_piece(&args->y, row, first, count, d, context);
  }
  hyk_finish_row(&args->y, row, context);
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return workers * hyk_row_scratch(&static_cast<const hy_layernorm_args*>(raw)->y);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_layernorm_args* args = static_cast<const hy_layernorm_args*>(raw);
  int64_t begin;
  int64_t end;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && args->x.shape[1] > 0; ++row)
    NormaliseRow(args, row, context);
  return HY_OK;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_LAYERNORM_VERSION,
    .id = "layernorm/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "layernorm",
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
