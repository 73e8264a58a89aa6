// SPDX-License-Identifier: Apache-2.0
//
// Packing loses no bit, whatever the bits are, the shape is, and how many workers share it.
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ops/builtin.h"
#include "ops/data/distribution.h"

namespace halyard::ops {
namespace {

constexpr int64_t kGap = 24;  // bytes between canonical rows

std::vector<const hy_layout_desc*> Layouts() {
  std::vector<const hy_layout_desc*> all;
  for (const LayoutTableFn table : TheBuiltinOps().layouts) {
    uint64_t count = 0;
    const hy_layout_desc* const* rows = table(&count);
    all.insert(all.end(), rows, rows + count);
  }
  return all;
}

// A matrix with gaps between its rows, all bytes 0xee at first.
struct Matrix {
  Matrix(uint32_t type, int64_t rows, int64_t cols) {
    const int64_t shape[] = {rows, cols};
    tensor = hy_tensor_dense(nullptr, type, 2, shape);
    tensor.stride[0] += kGap;
    memory.assign(static_cast<size_t>(rows * tensor.stride[0]), 0xee);
    tensor.data = memory.data();
  }
  std::vector<uint8_t> memory;
  hy_tensor tensor;
};

void CheckShape(const hy_layout_desc& layout, int64_t rows, int64_t cols) {
  SCOPED_TRACE(absl::StrCat(layout.name, " [", rows, ", ", cols, "]"));
  hy_why why{};
  ASSERT_EQ(layout.supports(rows, cols, &why), 1) << why.text;
  Matrix in(layout.type, rows, cols);
  Fill({Dist::kRandomBits, 7, "w", Role::kWeights}, in.tensor);
  const uint64_t bytes = layout.packed_bytes(rows, cols);
  EXPECT_EQ(bytes % 64, 0u);
  std::vector<uint8_t> packed(bytes + 64, 0xdd);
  std::vector<uint8_t> again(bytes + 64, 0x11);
  for (uint32_t i = 0; i < 3; ++i) layout.pack(&in.tensor, packed.data(), i, 3);
  layout.pack(&in.tensor, again.data(), 0, 1);
  EXPECT_EQ(std::memcmp(packed.data(), again.data(), bytes), 0) << "depends on the workers";
  EXPECT_EQ(packed[bytes], 0xdd) << "writes past its end";
  Matrix out(layout.type, rows, cols);
  for (uint32_t i = 0; i < 2; ++i) layout.unpack(packed.data(), &out.tensor, i, 2);
  EXPECT_EQ(in.memory, out.memory);
}

TEST(LayoutsTest, GiveBackAllBitsAndLeaveGaps) {
  for (const hy_layout_desc* layout : Layouts()) {
    const uint32_t block = hy_type_facts(layout->type)->block;
    const bool any_columns = block == 1 || block == HY_BLOCK_ROW;
    for (const int64_t rows : {1, 5, 15, 16, 17, 33}) {
      for (const int64_t blocks : {1, 2, 3, 5})
        CheckShape(*layout, rows, blocks * (any_columns ? 32 : block));
    }
    for (const int64_t cols : {1, 2, 3, 31, 33, 65}) {
      if (any_columns) CheckShape(*layout, 17, cols);
    }
  }
}

TEST(LayoutsTest, RefuseWhatTheyCannotPack) {
  for (const hy_layout_desc* layout : Layouts()) {
    hy_why why{};
    EXPECT_EQ(layout->supports(0, 256, &why), 0);
    EXPECT_EQ(layout->supports(16, 0, &why), 0);
    EXPECT_STRNE(why.text, "");
    const uint32_t block = hy_type_facts(layout->type)->block;
    if (block != 1 && block != HY_BLOCK_ROW) {
      EXPECT_EQ(layout->supports(16, block + 1, &why), 0);
    }
  }
}

TEST(LayoutsTest, TakeLittleMoreThanTheFormat) {
  for (const hy_layout_desc* layout : Layouts()) {
    const auto packed = static_cast<double>(layout->packed_bytes(4096, 4096));
    EXPECT_LT(packed, 1.01 * 4096 * static_cast<double>(hy_type_row_bytes(layout->type, 4096)))
        << layout->name;
  }
}

}  // namespace
}  // namespace halyard::ops
