// SPDX-License-Identifier: Apache-2.0
//
// Two passes over a row for its maximum and its sum, one over what is asked for.
#include "base/simd/pieces.h"
#include "base/simd/softmax.h"
#include "ops/kernel_table.h"
#include "ops/log_softmax/contract.h"

namespace {

// What is taken off every element of a row.
struct Shift {
  float most;
  float log_sum;
};

Shift ShiftOf(uint32_t type, const void* x, int64_t n) {
  float v[HYK_PIECE];
  float lane[HYK_LANES];
  Shift shift;
  hyk_max_begin(lane);
  for (int64_t first = 0; first < n; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, n - first);
    hyk_load_f32(type, x, first, count, v);
    hyk_max_add(v, count, lane);
  }
  shift.most = hyk_max_end(lane);
  for (int j = 0; j < HYK_LANES; ++j) lane[j] = 0.0f;
  for (int64_t first = 0; first < n; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, n - first);
    hyk_load_f32(type, x, first, count, v);
    hyk_exp_add(v, count, shift.most, v, lane);
  }
  shift.log_sum = hyk_log(hyk_sum_lanes(lane));
  return shift;
}

void StoreAll(uint32_t type, const void* x, int64_t n, Shift shift, float* y) {
  float v[HYK_PIECE];
  for (int64_t first = 0; first < n; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, n - first);
    hyk_load_f32(type, x, first, count, v);
    for (int64_t i = 0; i < count; ++i) y[first + i] = (v[i] - shift.most) - shift.log_sum;
  }
}

hy_status StoreNamed(const hy_log_softmax_args* args, const void* x, const int32_t* ids,
                     Shift shift, float* y) {
  hy_status status = HY_OK;
  for (int64_t j = 0; j < args->ids.shape[1]; ++j) {
    y[j] = hyk_lowest();
    if (ids[j] >= args->x.shape[1]) {
      status = HY_OUT_OF_RANGE;
    } else if (ids[j] >= 0) {
      float v;
      hyk_load_f32(args->x.type, x, ids[j], 1, &v);
      y[j] = (v - shift.most) - shift.log_sum;
    }
  }
  return status;
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_log_softmax_args* args = static_cast<const hy_log_softmax_args*>(raw);
  if (args->y.shape[1] == 0) return HY_OK;
  hy_status status = HY_OK;
  int64_t begin;
  int64_t end;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    const void* x = hy_tensor_row(&args->x, row);
    float* y = static_cast<float*>(hy_tensor_row(&args->y, row));
    const Shift shift = ShiftOf(args->x.type, x, args->x.shape[1]);
    if (hy_tensor_present(&args->ids)) {
      const int32_t* ids = static_cast<const int32_t*>(hy_tensor_row(&args->ids, row));
      if (StoreNamed(args, x, ids, shift, y) != HY_OK) status = HY_OUT_OF_RANGE;
    } else {
      StoreAll(args->x.type, x, args->x.shape[1], shift, y);
    }
  }
  return status;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_LOG_SOFTMAX_VERSION,
    .id = "log_softmax/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "log_softmax",
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
