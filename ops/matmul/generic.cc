// SPDX-License-Identifier: Apache-2.0
//
// Plain loops for every type and class (generic_rows.h), for canonical weights. Phase 0 stores x as
// its class says, unless it is so already; phase 1 shares out columns, kColumns at a time, whose
// weights are decoded once for all rows.
#include "ops/kernel_table.h"
#include "ops/matmul/contract.h"
#include "ops/matmul/generic_rows.h"

namespace {

template <uint32_t kActivation>
Recipe RecipeOf(const hy_matmul_args* args) {
  return {kActivation, args->x.type, args->w.type, hy_tensor_cols(&args->x)};
}

int64_t InputBytes(const hy_matmul_args* args, const Recipe& recipe) {
  return ReadsInPlace(recipe) ? 0 : hy_tensor_rows(&args->x) * StoredBytes(recipe);
}

template <uint32_t kActivation>
uint64_t Scratch(const void* raw, uint32_t workers) {
  const hy_matmul_args* args = static_cast<const hy_matmul_args*>(raw);
  const Recipe recipe = RecipeOf<kActivation>(args);
  return static_cast<uint64_t>(InputBytes(args, recipe) +
                               static_cast<int64_t>(workers) * kColumns * DecodedBytes(recipe));
}

void StoreInputs(const hy_matmul_args* args, const Recipe& recipe,
                 const hy_kernel_context* context) {
  if (ReadsInPlace(recipe)) return;
  int64_t row;
  int64_t end;
  while (hy_claim(context, hy_tensor_rows(&args->x), 1, &row, &end) != 0) {
    StoreInput(recipe, hy_tensor_row(&args->x, row),
               static_cast<uint8_t*>(context->scratch) + row * StoredBytes(recipe));
  }
}

// Rows of x and y that share weights, and those weights' first row.
struct Group {
  int64_t row;
  int64_t rows;
  int64_t weights;
};

// Columns [column, column + count) of y.
void Columns(const hy_matmul_args* args, const Recipe& recipe, const hy_kernel_context* context,
             const Group& group, int64_t column, int64_t count) {
  const uint8_t* stored = static_cast<const uint8_t*>(context->scratch);
  uint8_t* decoded = static_cast<uint8_t*>(context->scratch) + InputBytes(args, recipe) +
                     static_cast<int64_t>(context->index) * kColumns * DecodedBytes(recipe);
  const float* bias =
      hy_tensor_present(&args->bias) ? static_cast<const float*>(args->bias.data) : nullptr;
  const uint8_t* w[kColumns];
  for (int64_t i = 0; i < count; ++i) {
    w[i] = DecodeWeights(recipe, hy_tensor_row(&args->w, group.weights + column + i),
                         decoded + i * DecodedBytes(recipe));
  }
  for (int64_t r = group.row; r < group.row + group.rows; ++r) {
    const uint8_t* x = ReadsInPlace(recipe)
                           ? static_cast<const uint8_t*>(hy_tensor_row(&args->x, r))
                           : stored + r * StoredBytes(recipe);
    float out[kColumns];
    for (int64_t i = 0; i < count; ++i) out[i] = DotRows(recipe, x, w[i]);
    for (int64_t i = 0; i < count && bias != nullptr; ++i) out[i] += bias[column + i];
    hyk_store_f32(args->y.type, hy_tensor_row(&args->y, r), column, count, out);
  }
}

template <uint32_t kActivation>
hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_args* args = static_cast<const hy_matmul_args*>(raw);
  const Recipe recipe = RecipeOf<kActivation>(args);
  const int64_t rows = hy_tensor_rows(&args->x);
  const int64_t columns = hy_tensor_cols(&args->y);
  if (rows == 0 || columns == 0) return HY_OK;
  if (context->phase == 0) {
    StoreInputs(args, recipe, context);
    return HY_OK;
  }
  const bool apart = args->w.rank == 3 && args->w.shape[0] > 1;
  const int64_t groups = apart ? args->w.shape[0] : 1;
  const int64_t pieces = (columns + kColumns - 1) / kColumns;
  int64_t item;
  int64_t end;
  while (hy_claim(context, groups * pieces, 1, &item, &end) != 0) {
    const int64_t g = item / pieces;
    const int64_t column = item % pieces * kColumns;
    const int64_t left = columns - column;
    Columns(args, recipe, context, {g * (rows / groups), rows / groups, g * columns}, column,
            left < kColumns ? left : kColumns);
  }
  return HY_OK;
}

template <uint32_t kActivation>
int Supports(const void* raw, const hy_kernel_target* target, hy_why* why) {
  const hy_matmul_args* args = static_cast<const hy_matmul_args*>(raw);
  (void)target;
  return TakesRecipe(RecipeOf<kActivation>(args), args->activation, why);
}

#define HYK_GENERIC_KERNEL(class, accumulates, text, rank)                                      \
  {                                                                                             \
    .struct_size = sizeof(hy_kernel_desc), .contract_version = HY_MATMUL_VERSION,               \
    .id = "matmul/any/generic_" HALYARD_LEVEL_NAME "_" text "@halyard", .op = "matmul",         \
    .types = {}, .isa = HALYARD_LEVEL_ISA, .activation = (class), .accumulator = (accumulates), \
    .priority = HY_PRIORITY_GENERIC + 10 * HALYARD_LEVEL_RANK + (rank),                         \
    .layout = HY_LAYOUT_CANONICAL, .phases = 2, .param_count = 0,                               \
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT, .params = nullptr,            \
    .supports = Supports<class>, .scratch_bytes = Scratch<class>, .run = Run<class>,            \
  }

// Where a call leaves the class open, the quicker one goes first; blocks of 256 take K-quants only.
const hy_kernel_desc kNone = HYK_GENERIC_KERNEL(HY_QA_NONE, HY_ACC_F32, "none", 0);
const hy_kernel_desc kBlock32 = HYK_GENERIC_KERNEL(HY_QA_BLOCK32, HY_ACC_I32_F32, "block32", 1);
const hy_kernel_desc kBlock256 = HYK_GENERIC_KERNEL(HY_QA_BLOCK256, HY_ACC_I32_F32, "block256", 2);
const hy_kernel_desc kAsym = HYK_GENERIC_KERNEL(HY_QA_TOKEN_ASYM, HY_ACC_I32_F32, "token_asym", 3);
const hy_kernel_desc kSym = HYK_GENERIC_KERNEL(HY_QA_TOKEN_SYM, HY_ACC_I32_F32, "token_sym", 4);

}  // namespace

HALYARD_KERNELS(&kNone, &kBlock32, &kBlock256, &kAsym, &kSym)
