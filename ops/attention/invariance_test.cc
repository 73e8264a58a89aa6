// SPDX-License-Identifier: Apache-2.0
//
// What a row of attention may not depend on, bit for bit: the rows beside it, the size and order of
// pages.
#include <gtest/gtest.h>

#include <cstring>

#include "ops/attention/contract.h"
#include "ops/data/plain_builder.h"
#include "ops/test_builtin.h"
#include "ops/test_run.h"

namespace halyard::ops {
namespace {

// A case's args, and their sequences as numbers.
struct Batch {
  explicit Batch(const std::string& text) : c(*ParseCase(text)), builder(&c) {
    EXPECT_TRUE(FindOp("attention").cases->build(c, builder, &args).ok());
    EXPECT_TRUE(builder.status().ok());
  }
  int32_t start(int64_t s) const { return static_cast<const int32_t*>(args.q_start.data)[s]; }
  int32_t len(int64_t s) const { return static_cast<const int32_t*>(args.kv_len.data)[s]; }
  int64_t sequences() const { return args.kv_len.shape[0]; }
  int64_t page_of(int64_t s, int64_t key) const {
    const void* row = hy_tensor_row(&args.block_table, s);
    return static_cast<const int32_t*>(row)[key / args.k_pages.shape[2]];
  }

  Case c;
  PlainBuilder builder;
  hy_attention_args args = {};
};

std::string RowBits(const hy_tensor& y, int64_t row) {
  std::string bits;
  for (int64_t head = 0; head < y.shape[1]; ++head) {
    bits.append(static_cast<const char*>(hy_tensor_row(&y, row * y.shape[1] + head)),
                hy_type_row_bytes(y.type, y.shape[2]));
  }
  return bits;
}

// One row of sequence s, `row` counted over all sequences, as if nothing else were there.
std::string Alone(const Batch& batch, const hy_kernel_desc& kernel, int64_t s, int64_t row) {
  hy_attention_args args = batch.args;
  const TestTensor q_start(HY_TYPE_I32, {2}, {0, 1});
  const auto keys = static_cast<double>(batch.len(s) - batch.start(s + 1) + row + 1);
  const TestTensor kv_len(HY_TYPE_I32, {1}, std::vector<double>{keys});
  const TestTensor y(args.y.type, {1, args.y.shape[1], args.y.shape[2]});
  args.q.data = static_cast<char*>(args.q.data) + row * args.q.stride[0];
  args.block_table.data = hy_tensor_row(&args.block_table, s);
  args.q.shape[0] = args.block_table.shape[0] = 1;
  args.q_start = q_start.view();
  args.kv_len = kv_len.view();
  args.y = y.view();
  EXPECT_EQ(RunKernel(kernel, &args, 1), HY_OK);
  return RowBits(args.y, 0);
}

constexpr const char* kBatches[] = {
    "attention/f32.f16.f32/seqs=3,rows=40,ctx=1100,hq=6,hkv=2,d=64,page=16,causal=1,window=0,cap=0,"
    "mix=1,share=0,slack=1,fault=0/dist=normal/lay=dense/seed=1",
    "attention/f32.q8_0.f32/seqs=2,rows=33,ctx=90,hq=4,hkv=4,d=32,page=16,causal=1,window=37,cap=0,"
    "mix=1,share=0,slack=1,fault=0/dist=normal/lay=dense/seed=1",
    "attention/bf16.bf16.f32/seqs=2,rows=9,ctx=70,hq=8,hkv=1,d=80,page=16,causal=1,window=0,cap=3,"
    "mix=0,share=0,slack=1,fault=0/dist=normal/lay=dense/seed=1"};

TEST(AttentionInvariance, ARowIsTheSameAlone) {
  for (const char* text : kBatches) {
    const Batch batch(text);
    for (const hy_kernel_desc* kernel : KernelsOf(FindOp("attention"))) {
      if ((kernel->flags & HY_KERNEL_REFERENCE) != 0) continue;
      ASSERT_NE(kernel->flags & HY_KERNEL_ROW_INVARIANT, 0u);
      ASSERT_EQ(RunKernel(*kernel, &batch.args, 4), HY_OK);
      for (int64_t s = 0; s < batch.sequences(); ++s) {
        for (int64_t row = batch.start(s); row < batch.start(s + 1); row += 3)
          ASSERT_EQ(Alone(batch, *kernel, s, row), RowBits(batch.args.y, row))
              << kernel->id << ", row " << row << " of " << text;
      }
    }
  }
}

// The same keys and values in pages of `page` slots, handed out from the last page on.
struct Repaged {
  Repaged(const Batch& batch, int64_t page)
      : max_pages((batch.c.dim("ctx") + page - 1) / page),
        k(Pages(batch, page)),
        v(Pages(batch, page)),
        table(HY_TYPE_I32, {batch.sequences(), max_pages}),
        y(batch.args.y.type, {batch.args.y.shape[0], batch.args.y.shape[1], batch.args.y.shape[2]}),
        args(batch.args) {
    const int64_t count = batch.sequences() * max_pages;
    for (int64_t s = 0; s < batch.sequences(); ++s) {
      auto* ids = static_cast<int32_t*>(hy_tensor_row(&table.view(), s));
      for (int64_t i = 0; i < max_pages; ++i)
        ids[i] = static_cast<int32_t>(count - 1 - s * max_pages - i);
      for (int64_t key = 0; key < batch.len(s); ++key) {
        Copy(batch, batch.args.k_pages, s, key, k.view(), ids[key / page]);
        Copy(batch, batch.args.v_pages, s, key, v.view(), ids[key / page]);
      }
    }
    args.k_pages = k.view();
    args.v_pages = v.view();
    args.block_table = table.view();
    args.y = y.view();
  }

  TestTensor Pages(const Batch& batch, int64_t page) const {
    const hy_tensor& old = batch.args.k_pages;
    return TestTensor(old.type, {batch.sequences() * max_pages, old.shape[1], page, old.shape[3]});
  }
  static void Copy(const Batch& batch, const hy_tensor& from, int64_t s, int64_t key,
                   const hy_tensor& to, int64_t id) {
    for (int64_t head = 0; head < to.shape[1]; ++head) {
      const int64_t old = (batch.page_of(s, key) * from.shape[1] + head) * from.shape[2];
      const int64_t row = (id * to.shape[1] + head) * to.shape[2] + key % to.shape[2];
      std::memcpy(hy_tensor_row(&to, row), hy_tensor_row(&from, old + key % from.shape[2]),
                  hy_type_row_bytes(to.type, to.shape[3]));
    }
  }

  int64_t max_pages;
  TestTensor k, v, table, y;
  hy_attention_args args;
};

TEST(AttentionInvariance, PagesAreOnlyWhereKeysLie) {
  for (const char* text : kBatches) {
    const Batch batch(text);
    if (batch.args.window > 0) continue;  // there not all keys are in the table
    for (const int64_t page : {1, 5, 64, 128}) {
      const Repaged other(batch, page);
      for (const hy_kernel_desc* kernel : KernelsOf(FindOp("attention"))) {
        if ((kernel->flags & HY_KERNEL_REFERENCE) != 0) continue;
        ASSERT_EQ(RunKernel(*kernel, &batch.args, 1), HY_OK);
        ASSERT_EQ(RunKernel(*kernel, &other.args, 3), HY_OK);
        for (int64_t row = 0; row < batch.args.y.shape[0]; ++row)
          ASSERT_EQ(RowBits(other.args.y, row), RowBits(batch.args.y, row))
              << kernel->id << ", row " << row << ", pages of " << page << ", " << text;
      }
    }
  }
}

}  // namespace
}  // namespace halyard::ops
