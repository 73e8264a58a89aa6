// SPDX-License-Identifier: Apache-2.0
//
// Row functions of the generic products: x stored once for all columns, some rows of weights decoded
// once for all rows of x, and plain loops that multiply one by the other. Codes are summed by one plain
// loop for each sub-block, floats in 64 lanes: the forms that compilers turn into vector code.
#ifndef HALYARD_OPS_MATMUL_GENERIC_ROWS_H_
#define HALYARD_OPS_MATMUL_GENERIC_ROWS_H_

#include "base/simd/a8.h"
#include "base/simd/blocks.h"
#include "halyard/kernel.h"

namespace {

constexpr int64_t kColumns = 8;      // of y that are made together
constexpr int64_t kSub = 16;         // elements that have a scale of their own in a decoded row
constexpr int64_t kSumStep = 32768;  // products of codes that fit a 32-bit sum

// How a product is made: in which class, of which types.
struct Recipe {
  uint32_t activation;
  uint32_t x_type;
  uint32_t w_type;
  int64_t cols;
};

// Type in which x is read: a8 by class, f32 without one.
uint32_t StoredType(const Recipe& recipe) {
  switch (recipe.activation) {
    case HY_QA_BLOCK32:
      return HY_TYPE_A8_B32;
    case HY_QA_BLOCK256:
      return HY_TYPE_A8_B256;
    case HY_QA_NONE:
      return HY_TYPE_F32;
    default:
      return HY_TYPE_A8_TOKEN;
  }
}

// Whether x can be read where it is.
bool ReadsInPlace(const Recipe& recipe) { return recipe.x_type == StoredType(recipe); }

int64_t StoredBytes(const Recipe& recipe) {
  return static_cast<int64_t>(hy_round_up(hy_type_row_bytes(StoredType(recipe), recipe.cols), 64));
}

// A decoded row of weights: floats; or codes, then a scale and a minimum for each kSub of them, which
// for w8a8 in a token class is one scale and the sum of the codes.
int64_t DecodedBytes(const Recipe& recipe) {
  const int64_t bytes = recipe.activation == HY_QA_NONE
                            ? recipe.cols * 4
                            : recipe.cols + 64 + (recipe.cols / kSub + 1) * 8;
  return (bytes + 63) / 64 * 64;
}

const float* ScalesOf(const Recipe& recipe, const uint8_t* decoded) {
  return static_cast<const float*>(
      static_cast<const void*>(decoded + (recipe.cols + 63) / 64 * 64));
}
float* ScalesOf(const Recipe& recipe, uint8_t* decoded) {
  return static_cast<float*>(static_cast<void*>(decoded + (recipe.cols + 63) / 64 * 64));
}
const int8_t* Codes(const uint8_t* row) {
  return static_cast<const int8_t*>(static_cast<const void*>(row));
}
const float* Values(const uint8_t* row) {
  return static_cast<const float*>(static_cast<const void*>(row));
}

void StoreInput(const Recipe& recipe, const void* x, uint8_t* out) {
  if (recipe.activation == HY_QA_NONE) {
    float* values = static_cast<float*>(static_cast<void*>(out));
    if (recipe.cols > 0) hyk_values(recipe.x_type, x, recipe.cols, 0, recipe.cols, values);
    return;
  }
  const hyk_a8_source source = {x, recipe.x_type, 0, recipe.cols};
  hyk_a8_write(StoredType(recipe), recipe.activation == HY_QA_TOKEN_ASYM, &source, out);
}

// Codes of a row of w8a8; the sum of them takes the place of a minimum.
void DecodeToken(const Recipe& recipe, const uint8_t* row, uint8_t* out) {
  const int8_t* codes = Codes(row) + 4;
  float* scales = ScalesOf(recipe, out);
  memcpy(out, codes, static_cast<size_t>(recipe.cols));
  int64_t sum = 0;
  for (int64_t i = 0; i < recipe.cols; i += kSumStep)
    sum += hyk_a8_sum(codes + i, recipe.cols - i < kSumStep ? recipe.cols - i : kSumStep);
  scales[0] = hyk_le_f32(row);
  memcpy(scales + 2, &sum, sizeof sum);
}

// The same of w8a8 in a class of blocks, where each sub-block has the scale of the row.
void DecodeRowScale(const Recipe& recipe, const uint8_t* row, uint8_t* out) {
  float* scales = ScalesOf(recipe, out);
  memcpy(out, row + 4, static_cast<size_t>(recipe.cols));
  for (int64_t s = 0; s < recipe.cols / kSub; ++s) {
    scales[2 * s] = hyk_le_f32(row);
    scales[2 * s + 1] = -0.0f;
  }
}

void DecodeBlocks(const Recipe& recipe, const uint8_t* row, uint8_t* out) {
  const hy_type_info* facts = hy_type_facts(recipe.w_type);
  const int64_t size = facts->block;
  float* scales = ScalesOf(recipe, out);
  for (int64_t first = 0; first < recipe.cols; first += size, row += facts->block_bytes) {
    hyk_block block;
    hyk_unpack_block(recipe.w_type, row, &block);
    memcpy(out + first, block.code, static_cast<size_t>(size));
    for (int64_t i = 0; i < size; i += kSub) {
      *scales++ = block.scale[i / block.sub];
      *scales++ = block.min[i / block.sub];
    }
  }
}

// Decodes a row of weights to `out`; returns where its numbers are, `out` or the row itself.
const uint8_t* DecodeWeights(const Recipe& recipe, const void* row, uint8_t* out) {
  const uint8_t* bytes = static_cast<const uint8_t*>(row);
  if (recipe.activation == HY_QA_NONE) {
    if (recipe.w_type == HY_TYPE_F32) return bytes;
    float* values = static_cast<float*>(static_cast<void*>(out));
    if (recipe.cols > 0) hyk_values(recipe.w_type, row, recipe.cols, 0, recipe.cols, values);
  } else if (recipe.w_type != HY_TYPE_W8A8) {
    DecodeBlocks(recipe, bytes, out);
  } else if (StoredType(recipe) == HY_TYPE_A8_TOKEN) {
    DecodeToken(recipe, bytes, out);
  } else {
    DecodeRowScale(recipe, bytes, out);
  }
  return out;
}

float DotFloats(const float* a, const float* b, int64_t count) {
  float lane[HYK_LANES] = {0};
  int64_t i = 0;
  for (; i + HYK_LANES <= count; i += HYK_LANES) {
    for (int j = 0; j < HYK_LANES; ++j) lane[j] += a[i + j] * b[i + j];
  }
  for (int j = 0; i < count; ++i, ++j) lane[j] += a[i] * b[i];
  return hyk_sum_lanes(lane);
}

int32_t DotCodes(const int8_t* a, const int8_t* b, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// One scale of x for each `kPart` columns, one of weights for each `kStep`, which is kSub or 32.
template <int kPart, int kStep>
float DotParts(const Recipe& recipe, const uint8_t* x, const uint8_t* w, bool has_min) {
  const uint32_t type = kPart == 32 ? HY_TYPE_A8_B32 : HY_TYPE_A8_B256;
  constexpr int kSumsOf = kPart == 32 ? 32 : 16;  // codes under each sum in a record of x
  const float* w_scales = ScalesOf(recipe, w);
  const float* x_scales = Values(x + hy_a8_scale_offset(type, recipe.cols));
  const int16_t* x_sums = static_cast<const int16_t*>(
      static_cast<const void*>(x + hy_a8_sum_offset(type, recipe.cols)));
  float total = 0.0f;
  for (int64_t first = 0; first < recipe.cols; first += kPart) {
    float part = 0.0f;
    for (int64_t i = first; i < first + kPart; i += kStep) {
      part +=
          static_cast<float>(DotCodes(Codes(x) + i, Codes(w) + i, kStep)) * w_scales[i / kSub * 2];
    }
    for (int64_t i = first; has_min && i < first + kPart; i += kSumsOf) {
      int32_t sum = x_sums[i / kSumsOf];
      part += static_cast<float>(sum) * w_scales[i / kSub * 2 + 1];
    }
    total += part * x_scales[first / kPart];
  }
  return total;
}

float DotToken(const Recipe& recipe, const uint8_t* x, const uint8_t* w) {
  const uint8_t* tail = x + hy_a8_scale_offset(HY_TYPE_A8_TOKEN, recipe.cols);
  const float* w_scales = ScalesOf(recipe, w);
  float x_scale;
  int32_t zero;
  int64_t w_sum;
  memcpy(&x_scale, tail, sizeof x_scale);
  memcpy(&zero, tail + 4, sizeof zero);
  memcpy(&w_sum, w_scales + 2, sizeof w_sum);
  int64_t sum = -zero * w_sum;
  for (int64_t i = 0; i < recipe.cols; i += kSumStep) {
    sum += DotCodes(Codes(x) + i, Codes(w) + i,
                    recipe.cols - i < kSumStep ? recipe.cols - i : kSumStep);
  }
  return static_cast<float>(sum) * w_scales[0] * x_scale;
}

bool IsKQuant(uint32_t type) { return type >= HY_TYPE_Q2_K && type <= HY_TYPE_Q6_K; }

bool HasSixteens(uint32_t type) {
  return type == HY_TYPE_Q2_K || type == HY_TYPE_Q3_K || type == HY_TYPE_Q6_K;
}

bool HasMin(uint32_t type) {
  return type == HY_TYPE_Q4_1 || type == HY_TYPE_Q5_1 || type == HY_TYPE_Q2_K ||
         type == HY_TYPE_Q4_K || type == HY_TYPE_Q5_K;
}

// Stored row of x times decoded row of weights.
float DotRows(const Recipe& recipe, const uint8_t* x, const uint8_t* w) {
  const bool has_min = HasMin(recipe.w_type);
  switch (recipe.activation) {
    case HY_QA_NONE:
      return DotFloats(Values(x), Values(w), recipe.cols);
    case HY_QA_BLOCK32:
      return HasSixteens(recipe.w_type) ? DotParts<32, kSub>(recipe, x, w, has_min)
                                        : DotParts<32, 32>(recipe, x, w, has_min);
    case HY_QA_BLOCK256:
      return HasSixteens(recipe.w_type) ? DotParts<256, kSub>(recipe, x, w, has_min)
                                        : DotParts<256, 32>(recipe, x, w, has_min);
    default:
      return DotToken(recipe, x, w);
  }
}

/// What a class asks of types and sizes; `allowed` as in the args.
int TakesRecipe(const Recipe& recipe, uint32_t allowed, hy_why* why) {
  const uint32_t w = recipe.w_type;
  if (recipe.activation == HY_QA_NONE) return 1;
  if (recipe.cols == 0) return hy_refuse(why, "there are no columns to quantise");
  if (!hy_type_is_float(recipe.x_type) && recipe.x_type != StoredType(recipe))
    return hy_refuse(why, "x is quantised in another way than this kernel computes in");
  if (!hy_type_is_weights(w)) return hy_refuse(why, "the weights are floats");
  if (StoredType(recipe) == HY_TYPE_A8_TOKEN)
    return w == HY_TYPE_W8A8 ? 1 : hy_refuse(why, "only w8a8 is multiplied by the row");
  if (recipe.cols % hy_type_facts(StoredType(recipe))->block != 0)
    return hy_refuse(why, "the columns of x are not whole blocks");
  if (recipe.activation == HY_QA_BLOCK32 && w == HY_TYPE_Q2_K)
    return hy_refuse(why, "q2_k has a minimum for each 16, x sums of each 32");
  if (recipe.activation == HY_QA_BLOCK256 && allowed == HY_QA_ANY && !IsKQuant(w) &&
      hy_type_is_float(recipe.x_type))
    return hy_refuse(why, "blocks of 32 lose less, and the format has them: ask for block256");
  return 1;
}

}  // namespace

#endif  // HALYARD_OPS_MATMUL_GENERIC_ROWS_H_
