// SPDX-License-Identifier: Apache-2.0
#include "ops/contract_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halyard::ops {
namespace {

using testing::HasSubstr;

struct Args {
  uint32_t struct_size = sizeof(Args);
  uint32_t reserved = 0;
};

// `rows` rows of `cols` floats from element `first` of rows of `pitch` floats.
hy_tensor View(std::vector<float>& memory, int64_t rows, int64_t cols, int64_t pitch,
               int64_t first = 0) {
  const int64_t shape[] = {rows, cols};
  hy_tensor t = hy_tensor_dense(memory.data() + first, HY_TYPE_F32, 2, shape);
  t.stride[0] = pitch * 4;
  return t;
}

// What Apart says of two views.
std::string Overlap(const hy_tensor& a, const hy_tensor& b) {
  const Args args;
  hy_why why;
  ContractCheck check(&args, sizeof args, &why);
  check.Apart("y", a, "x", b);
  return check.Finish() == HY_OK ? "" : why.text;
}

TEST(ContractCheck, ViewsSideBySideDoNotOverlap) {
  std::vector<float> memory(100);
  EXPECT_EQ(Overlap(View(memory, 5, 8, 20), View(memory, 5, 12, 20, 8)), "");
  EXPECT_EQ(Overlap(View(memory, 5, 12, 20, 8), View(memory, 5, 8, 20)), "");
  EXPECT_EQ(Overlap(View(memory, 5, 8, 20), View(memory, 1, 12, 20, 28)), "") << "one row";
  EXPECT_EQ(Overlap(View(memory, 1, 12, 7, 48), View(memory, 5, 8, 20)), "")
      << "its stride is moot";
}

TEST(ContractCheck, ViewsThatShareAnElementOverlap) {
  std::vector<float> memory(200);
  EXPECT_THAT(Overlap(View(memory, 5, 9, 20), View(memory, 5, 12, 20, 8)), HasSubstr("overlaps x"));
  EXPECT_THAT(Overlap(View(memory, 5, 12, 20, 8), View(memory, 5, 9, 20)), HasSubstr("overlaps x"));
  EXPECT_NE(Overlap(View(memory, 5, 8, 20), View(memory, 5, 12, 20, 9)), "") << "into the next row";
  EXPECT_NE(Overlap(View(memory, 5, 8, 20), View(memory, 5, 8, 24, 8)), "") << "other strides";
  EXPECT_NE(Overlap(View(memory, 5, 8, 20), View(memory, 1, 14, 20, 28)), "") << "one long row";
  EXPECT_NE(Overlap(View(memory, 1, 8, 20), View(memory, 1, 8, 20, 7)), "");
  EXPECT_NE(Overlap(View(memory, 5, 8, 20), View(memory, 5, 8, 20)), "");
}

TEST(ContractCheck, TheFirstFaultGivesTheReason) {
  const Args args;
  hy_why why;
  ContractCheck check(&args, sizeof args, &why);
  check.Require(true, "fine");
  check.Require(false, "first");
  check.Require(false, "second");
  EXPECT_EQ(check.Finish(), HY_INVALID_ARGUMENT);
  EXPECT_STREQ(why.text, "first");
}

TEST(ContractCheck, BytesOfTensors) {
  const int64_t shape[] = {3, 64};
  EXPECT_EQ(TensorBytes(hy_tensor_dense(nullptr, HY_TYPE_F16, 2, shape)), 3u * 128);
  EXPECT_EQ(TensorBytes(hy_tensor_dense(nullptr, HY_TYPE_Q8_0, 2, shape)), 3u * 68);
  EXPECT_EQ(TensorBytes(hy_tensor{}), 0u);
}

}  // namespace
}  // namespace halyard::ops
