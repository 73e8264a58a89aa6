// SPDX-License-Identifier: Apache-2.0
//
// The best so far are a heap in the outputs, the worst of them at its root. Pieces of a row whose
// largest does not beat the root, most of them, are passed over in vectors; in the end the heap is
// taken apart from its root, which sorts it.
#include "base/simd/pieces.h"
#include "base/simd/softmax.h"
#include "ops/kernel_table.h"
#include "ops/top_k/contract.h"

namespace {

struct Heap {
  float* value;
  int32_t* id;
};

bool IsWorse(const Heap* heap, int64_t a, int64_t b) {
  if (heap->value[a] != heap->value[b]) return heap->value[a] < heap->value[b];
  return heap->id[a] > heap->id[b];
}

void Swap(const Heap* heap, int64_t a, int64_t b) {
  const float value = heap->value[a];
  const int32_t id = heap->id[a];
  heap->value[a] = heap->value[b];
  heap->id[a] = heap->id[b];
  heap->value[b] = value;
  heap->id[b] = id;
}

// Lets element `at` sink to its place among the first `size`.
void Sink(const Heap* heap, int64_t at, int64_t size) {
  for (int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && IsWorse(heap, child + 1, child)) ++child;
    if (!IsWorse(heap, child, at)) return;
    Swap(heap, at, child);
    at = child;
  }
}

// Elements come by rising columns, so one that only equals the root is worse than it.
void Offer(const Heap* heap, int64_t size, const float* v, int64_t first, int64_t count) {
  if (!(hyk_max_of(v, count) > heap->value[0])) return;
  for (int64_t i = 0; i < count; ++i) {
    if (!(v[i] > heap->value[0])) continue;
    heap->value[0] = v[i];
    heap->id[0] = (int32_t)(first + i);
    Sink(heap, 0, size);
  }
}

// The first `size` elements make the heap.
bool Begin(uint32_t type, const void* x, const Heap* heap, int64_t size) {
  hyk_load_f32(type, x, 0, size, heap->value);
  if (hyk_has_nan(heap->value, size)) return false;
  for (int64_t i = 0; i < size; ++i) heap->id[i] = (int32_t)i;
  for (int64_t i = size / 2; i-- > 0;) Sink(heap, i, size);
  return true;
}

void FillUp(const Heap* heap, int64_t first, int64_t k, float value) {
  for (int64_t j = first; j < k; ++j) {
    heap->value[j] = value;
    heap->id[j] = -1;
  }
}

// false for a row with a NaN.
bool TopK(uint32_t type, const void* x, int64_t n, int64_t k, const Heap* heap) {
  float v[HYK_PIECE];
  const int64_t size = hyk_least(k, n);
  if (!Begin(type, x, heap, size)) return false;
  for (int64_t first = size; first < n; first += HYK_PIECE) {
    const int64_t count = hyk_least(HYK_PIECE, n - first);
    hyk_load_f32(type, x, first, count, v);
    if (hyk_has_nan(v, count)) return false;
    Offer(heap, size, v, first, count);
  }
  for (int64_t left = size; left > 1; --left) {
    Swap(heap, 0, left - 1);
    Sink(heap, 0, left - 1);
  }
  FillUp(heap, size, k, hyk_lowest());
  return true;
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_top_k_args* args = static_cast<const hy_top_k_args*>(raw);
  const int64_t k = args->values.shape[1];
  hy_status status = HY_OK;
  int64_t begin;
  int64_t end;
  hy_split(args->x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && k > 0; ++row) {
    const Heap heap = {static_cast<float*>(hy_tensor_row(&args->values, row)),
                       static_cast<int32_t*>(hy_tensor_row(&args->ids, row))};
    if (TopK(args->x.type, hy_tensor_row(&args->x, row), args->x.shape[1], k, &heap)) continue;
    FillUp(&heap, 0, k, hyk_from_bits(0x7fc00000u));
    status = HY_INVALID_ARGUMENT;
  }
  return status;
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_TOP_K_VERSION,
    .id = "top_k/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "top_k",
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
