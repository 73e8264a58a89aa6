// SPDX-License-Identifier: Apache-2.0
//
// The largest of each piece of a row in vectors; only the piece that holds the row's is looked through
// for its place.
#include "base/simd/pieces.h"
#include "base/simd/softmax.h"
#include "ops/argmax/contract.h"
#include "ops/kernel_table.h"

namespace {

// Place of the first element that is `most`, from `first` on; it is there.
int32_t PlaceOf(uint32_t type, const void* x, int64_t first, int64_t n, float most) {
  float v[HYK_PIECE];
  const int64_t count = hyk_least(HYK_PIECE, n - first);
  hyk_load_f32(type, x, first, count, v);
  int64_t i = 0;
  while (i + 1 < count && v[i] != most) ++i;
  return (int32_t)(first + i);
}

// -1 for a row with a NaN, or without elements.
int32_t Argmax(uint32_t type, const void* x, int64_t n) {
  float v[HYK_PIECE];
  float most = hyk_lowest();
  int64_t best = 0;  // the piece's first element
  for (int64_t first = 0; first < n; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, n - first);
    hyk_load_f32(type, x, first, count, v);
    if (hyk_has_nan(v, count)) return -1;
    const float here = hyk_max_of(v, count);
    if (here > most) {
      most = here;
      best = first;
    }
  }
  return n == 0 ? -1 : PlaceOf(type, x, best, n, most);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_argmax_args* args = static_cast<const hy_argmax_args*>(raw);
  const int64_t n = args->x.shape[1];
  int32_t* y = static_cast<int32_t*>(args->y.data);
  hy_status status = HY_OK;
  int64_t begin;
  int64_t end;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    y[row] = Argmax(args->x.type, hy_tensor_row(&args->x, row), n);
    if (y[row] < 0 && n > 0) status = HY_INVALID_ARGUMENT;
  }
  return status;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ARGMAX_VERSION,
    .id = "argmax/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "argmax",
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
