// SPDX-License-Identifier: Apache-2.0
#include "engine/gguf/gguf_types.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "halyard/tensor.h"

namespace halyard::engine {
namespace {

struct Row {
  uint32_t number;
  const char* name;
  uint32_t block;
  uint32_t bytes;
  uint32_t type;
};

// In the order of their numbers. Those without a type of ours can be listed and skipped, not run.
constexpr Row kRows[] = {
    {0, "f32", 1, 4, HY_TYPE_F32},          {1, "f16", 1, 2, HY_TYPE_F16},
    {2, "q4_0", 32, 18, HY_TYPE_Q4_0},      {3, "q4_1", 32, 20, HY_TYPE_Q4_1},
    {6, "q5_0", 32, 22, HY_TYPE_Q5_0},      {7, "q5_1", 32, 24, HY_TYPE_Q5_1},
    {8, "q8_0", 32, 34, HY_TYPE_Q8_0},      {9, "q8_1", 32, 36, HY_TYPE_NONE},
    {10, "q2_k", 256, 84, HY_TYPE_Q2_K},    {11, "q3_k", 256, 110, HY_TYPE_Q3_K},
    {12, "q4_k", 256, 144, HY_TYPE_Q4_K},   {13, "q5_k", 256, 176, HY_TYPE_Q5_K},
    {14, "q6_k", 256, 210, HY_TYPE_Q6_K},   {15, "q8_k", 256, 292, HY_TYPE_NONE},
    {16, "iq2_xxs", 256, 66, HY_TYPE_NONE}, {17, "iq2_xs", 256, 74, HY_TYPE_NONE},
    {18, "iq3_xxs", 256, 98, HY_TYPE_NONE}, {19, "iq1_s", 256, 50, HY_TYPE_NONE},
    {20, "iq4_nl", 32, 18, HY_TYPE_NONE},   {21, "iq3_s", 256, 110, HY_TYPE_NONE},
    {22, "iq2_s", 256, 82, HY_TYPE_NONE},   {23, "iq4_xs", 256, 136, HY_TYPE_NONE},
    {24, "i8", 1, 1, HY_TYPE_I8},           {25, "i16", 1, 2, HY_TYPE_NONE},
    {26, "i32", 1, 4, HY_TYPE_I32},         {27, "i64", 1, 8, HY_TYPE_NONE},
    {28, "f64", 1, 8, HY_TYPE_NONE},        {29, "iq1_m", 256, 56, HY_TYPE_NONE},
    {30, "bf16", 1, 2, HY_TYPE_BF16},       {34, "tq1_0", 256, 54, HY_TYPE_NONE},
    {35, "tq2_0", 256, 66, HY_TYPE_NONE},   {39, "mxfp4", 32, 17, HY_TYPE_NONE},
};

}  // namespace

const char* GgufTypeName(GgufType type) {
  static constexpr const char* kNames[] = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                           "int32",  "float32", "bool",   "string", "array",
                                           "uint64", "int64",   "float64"};
  static_assert(std::size(kNames) == kGgufTypeCount);
  const auto number = static_cast<uint32_t>(type);
  return number < kGgufTypeCount ? kNames[number] : "unknown";
}

uint32_t GgufTypeBytes(GgufType type) {
  static constexpr uint32_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  static_assert(std::size(kBytes) == kGgufTypeCount);
  const auto number = static_cast<uint32_t>(type);
  return number < kGgufTypeCount ? kBytes[number] : 0;
}

GgufTensorType GgufTensorTypeOf(uint32_t file_type) {
  for (const Row& row : kRows) {
    if (row.number == file_type) return {row.name, row.block, row.bytes, row.type};
  }
  return {absl::StrCat("type ", file_type), 0, 0, HY_TYPE_NONE};
}

uint32_t GgufNumberOf(uint32_t type) {
  for (const Row& row : kRows) {
    if (row.type == type && type != HY_TYPE_NONE) return row.number;
  }
  return UINT32_MAX;
}

}  // namespace halyard::engine
