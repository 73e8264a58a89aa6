// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/contract.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/matmul_id/contract.h"

extern "C" const hy_op_desc halyard_op_matmul;
extern "C" const hy_op_desc halyard_op_matmul_id;

namespace halyard::ops {
namespace {

using testing::HasSubstr;

hy_tensor Tensor(void* data, uint32_t type, const std::vector<int64_t>& shape) {
  return hy_tensor_dense(data, type, static_cast<uint32_t>(shape.size()), shape.data());
}

// Good args over memory of its own, for tests to spoil.
struct Matmul {
  Matmul() {
    args.struct_size = sizeof args;
    args.x = Tensor(memory.data(), HY_TYPE_F32, {3, 64});
    args.w = Tensor(memory.data() + 1024, HY_TYPE_Q8_0, {5, 64});
    args.bias = Tensor(memory.data() + 2048, HY_TYPE_F32, {5});
    args.y = Tensor(memory.data() + 4096, HY_TYPE_F32, {3, 5});
  }
  std::string Refusal() const {
    hy_why why{};
    return halyard_op_matmul.validate(&args, &why) == HY_OK ? "" : why.text;
  }
  alignas(64) std::array<uint8_t, 8192> memory{};
  hy_matmul_args args{};
};

TEST(MatmulContractTest, TakesGoodArgs) {
  Matmul m;
  EXPECT_EQ(m.Refusal(), "");
  EXPECT_EQ(halyard_op_matmul.flops(&m.args), 2u * 3 * 5 * 64);
  m.args.bias = {};
  EXPECT_EQ(m.Refusal(), "");
  m.args.w.layout = 1;
  EXPECT_EQ(m.Refusal(), "") << "packed weights";
}

TEST(MatmulContractTest, TakesBatches) {
  Matmul m;
  m.args.x = Tensor(m.memory.data(), HY_TYPE_F32, {2, 1, 64});
  m.args.y = Tensor(m.memory.data() + 4096, HY_TYPE_F32, {2, 1, 5});
  EXPECT_EQ(m.Refusal(), "") << "weights of rank 2 for all";
  m.args.w = Tensor(m.memory.data() + 1024, HY_TYPE_Q8_0, {1, 5, 64});
  EXPECT_EQ(m.Refusal(), "");
  m.args.w = Tensor(m.memory.data() + 1024, HY_TYPE_Q8_0, {2, 5, 64});
  EXPECT_EQ(m.Refusal(), "");
  m.args.w = Tensor(m.memory.data() + 1024, HY_TYPE_Q8_0, {3, 5, 64});
  EXPECT_THAT(m.Refusal(), HasSubstr("w: shape[0]"));
}

TEST(MatmulContractTest, RefusesWhatDoesNotFit) {
  struct Fault {
    std::function<void(Matmul&)> spoil;
    const char* reason;
  };
  const std::vector<Fault> faults = {
      {[](Matmul& m) { m.args.struct_size = 8; }, "struct_size"},
      {[](Matmul& m) { m.args.activation = HY_QA_COUNT; }, "HY_QA"},
      {[](Matmul& m) { m.args.activation = HY_QA_BLOCK256; }, "whole blocks"},
      {[](Matmul& m) { m.args.x.rank = 1; }, "rank"},
      {[](Matmul& m) { m.args.x.type = HY_TYPE_I32; }, "x: type"},
      {[](Matmul& m) { m.args.y.type = HY_TYPE_Q8_0; }, "y: type"},
      {[](Matmul& m) { m.args.w.type = HY_TYPE_I8; }, "w: type"},
      {[](Matmul& m) {
         m.args.w = Tensor(m.memory.data(), HY_TYPE_Q8_0, {5, 96});
       },
       "columns of x"},
      {[](Matmul& m) { m.args.w.shape[0] = 4; }, "rows of w"},
      {[](Matmul& m) { m.args.y.shape[0] = 2; }, "rows of x"},
      {[](Matmul& m) { m.args.y.shape[0] = -3; }, "negative"},
      {[](Matmul& m) { m.args.bias.shape[0] = 6; }, "bias"},
      {[](Matmul& m) { m.args.bias.type = HY_TYPE_F16; }, "bias"},
      {[](Matmul& m) { m.args.y.data = m.memory.data(); }, "y overlaps x"},
      {[](Matmul& m) { m.args.y.data = m.memory.data() + 1028; }, "y overlaps w"},
      {[](Matmul& m) { m.args.y.data = m.memory.data() + 2052; }, "y overlaps bias"},
      {[](Matmul& m) { m.args.x.data = m.memory.data() + 2; }, "aligned"},
      {[](Matmul& m) { m.args.x.data = nullptr; }, "NULL"},
      {[](Matmul& m) { m.args.x.stride[0] = 128; }, "stride"},
      {[](Matmul& m) { m.args.x.layout = 1; }, "packed"},
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    Matmul m;
    faults[i].spoil(m);
    EXPECT_THAT(m.Refusal(), HasSubstr(faults[i].reason)) << "fault " << i;
  }
}

TEST(MatmulContractTest, QuantisedInputLeavesTheClassOpen) {
  Matmul m;
  m.args.x = Tensor(m.memory.data(), HY_TYPE_A8_B32, {3, 64});
  EXPECT_EQ(m.Refusal(), "");
  m.args.activation = HY_QA_BLOCK32;
  EXPECT_THAT(m.Refusal(), HasSubstr("quantised already"));
}

struct MatmulId {
  MatmulId() {
    args.struct_size = sizeof args;
    args.x = Tensor(memory.data(), HY_TYPE_F32, {3, 64});
    args.w = Tensor(memory.data() + 1024, HY_TYPE_Q8_0, {4, 5, 64});
    args.ids = Tensor(memory.data() + 4096, HY_TYPE_I32, {3, 2});
    args.y = Tensor(memory.data() + 5120, HY_TYPE_F32, {3, 2, 5});
  }
  std::string Refusal() const {
    hy_why why{};
    return halyard_op_matmul_id.validate(&args, &why) == HY_OK ? "" : why.text;
  }
  alignas(64) std::array<uint8_t, 8192> memory{};
  hy_matmul_id_args args{};
};

TEST(MatmulIdContractTest, TakesGoodArgs) {
  MatmulId m;
  EXPECT_EQ(m.Refusal(), "");
  EXPECT_EQ(halyard_op_matmul_id.flops(&m.args), 2u * 3 * 2 * 5 * 64);
  m.args.x = Tensor(m.memory.data(), HY_TYPE_F16, {3, 2, 64});
  EXPECT_EQ(m.Refusal(), "");
}

TEST(MatmulIdContractTest, RefusesWhatDoesNotFit) {
  struct Fault {
    std::function<void(MatmulId&)> spoil;
    const char* reason;
  };
  const std::vector<Fault> faults = {
      {[](MatmulId& m) { m.args.activation = 77; }, "HY_QA"},
      {[](MatmulId& m) {
         m.args.w = Tensor(m.memory.data(), HY_TYPE_Q8_0, {5, 64});
       },
       "w: rank"},
      {[](MatmulId& m) { m.args.ids.type = HY_TYPE_F32; }, "ids: type"},
      {[](MatmulId& m) { m.args.ids.shape[0] = 2; }, "tokens of x"},
      {[](MatmulId& m) {
         m.args.y = Tensor(&m.memory[5120], HY_TYPE_F32, {3, 3, 5});
       },
       "columns of ids"},
      {[](MatmulId& m) { m.args.y.shape[2] = 4; }, "rows of each expert"},
      {[](MatmulId& m) { m.args.w.shape[2] = 32; }, "columns of x"},
      {[](MatmulId& m) { m.args.y.data = m.memory.data() + 4100; }, "y overlaps ids"},
      {[](MatmulId& m) {
         m.args.x = Tensor(m.memory.data(), HY_TYPE_F32, {3, 3, 64});
       },
       "columns of ids"},
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    MatmulId m;
    faults[i].spoil(m);
    EXPECT_THAT(m.Refusal(), HasSubstr(faults[i].reason)) << "fault " << i;
  }
}

}  // namespace
}  // namespace halyard::ops
