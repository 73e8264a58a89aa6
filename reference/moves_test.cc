// SPDX-License-Identifier: Apache-2.0
//
// get_rows, quantize, dequantize, cast and copy: known answers, and vectors made by gguf and numpy. All
// kernels that run here are held to them, the reference's own too.
#include <cmath>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "ops/cast/contract.h"
#include "ops/copy/contract.h"
#include "ops/dequantize/contract.h"
#include "ops/get_rows/contract.h"
#include "ops/quantize/contract.h"
#include "ops/test_builtin.h"
#include "ops/test_run.h"
#include "reference/golden.h"
#include "reference/test_expect.h"

namespace halyard::reference {
namespace {

using ops::kInf;
using ops::kNan;
using ops::TestTensor;

// Runs each kernel of an op on fresh memory of `y`; `check` looks at the result.
template <typename Args, typename Check>
void EachKernel(const char* op, Args args, TestTensor* y, hy_status status, const Check& check) {
  args.struct_size = sizeof args;
  args.y = y->view();
  ExpectAllKernelsAgree(op, args);
  for (const hy_kernel_desc* kernel : ops::KernelsOf(ops::FindOp(op))) {
    SCOPED_TRACE(kernel->id);
    std::memset(y->view().data, 0xee, 4 * y->memory().size());
    EXPECT_EQ(ops::RunKernel(*kernel, &args, 3), status);
    check();
  }
}

TEST(GetRows, OutOfOrderTwiceAndOutside) {
  const TestTensor table(HY_TYPE_F32, {3, 2}, {1, 2, 3, 4, 5, 6}, 8);
  const TestTensor rows(HY_TYPE_I32, {5}, {2, 0, 3, 2, -1});
  TestTensor y(HY_TYPE_BF16, {5, 2}, 2);
  hy_get_rows_args args = {};
  args.table = table.view();
  args.rows = rows.view();
  EachKernel("get_rows", args, &y, HY_OUT_OF_RANGE, [&] {
    EXPECT_EQ(y.Get(), (std::vector<double>{5, 6, 1, 2, 0, 0, 5, 6, 0, 0}));
  });
}

TEST(GetRows, AnEmptyTableHasNoRows) {
  const TestTensor table(HY_TYPE_F32, {0, 3});
  const TestTensor rows(HY_TYPE_I32, {2}, {0, 1});
  TestTensor y(HY_TYPE_F16, {2, 3});
  hy_get_rows_args args = {};
  args.table = table.view();
  args.rows = rows.view();
  EachKernel("get_rows", args, &y, HY_OUT_OF_RANGE,
             [&] { EXPECT_EQ(y.Get(), std::vector<double>(6, 0.0)); });
}

TEST(GetRows, FormatsByGguf) {
  const auto cases = ReadGolden("get_rows");
  EXPECT_EQ(cases.size(), 13u);
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(c.name());
    hy_get_rows_args args = {};
    args.table = c.view("table");
    args.rows = c.view("rows");
    TestTensor y(HY_TYPE_F32, c.tensor("y").shape);
    EachKernel("get_rows", args, &y, HY_OK, [&] {
      // numpy multiplied the codes of w8a8 and w4a8 in f64; the scales are powers of two.
      EXPECT_EQ(FirstDifference(y.Get(), c.tensor("y"), 0), "");
    });
  }
}

TEST(Dequantize, FormatsByGguf) {
  for (const char* file : {"formats", "formats_any_bytes"}) {
    for (const GoldenCase& c : ReadGolden(file)) {
      SCOPED_TRACE(c.name());
      hy_dequantize_args args = {};
      args.x = c.view("bytes");
      TestTensor y(HY_TYPE_F32, c.tensor("values").shape);
      EachKernel("dequantize", args, &y, HY_OK,
                 [&] { EXPECT_EQ(FirstDifference(y.Get(), c.tensor("values"), 0), ""); });
    }
  }
}

TEST(Dequantize, RoundsToF32AndThenToTheOutput) {
  // 12 d + m = 12 + 3 / 256 - 2^-24. In f32 that is a tie of two halves and goes up to the even one; at
  // once it would go down.
  std::vector<uint8_t> block(20, 0xcc);
  const uint8_t head[] = {0x01, 0x3c, 0x01, 0x80};
  std::memcpy(block.data(), head, sizeof head);
  hy_dequantize_args args = {};
  const int64_t shape[] = {1, 32};
  args.x = hy_tensor_dense(block.data(), HY_TYPE_Q4_1, 2, shape);
  TestTensor y(HY_TYPE_F16, {1, 32});
  EachKernel("dequantize", args, &y, HY_OK,
             [&] { EXPECT_EQ(y.Get(), std::vector<double>(32, 12 + 4.0 / 256)); });
}

TEST(Cast, NumbersByNumpyAndMlDtypes) {
  for (const GoldenCase& c : ReadGolden("conversions")) {
    for (const char* to : {"f32", "f16", "bf16"}) {
      if (!c.has(to)) continue;
      SCOPED_TRACE(c.name() + " to " + to);
      hy_cast_args args = {};
      args.x = c.view("x");
      TestTensor y(c.tensor(to).type, c.tensor(to).shape);
      EachKernel("cast", args, &y, HY_OK,
                 [&] { EXPECT_EQ(FirstDifference(y.Get(), c.tensor(to), 0), ""); });
    }
  }
}

TEST(Cast, KnownAnswers) {
  const TestTensor x(HY_TYPE_F32, {2, 4}, {1 + 0x1p-11, 1e30, -0.0, kNan, -kInf, 0x1p-24, 3, 65519},
                     12);
  TestTensor half(HY_TYPE_F16, {2, 4}, 6);
  hy_cast_args args = {};
  args.x = x.view();
  EachKernel("cast", args, &half, HY_OK, [&] {
    const auto y = half.Get();
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[1], kInf);
    EXPECT_TRUE(y[2] == 0 && std::signbit(y[2]));
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_EQ(y[4], -kInf);
    EXPECT_EQ(y[5], 0x1p-24);
    EXPECT_EQ(y[7], 65504);
  });
}

TEST(Cast, TheSameTypeIsMovedBitForBit) {
  TestTensor x(HY_TYPE_BF16, {1, 4});
  TestTensor y(HY_TYPE_BF16, {1, 4});
  const uint16_t bits[] = {0x7f81, 0xffff, 0x8000, 0x0001};  // two NaNs, one of them signalling
  std::memcpy(x.view().data, bits, sizeof bits);
  hy_cast_args args = {};
  args.x = x.view();
  EachKernel("cast", args, &y, HY_OK,
             [&] { EXPECT_EQ(std::memcmp(y.view().data, bits, sizeof bits), 0); });
}

TEST(Copy, MovesRowsAndLeavesGaps) {
  const TestTensor x(HY_TYPE_F32, {2, 3}, {1, 2, 3, 4, 5, 6}, 4);
  TestTensor y(HY_TYPE_F32, {2, 3}, 8);
  hy_copy_args args = {};
  args.x = x.view();
  EachKernel("copy", args, &y, HY_OK, [&] {
    EXPECT_EQ(y.Get(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    for (const size_t gap : {3u, 4u, 8u, 9u}) EXPECT_EQ(y.memory()[gap], 0xeeeeeeeeu) << gap;
  });
}

TEST(Copy, InPlaceDoesNothing) {
  TestTensor x(HY_TYPE_I32, {2, 2}, {1, -2, 3, -4});
  hy_copy_args args = {};
  args.struct_size = sizeof args;
  args.x = x.view();
  args.y = x.view();
  ExpectAllKernelsAgree("copy", args);
  EXPECT_EQ(x.Get(), (std::vector<double>{1, -2, 3, -4}));
}

TEST(Quantize, KnownAnswers) {
  std::vector<double> values(32, 0.0);
  const double first[] = {127, 0.5, 1.5, 2.5, -1.5, -127};
  std::copy(std::begin(first), std::end(first), values.begin());
  const TestTensor x(HY_TYPE_F16, {1, 32}, values);
  TestTensor y(HY_TYPE_A8_B32, {1, 32});
  hy_quantize_args args = {};
  args.x = x.view();
  EachKernel("quantize", args, &y, HY_OK, [&] {
    const auto codes = y.Get();  // the scale is 1
    EXPECT_EQ(std::vector<double>(codes.begin(), codes.begin() + 6),
              (std::vector<double>{127, 0, 2, 2, -2, -127}));
    int16_t sum;
    std::memcpy(&sum, static_cast<uint8_t*>(y.view().data) + 36, sizeof sum);
    EXPECT_EQ(sum, 2);
  });
}

TEST(Quantize, ZeroPoint) {
  const TestTensor x(HY_TYPE_F32, {2, 3}, {-100, 155, 0, kNan, 1, 2});
  TestTensor y(HY_TYPE_A8_TOKEN, {2, 3});
  hy_quantize_args args = {};
  args.asymmetric = 1;
  args.x = x.view();
  EachKernel("quantize", args, &y, HY_OK, [&] {
    const int8_t codes[] = {-128, 127, -28};
    const hy_tensor view = y.view();
    EXPECT_EQ(std::memcmp(view.data, codes, sizeof codes), 0);
    const auto values = y.Get();
    EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 3),
              (std::vector<double>{-100, 155, 0}));
    EXPECT_TRUE(std::isnan(values[3]) && std::isnan(values[5]));
  });
}

// Args that the contract must refuse, and a word of its reason.
template <typename Args>
void ExpectRefused(const char* op, Args args, const char* word) {
  args.struct_size = sizeof args;
  hy_why why = {};
  EXPECT_EQ(ops::FindOp(op).desc->validate(&args, &why), HY_INVALID_ARGUMENT) << op;
  EXPECT_NE(std::string(why.text).find(word), std::string::npos) << op << ": " << why.text;
}

TEST(MovesContracts, RefuseWhatIsSpecialToThem) {
  const TestTensor x(HY_TYPE_F32, {2, 64});
  const TestTensor other(HY_TYPE_F16, {2, 64});
  const TestTensor a8(HY_TYPE_A8_B32, {2, 64});
  const TestTensor odd(HY_TYPE_F32, {2, 33});
  const TestTensor rows(HY_TYPE_I32, {2});
  hy_tensor part = x.view();  // one row down
  part.data = static_cast<char*>(part.data) + 256;
  ExpectRefused("quantize", hy_quantize_args{0, 2, x.view(), a8.view()}, "asymmetric");
  ExpectRefused("quantize", hy_quantize_args{0, 1, x.view(), a8.view()}, "a8_token");
  ExpectRefused("quantize", hy_quantize_args{0, 0, odd.view(), a8.view()}, "shape");
  ExpectRefused("quantize", hy_quantize_args{0, 0, x.view(), other.view()}, "y");
  ExpectRefused("dequantize", hy_dequantize_args{0, 0, x.view(), x.view()}, "x");
  ExpectRefused("dequantize", hy_dequantize_args{0, 7, a8.view(), x.view()}, "reserved");
  ExpectRefused("copy", hy_copy_args{0, 0, x.view(), other.view()}, "f16");
  ExpectRefused("copy", hy_copy_args{0, 0, x.view(), part}, "overlaps");
  ExpectRefused("cast", hy_cast_args{0, 0, x.view(), part}, "overlaps");
  ExpectRefused("cast", hy_cast_args{0, 0, a8.view(), x.view()}, "x");
  ExpectRefused("get_rows", hy_get_rows_args{0, 0, x.view(), rows.view(), odd.view()}, "columns");
  ExpectRefused("get_rows", hy_get_rows_args{0, 0, x.view(), rows.view(), x.view()}, "overlaps");
}

}  // namespace
}  // namespace halyard::reference
