// SPDX-License-Identifier: Apache-2.0
#include "registry/check_descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kValues[] = {1, 2, 4};
constexpr int64_t kTwice[] = {1, 2, 1};

hy_kernel_desc GoodKernel() {
  static constexpr hy_tuning_param kParams[] = {{"tile", kValues, 3, 0}};
  hy_kernel_desc kernel = BlendKernel("blend/f32.any.f32/fast@acme", HY_PRIORITY_VENDOR);
  kernel.types[0] = HY_TYPE_F32;
  kernel.types[2] = HY_TYPE_F32;
  kernel.param_count = 1;
  kernel.params = kParams;
  kernel.activation = HY_QA_BLOCK32;
  return kernel;
}

TEST(CheckDescriptorTest, GoodOnesPass) {
  EXPECT_EQ(CheckKernel(GoodKernel(), kBlend, "acme"), "");
  EXPECT_EQ(CheckKernel(BlendReference(), kBlend, "halyard"), "");
  EXPECT_EQ(CheckOp(kBlend), "");
  EXPECT_EQ(CheckOp(kPut), "");
  EXPECT_EQ(CheckLayout(kReversed, "acme", false), "");
}

struct KernelFault {
  const char* reason;
  std::function<void(hy_kernel_desc*)> make;
};

TEST(CheckDescriptorTest, EachFaultOfAKernelHasItsReason) {
  static const hy_tuning_param kNameless[] = {{nullptr, kValues, 3, 0}};
  static const hy_tuning_param kSame[] = {{"tile", kValues, 3, 0}, {"tile", kValues, 3, 0}};
  static const hy_tuning_param kEmpty[] = {{"tile", kValues, 0, 0}};
  static const hy_tuning_param kRepeats[] = {{"tile", kTwice, 3, 0}};
  const std::vector<KernelFault> faults = {
      {"has no id", [](auto* k) { k->id = nullptr; }},
      {"op/types/variant@provider", [](auto* k) { k->id = "blend/f32.any.f32"; }},
      {"op/types/variant@provider", [](auto* k) { k->id = "blend/f32.any.f32/fast"; }},
      {"op/types/variant@provider", [](auto* k) { k->id = "blend/f32.any.f32/Fast@acme"; }},
      {"op/types/variant@provider", [](auto* k) { k->id = "blend/f32.any.f32/a b@acme"; }},
      {"an id of op blond", [](auto* k) { k->id = "blond/f32.any.f32/fast@acme"; }},
      {"but its types are f32.any.f32", [](auto* k) { k->id = "blend/f32.f32.f32/fast@acme"; }},
      {"provider other in a table of acme", [](auto* k) { k->id = "blend/f32.any.f32/f@other"; }},
      {"types[1] = 63, which is no type", [](auto* k) { k->types[1] = 63; }},
      {"types[3], but blend has 3 TYPED", [](auto* k) { k->types[3] = HY_TYPE_F32; }},
      {"contract 2 of blend, and this Halyard has 1: update",
       [](auto* k) { k->contract_version = 2; }},
      {"contract 0 of blend, and this Halyard has 1: build",
       [](auto* k) { k->contract_version = 0; }},
      {"has no run", [](auto* k) { k->run = nullptr; }},
      {"has 0 phases", [](auto* k) { k->phases = 0; }},
      {"has 9 phases", [](auto* k) { k->phases = 9; }},
      {"none of HY_QA_*", [](auto* k) { k->activation = HY_QA_COUNT; }},
      {"none of HY_ACC_*", [](auto* k) { k->accumulator = 5; }},
      {"has priority -1", [](auto* k) { k->priority = -1; }},
      {"has priority 4000", [](auto* k) { k->priority = 4000; }},
      {"for references, and for them only", [](auto* k) { k->priority = 999; }},
      {"for references, and for them only", [](auto* k) { k->flags |= HY_KERNEL_REFERENCE; }},
      {"flags that this Halyard does not know", [](auto* k) { k->flags |= UINT64_C(1) << 40; }},
      {"has 9 parameters", [](auto* k) { k->param_count = 9; }},
      {"params NULL", [](auto* k) { k->params = nullptr; }},
      {"parameter 0 without a name", [](auto* k) { k->params = kNameless; }},
      {"two parameters tile", [](auto* k) { k->params = kSame, k->param_count = 2; }},
      {"tile without values", [](auto* k) { k->params = kEmpty; }},
      {"a value of parameter tile twice", [](auto* k) { k->params = kRepeats; }},
  };
  for (const KernelFault& fault : faults) {
    hy_kernel_desc kernel = GoodKernel();
    fault.make(&kernel);
    EXPECT_THAT(CheckKernel(kernel, kBlend, "acme"), HasSubstr(fault.reason));
  }
}

TEST(CheckDescriptorTest, AReferenceTakesEverything) {
  const std::vector<KernelFault> faults = {
      {"for some types only",
       [](auto* k) { k->types[0] = HY_TYPE_F32, k->id = "blend/f32.any.any/reference@halyard"; }},
      {"needs an ISA extension", [](auto* k) { k->isa[1] = 1; }},
      {"reference with a predicate",
       [](auto* k) {
         k->supports = [](const void*, const hy_kernel_target*, hy_why*) { return 1; };
       }},
      {"needs packed weights", [](auto* k) { k->layout = 7; }},
      {"activation class of its own", [](auto* k) { k->activation = HY_QA_NONE; }},
  };
  for (const KernelFault& fault : faults) {
    hy_kernel_desc kernel = BlendReference();
    fault.make(&kernel);
    EXPECT_THAT(CheckKernel(kernel, kBlend, "halyard"), HasSubstr(fault.reason));
  }
}

TEST(CheckDescriptorTest, AClassNeedsAnOpWithThatChoice) {
  hy_kernel_desc kernel = PutTrickster("put/any/fast@acme", HY_PRIORITY_VENDOR);
  EXPECT_EQ(CheckKernel(kernel, kPut, "acme"), "");
  kernel.activation = HY_QA_NONE;
  EXPECT_THAT(CheckKernel(kernel, kPut, "acme"), HasSubstr("put has no such choice"));
}

struct OpFault {
  const char* reason;
  std::function<void(hy_op_desc*, std::vector<hy_operand>*)> make;
};

TEST(CheckDescriptorTest, EachFaultOfAnOpHasItsReason) {
  const std::vector<OpFault> faults = {
      {"no name", [](auto* op, auto*) { op->name = nullptr; }},
      {"no name", [](auto* op, auto*) { op->name = "Blend"; }},
      {"contract version 0", [](auto* op, auto*) { op->version = 0; }},
      {"args of 8 bytes", [](auto* op, auto*) { op->args_bytes = 8; }},
      {"args of 5000 bytes", [](auto* op, auto*) { op->args_bytes = 5000; }},
      {"no validate", [](auto* op, auto*) { op->validate = nullptr; }},
      {"no flops", [](auto* op, auto*) { op->flops = nullptr; }},
      {"activation_offset 999", [](auto* op, auto*) { op->activation_offset = 999; }},
      {"has 0 operands", [](auto* op, auto*) { op->operand_count = 0; }},
      {"has 13 operands", [](auto* op, auto*) { op->operand_count = 13; }},
      {"an operand without a name", [](auto*, auto* o) { (*o)[0].name = nullptr; }},
      {"two operands x", [](auto*, auto* o) { (*o)[1].name = "x"; }},
      {"operand x at offset 0", [](auto*, auto* o) { (*o)[0].offset = 0; }},
      {"operand x at offset 9", [](auto*, auto* o) { (*o)[0].offset = 9; }},
      {"is no hy_tensor within", [](auto*, auto* o) { (*o)[0].offset = sizeof(BlendArgs) - 8; }},
      {"operand y has flags", [](auto*, auto* o) { (*o)[2].flags |= 1u << 30; }},
      {"slice axis beyond", [](auto*, auto* o) { (*o)[2].flags |= HY_OPERAND_SLICE(1, 5); }},
      {"neither read nor written", [](auto*, auto* o) { (*o)[2].flags = HY_OPERAND_TYPED; }},
      {"writes no operand", [](auto*, auto* o) { (*o)[2].flags = HY_OPERAND_READ; }},
  };
  for (const OpFault& fault : faults) {
    std::vector<hy_operand> operands(kBlend.operands, kBlend.operands + kBlend.operand_count);
    hy_op_desc op = kBlend;
    op.operands = operands.data();
    fault.make(&op, &operands);
    EXPECT_THAT(CheckOp(op), HasSubstr(fault.reason));
  }
}

TEST(CheckDescriptorTest, EachFaultOfALayoutHasItsReason) {
  const std::vector<std::pair<const char*, std::function<void(hy_layout_desc*)>>> faults = {
      {"has no name", [](auto* l) { l->name = nullptr; }},
      {"does not end in @acme", [](auto* l) { l->name = "f32/reversed@other"; }},
      {"id 0", [](auto* l) { l->id = 0; }},
      {"id 9", [](auto* l) { l->id = 9; }},
      {"packs type 63", [](auto* l) { l->type = 63; }},
      {"lacks a function", [](auto* l) { l->supports = nullptr; }},
      {"lacks a function", [](auto* l) { l->packed_bytes = nullptr; }},
      {"lacks a function", [](auto* l) { l->pack = nullptr; }},
      {"lacks a function", [](auto* l) { l->unpack = nullptr; }},
  };
  for (const auto& [reason, make] : faults) {
    hy_layout_desc layout = kReversed;
    make(&layout);
    EXPECT_THAT(CheckLayout(layout, "acme", false), HasSubstr(reason));
  }
  hy_layout_desc own = kReversed;
  own.name = "f32/reversed@halyard";
  EXPECT_THAT(CheckLayout(own, "halyard", true), HasSubstr("Halyard's own"));
  own.id = 9;
  EXPECT_EQ(CheckLayout(own, "halyard", true), "");
}

// A struct as a later and an earlier header would have it.
struct Grown {
  hy_layout_desc desc;
  uint64_t later;
};

TEST(CheckDescriptorTest, SizesFollowTheRule) {
  Grown grown{kReversed, 0};
  grown.desc.struct_size = sizeof grown;
  hy_layout_desc copy{};
  EXPECT_EQ(CopySized(&grown.desc, sizeof(hy_layout_desc), &copy), "");
  EXPECT_EQ(copy.id, kReversedId);
  EXPECT_EQ(copy.struct_size, sizeof(hy_layout_desc));
  grown.later = 1;
  EXPECT_THAT(CopySized(&grown.desc, sizeof(hy_layout_desc), &copy), HasSubstr("update Halyard"));
  hy_layout_desc small = kReversed;
  small.struct_size = offsetof(hy_layout_desc, unpack);
  EXPECT_THAT(CopySized(&small, sizeof(hy_layout_desc), &copy), HasSubstr("set it to sizeof"));
  EXPECT_EQ(CopySized(&small, small.struct_size, &copy), "");
  EXPECT_EQ(copy.unpack, nullptr);
  EXPECT_EQ(CopySized<hy_layout_desc>(nullptr, 8, &copy), "is NULL");
}

TEST(CheckDescriptorTest, WordsAreLowerCase) {
  for (const char* word : {"a", "x86_avx2", "v1.2", "acme"}) EXPECT_TRUE(IsWord(word)) << word;
  for (const char* word : {"", "1a", "_a", "A", "a b", "a-b", "a/b", "a@b"})
    EXPECT_FALSE(IsWord(word)) << word;
  EXPECT_TRUE(IsWord(std::string(63, 'a')));
  EXPECT_FALSE(IsWord(std::string(64, 'a')));
}

}  // namespace
}  // namespace halyard::registry
