// SPDX-License-Identifier: Apache-2.0
#include "registry/layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "registry/args.h"
#include "registry/run.h"
#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::HasSubstr;

constexpr char kPacked[] = "blend/any/packed@acme";

class LayoutsTest : public ::testing::Test {
 protected:
  LayoutsTest() : device_(TestDevice()), team_(TestTeam(device_, 3)) {
    Fill(&registry_,
         TestTable("acme").Layout(kReversed).Kernel(ReversedKernel(kPacked, HY_PRIORITY_VENDOR)));
    layout_ = registry_.FindLayout(kReversedId);
  }
  Registry registry_;
  hal::Device device_;
  hal::Team team_;
  const Layout* layout_ = nullptr;
};

TEST_F(LayoutsTest, PackingAndBackGivesTheSameNumbers) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{7, 8}, {1, 4}, {0, 8}, {8}, {3, 5, 4}, {2, 2, 3, 4}}) {
    hy_tensor canonical =
        hy_tensor_dense(nullptr, HY_TYPE_F32, static_cast<uint32_t>(shape.size()), shape.data());
    const auto count = static_cast<size_t>(ExtentBytes(canonical) / sizeof(float));
    std::vector<float> numbers(count + 1);
    for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i);
    canonical.data = numbers.data();
    absl::StatusOr<PackedTensor> packed = PackedTensor::Make(*layout_, canonical, team_);
    ASSERT_TRUE(packed.ok()) << packed.status();
    EXPECT_EQ(packed->tensor().layout, kReversedId);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(packed->tensor().data) % 64, 0u);
    if (count > 0) {
      EXPECT_EQ(static_cast<float*>(packed->tensor().data)[0],
                static_cast<float>(shape.back() - 1));
    }
    std::vector<float> back(count + 1);
    hy_tensor target = canonical;
    target.data = back.data();
    ASSERT_TRUE(UnpackTo(*layout_, packed->tensor(), target, team_).ok());
    EXPECT_EQ(back, numbers);
  }
}

TEST_F(LayoutsTest, RowsWithGapsPackAsIfDense) {
  std::vector<float> numbers(3 * 10);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const int64_t shape[] = {3, 8};
  hy_tensor canonical = hy_tensor_dense(numbers.data(), HY_TYPE_F32, 2, shape);
  canonical.stride[0] = 10 * sizeof(float);
  absl::StatusOr<PackedTensor> packed = PackedTensor::Make(*layout_, canonical, team_);
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(static_cast<float*>(packed->tensor().data)[8], 17.0f);
}

TEST_F(LayoutsTest, WhatDoesNotFitIsRefused) {
  float number = 0;
  const int64_t odd[] = {3, 6};
  absl::Status status =
      PackedTensor::Make(*layout_, hy_tensor_dense(&number, HY_TYPE_F32, 2, odd), team_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("[3, 6] f32: rows are not whole fours"));
  const int64_t even[] = {3, 8};
  status =
      PackedTensor::Make(*layout_, hy_tensor_dense(&number, HY_TYPE_F16, 2, even), team_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(LayoutsTest, APackedCallRunsOnItsKernelAndFallsBackToTheKeptBytes) {
  CanonicalStore store;
  Blend blend(5, 8);
  absl::StatusOr<PackedTensor> packed = PackedTensor::Make(*layout_, blend.args.w, team_, &store);
  ASSERT_TRUE(packed.ok());
  blend.args.w = packed->tensor();
  RunOptions options;
  options.canonical = &store;
  Runner runner(&registry_, &team_, options);
  const Op& op = *registry_.FindOp("blend");
  ASSERT_TRUE(runner.Run(op, &blend.args).ok());
  EXPECT_EQ(runner.ran()->id(), kPacked);
  EXPECT_EQ(blend.y, blend.Expected());
  blend.y.assign(blend.y.size(), 0);
  registry_.Quarantine(*registry_.FindKernel(kPacked), "test");
  ASSERT_TRUE(runner.Run(op, &blend.args).ok());
  EXPECT_EQ(runner.ran()->id(), "blend/any/generic_base@halyard");
  EXPECT_EQ(blend.y, blend.Expected());
  EXPECT_EQ(store.unpacked_bytes(), 0u) << "the canonical bytes were there";
}

TEST_F(LayoutsTest, BytesThatWereGivenUpAreUnpackedOnce) {
  CanonicalStore store;
  Blend blend(5, 8);
  absl::StatusOr<PackedTensor> packed = PackedTensor::Make(*layout_, blend.args.w, team_);
  ASSERT_TRUE(packed.ok());
  hy_tensor gone = blend.args.w;
  gone.data = nullptr;
  store.Keep(packed->tensor(), gone);
  const absl::StatusOr<hy_tensor> first = store.Get(*layout_, packed->tensor(), team_);
  const absl::StatusOr<hy_tensor> second = store.Get(*layout_, packed->tensor(), team_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->data, second->data);
  EXPECT_EQ(std::memcmp(first->data, blend.w.data(), blend.w.size() * sizeof(float)), 0);
  EXPECT_EQ(store.unpacked_bytes(), blend.w.size() * sizeof(float));
  store.Forget(packed->tensor());
  EXPECT_EQ(store.Get(*layout_, packed->tensor(), team_).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(LayoutsTest, WithoutAStoreAFallbackUnpacksByItself) {
  Blend blend(5, 8);
  absl::StatusOr<PackedTensor> packed = PackedTensor::Make(*layout_, blend.args.w, team_);
  ASSERT_TRUE(packed.ok());
  blend.args.w = packed->tensor();
  registry_.Quarantine(*registry_.FindKernel(kPacked), "test");
  Runner runner(&registry_, &team_);
  ASSERT_TRUE(runner.Run(*registry_.FindOp("blend"), &blend.args).ok());
  EXPECT_EQ(blend.y, blend.Expected());
}

TEST_F(LayoutsTest, APackedKernelThatFailsIsRunAgainOnCanonicalBytes) {
  hy_kernel_desc failing = ReversedKernel("blend/any/failing@acme", HY_PRIORITY_VENDOR + 1);
  failing.run = [](const void* raw, const hy_kernel_context* context) -> hy_status {
    const auto& args = *static_cast<const BlendArgs*>(raw);
    if (context->index == 0) static_cast<float*>(args.y.data)[0] = 99;
    return HY_DATA_LOSS;
  };
  TestTable more("acme");
  more.Kernel(failing);
  ASSERT_TRUE(registry_.Add(more.Get(), "/lib/more.so", false).ok());
  Blend blend(5, 8);
  absl::StatusOr<PackedTensor> packed = PackedTensor::Make(*layout_, blend.args.w, team_);
  ASSERT_TRUE(packed.ok());
  blend.args.w = packed->tensor();
  Runner runner(&registry_, &team_);
  ASSERT_TRUE(runner.Run(*registry_.FindOp("blend"), &blend.args).ok());
  EXPECT_EQ(blend.y, blend.Expected());
  EXPECT_EQ(runner.ran()->id(), "blend/any/reference@halyard");
  ASSERT_TRUE(runner.Run(*registry_.FindOp("blend"), &blend.args).ok());
  EXPECT_EQ(runner.ran()->id(), kPacked) << "the next one that takes the layout";
}

TEST_F(LayoutsTest, APackedTensorForgetsWhereItCameFromWhenItGoes) {
  CanonicalStore store;
  Blend blend(5, 8);
  std::optional<PackedTensor> packed = *PackedTensor::Make(*layout_, blend.args.w, team_, &store);
  PackedTensor moved = *std::move(packed);
  packed.reset();
  EXPECT_TRUE(store.Get(*layout_, moved.tensor(), team_).ok());
  const hy_tensor tensor = moved.tensor();
  { const PackedTensor last = std::move(moved); }
  EXPECT_FALSE(store.Get(*layout_, tensor, team_).ok());
}

TEST_F(LayoutsTest, ASelectionThatMayPackWantsThePackedTensor) {
  Blend blend(5, 8);
  Runner runner(&registry_, &team_);
  Request request;
  request.op = registry_.FindOp("blend");
  request.args = &blend.args;
  request.target = runner.target();
  request.may_pack = true;
  const absl::StatusOr<Selection> selection = Select(registry_, request);
  ASSERT_TRUE(selection.ok());
  const absl::Status status = runner.Run(*selection, &blend.args);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("needs w packed as f32/reversed@acme"));
}

TEST_F(LayoutsTest, UnknownLayoutsAreAnErrorThatSaysWhatToDo) {
  Blend blend(5, 8);
  blend.args.w.layout = 0x12345;
  Runner runner(&registry_, &team_);
  const absl::Status status = runner.Run(*registry_.FindOp("blend"), &blend.args);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("load the plugin that packed them"));
}

}  // namespace
}  // namespace halyard::registry
