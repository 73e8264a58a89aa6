// SPDX-License-Identifier: Apache-2.0
//
// Plain loops for every type and class, on the row functions of matmul. Phase 0 stores x as its class
// says, unless it is so already; phase 1 shares out columns, kColumns at a time: for each expert that
// some row names, these columns' weights are decoded once for all of its rows.
#include "ops/kernel_table.h"
#include "ops/matmul/generic_rows.h"
#include "ops/matmul_id/contract.h"

namespace {

template <uint32_t kActivation>
Recipe RecipeOf(const hy_matmul_id_args* args) {
  return {kActivation, args->x.type, args->w.type, hy_tensor_cols(&args->x)};
}

int64_t InputBytes(const hy_matmul_id_args* args, const Recipe& recipe) {
  return ReadsInPlace(recipe) ? 0 : hy_tensor_rows(&args->x) * StoredBytes(recipe);
}

template <uint32_t kActivation>
uint64_t Scratch(const void* raw, uint32_t workers) {
  const hy_matmul_id_args* args = static_cast<const hy_matmul_id_args*>(raw);
  const Recipe recipe = RecipeOf<kActivation>(args);
  return static_cast<uint64_t>(InputBytes(args, recipe) +
                               static_cast<int64_t>(workers) * kColumns * DecodedBytes(recipe));
}

void StoreInputs(const hy_matmul_id_args* args, const Recipe& recipe,
                 const hy_kernel_context* context) {
  if (ReadsInPlace(recipe)) return;
  int64_t row;
  int64_t end;
  while (hy_claim(context, hy_tensor_rows(&args->x), 1, &row, &end) != 0) {
    StoreInput(recipe, hy_tensor_row(&args->x, row),
               static_cast<uint8_t*>(context->scratch) + row * StoredBytes(recipe));
  }
}

int32_t IdOf(const hy_matmul_id_args* args, int64_t row) {
  const int64_t choices = args->ids.shape[1];
  return static_cast<const int32_t*>(hy_tensor_row(&args->ids, row / choices))[row % choices];
}

const uint8_t* InputOf(const hy_matmul_id_args* args, const Recipe& recipe,
                       const hy_kernel_context* context, int64_t row) {
  const int64_t input = args->x.rank == 2 ? row / args->ids.shape[1] : row;
  if (ReadsInPlace(recipe)) return static_cast<const uint8_t*>(hy_tensor_row(&args->x, input));
  return static_cast<const uint8_t*>(context->scratch) + input * StoredBytes(recipe);
}

// Columns [column, column + count) of all rows of y that name `expert`.
void Columns(const hy_matmul_id_args* args, const Recipe& recipe, const hy_kernel_context* context,
             int32_t expert, int64_t column, int64_t count) {
  uint8_t* decoded = static_cast<uint8_t*>(context->scratch) + InputBytes(args, recipe) +
                     static_cast<int64_t>(context->index) * kColumns * DecodedBytes(recipe);
  const int64_t rows = hy_tensor_rows(&args->y);
  const uint8_t* w[kColumns];
  bool is_decoded = false;
  for (int64_t r = 0; r < rows; ++r) {
    if (IdOf(args, r) != expert) continue;
    for (int64_t i = 0; i < count && !is_decoded; ++i) {
      const int64_t weights = expert * args->w.shape[1] + column + i;
      w[i] = DecodeWeights(recipe, hy_tensor_row(&args->w, weights),
                           decoded + i * DecodedBytes(recipe));
    }
    is_decoded = true;
    const uint8_t* x = InputOf(args, recipe, context, r);
    float out[kColumns];
    for (int64_t i = 0; i < count; ++i) out[i] = DotRows(recipe, x, w[i]);
    hyk_store_f32(args->y.type, hy_tensor_row(&args->y, r), column, count, out);
  }
}

// Zeros for rows that name no expert; whether one names an expert that there is not.
bool ZeroOthers(const hy_matmul_id_args* args, int64_t column, int64_t count) {
  const float zeros[kColumns] = {0};
  bool wrong = false;
  for (int64_t r = 0; r < hy_tensor_rows(&args->y); ++r) {
    const int32_t id = IdOf(args, r);
    if (id >= 0 && id < args->w.shape[0]) continue;
    wrong = wrong || id >= 0;
    hyk_store_f32(args->y.type, hy_tensor_row(&args->y, r), column, count, zeros);
  }
  return wrong;
}

template <uint32_t kActivation>
hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_id_args* args = static_cast<const hy_matmul_id_args*>(raw);
  const Recipe recipe = RecipeOf<kActivation>(args);
  const int64_t columns = args->w.shape[1];
  if (context->phase == 0) {
    StoreInputs(args, recipe, context);
    return HY_OK;
  }
  bool wrong = ZeroOthers(args, 0, 0);
  int64_t item;
  int64_t end;
  while (hy_claim(context, (columns + kColumns - 1) / kColumns, 1, &item, &end) != 0) {
    const int64_t column = item * kColumns;
    const int64_t count = columns - column < kColumns ? columns - column : kColumns;
    ZeroOthers(args, column, count);
    for (int64_t e = 0; e < args->w.shape[0]; ++e)
      Columns(args, recipe, context, static_cast<int32_t>(e), column, count);
  }
  return wrong ? HY_OUT_OF_RANGE : HY_OK;
}

template <uint32_t kActivation>
int Supports(const void* raw, const hy_kernel_target* target, hy_why* why) {
  const hy_matmul_id_args* args = static_cast<const hy_matmul_id_args*>(raw);
  (void)target;
  return TakesRecipe(RecipeOf<kActivation>(args), args->activation, why);
}

#define HYK_GENERIC_KERNEL(class, accumulates, text, rank)                                      \
  {                                                                                             \
    .struct_size = sizeof(hy_kernel_desc), .contract_version = HY_MATMUL_ID_VERSION,            \
    .id = "matmul_id/any/generic_" HALYARD_LEVEL_NAME "_" text "@halyard", .op = "matmul_id",   \
    .types = {}, .isa = HALYARD_LEVEL_ISA, .activation = (class), .accumulator = (accumulates), \
    .priority = HY_PRIORITY_GENERIC + 10 * HALYARD_LEVEL_RANK + (rank),                         \
    .layout = HY_LAYOUT_CANONICAL, .phases = 2, .param_count = 0,                               \
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT, .params = nullptr,            \
    .supports = Supports<class>, .scratch_bytes = Scratch<class>, .run = Run<class>,            \
  }

const hy_kernel_desc kNone = HYK_GENERIC_KERNEL(HY_QA_NONE, HY_ACC_F32, "none", 0);
const hy_kernel_desc kBlock32 = HYK_GENERIC_KERNEL(HY_QA_BLOCK32, HY_ACC_I32_F32, "block32", 1);
const hy_kernel_desc kBlock256 = HYK_GENERIC_KERNEL(HY_QA_BLOCK256, HY_ACC_I32_F32, "block256", 2);
const hy_kernel_desc kAsym = HYK_GENERIC_KERNEL(HY_QA_TOKEN_ASYM, HY_ACC_I32_F32, "token_asym", 3);
const hy_kernel_desc kSym = HYK_GENERIC_KERNEL(HY_QA_TOKEN_SYM, HY_ACC_I32_F32, "token_sym", 4);

}  // namespace

HALYARD_KERNELS(&kNone, &kBlock32, &kBlock256, &kAsym, &kSym)
