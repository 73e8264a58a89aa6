// SPDX-License-Identifier: Apache-2.0
//
// Formats against what gguf, numpy and ml_dtypes make of the same bytes and numbers.
#include <cmath>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "gtest/gtest.h"
#include "reference/golden.h"

namespace halyard::reference {
namespace {

std::vector<uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values)
    bits.push_back(std::isnan(value) ? 0x7fc00000u : FloatBits(value));
  return bits;
}

std::vector<float> FloatsOf(const GoldenTensor& tensor) {
  return std::vector<float>(tensor.values.begin(), tensor.values.end());
}

void CheckDecoding(const std::string& file, size_t formats) {
  const auto cases = ReadGolden(file);
  EXPECT_EQ(cases.size(), formats);
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(c.name());
    const hy_tensor bytes = c.view("bytes");
    std::vector<float> got(c.tensor("values").values.size());
    quant::DecodeRowF32(bytes.type, bytes.data, bytes.shape[1], got.data());
    EXPECT_EQ(BitsOf(got), BitsOf(FloatsOf(c.tensor("values"))));
  }
}

TEST(FormatsGolden, SensibleBlocks) { CheckDecoding("formats", 10); }
TEST(FormatsGolden, BlocksOfAnyBytes) { CheckDecoding("formats_any_bytes", 10); }

TEST(FormatsGolden, Conversions) {
  for (const GoldenCase& c : ReadGolden("conversions")) {
    const hy_tensor x = c.view("x");
    std::vector<float> wide(static_cast<size_t>(x.shape[1]));
    quant::DecodeRowF32(x.type, x.data, x.shape[1], wide.data());
    for (const char* to : {"f32", "f16", "bf16"}) {
      if (!c.has(to)) continue;
      SCOPED_TRACE(c.name() + " to " + to);
      const hy_tensor want = c.view(to);
      const uint64_t bytes = hy_type_row_bytes(want.type, want.shape[1]);
      std::vector<uint8_t> got(bytes);
      quant::EncodeRow(want.type, wide.data(), want.shape[1], got.data());
      const auto* expected = static_cast<const uint8_t*>(want.data);
      EXPECT_EQ(got, std::vector<uint8_t>(expected, expected + bytes));
    }
  }
}

std::vector<double> IntsAt(const uint8_t* at, size_t count, bool narrow) {
  std::vector<double> out;
  for (size_t i = 0; i < count; ++i) {
    int16_t half = 0;
    int32_t whole = 0;
    if (narrow) {
      std::memcpy(&half, at + 2 * i, 2);
    } else {
      std::memcpy(&whole, at + 4 * i, 4);
    }
    out.push_back(narrow ? half : whole);
  }
  return out;
}

void CheckRecord(const GoldenCase& c, uint32_t type) {
  const hy_tensor x = c.view("x");
  const int64_t k = x.shape[1];
  std::vector<uint8_t> row(hy_type_row_bytes(type, k));
  quant::QuantizeActivations(type, c.has("zero"), static_cast<const float*>(x.data), k, row.data());
  const bool token = type == HY_TYPE_A8_TOKEN;
  const uint8_t* sums = row.data() + hy_a8_sum_offset(type, k);
  std::vector<double> codes(static_cast<size_t>(k));
  quant::DecodeRow(HY_TYPE_I8, row.data(), k, codes.data());
  EXPECT_EQ(codes, c.tensor("codes").values);
  std::vector<float> scales(c.tensor("scales").values.size());
  std::memcpy(scales.data(), row.data() + hy_a8_scale_offset(type, k), 4 * scales.size());
  EXPECT_EQ(BitsOf(scales), BitsOf(FloatsOf(c.tensor("scales"))));
  const size_t count = c.tensor("sums").values.size();
  EXPECT_EQ(IntsAt(token ? sums + 4 : sums, count, !token), c.tensor("sums").values);
  if (token) {
    EXPECT_EQ(IntsAt(sums, 1, false)[0], c.has("zero") ? c.number("zero") : 0);
  }
}

TEST(FormatsGolden, Activations) {
  const auto cases = ReadGolden("quantize");
  EXPECT_EQ(cases.size(), 14u);
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(c.name());
    const uint32_t type = c.name().rfind("a8_b32", 0) == 0    ? HY_TYPE_A8_B32
                          : c.name().rfind("a8_b256", 0) == 0 ? HY_TYPE_A8_B256
                                                              : HY_TYPE_A8_TOKEN;
    CheckRecord(c, type);
  }
}

}  // namespace
}  // namespace halyard::reference
