// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "hal/fake_port.h"
#include "hal/loader.h"
#include "registry/device_run.h"
#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::HasSubstr;

constexpr char kTrick[] = "blend/any/trick@acme";

/// The tensors of a blend in buffers: x and w with a few bytes before them, y alone.
struct PlacedBlend {
  PlacedBlend(const hal::Device& device, const Blend& blend) : args(blend.args) {
    const uint64_t bytes = blend.x.size() * sizeof(float);
    hal::AllocRequest request;
    request.bytes = 3 * bytes + 100;
    buffer.emplace(*device.Allocate(request));
    places = {{&*buffer, 4}, {&*buffer, bytes + 8}, {&*buffer, 2 * bytes + 12}};
    Write(0, blend.x);
    Write(1, blend.w);
    args.x.data = args.w.data = args.y.data = nullptr;
  }
  void Write(size_t operand, const std::vector<float>& values) {
    EXPECT_TRUE(buffer
                    ->Write(places[operand].offset,
                            absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(values.data()),
                                                values.size() * sizeof(float)))
                    .ok());
  }
  std::vector<float> Read(size_t operand, size_t count) const {
    std::vector<float> values(count);
    EXPECT_TRUE(
        buffer
            ->Read(places[operand].offset,
                   absl::MakeSpan(reinterpret_cast<uint8_t*>(values.data()), count * sizeof(float)))
            .ok());
    return values;
  }

  BlendArgs args;
  std::optional<hal::Buffer> buffer;
  std::vector<Place> places;
};

// Two kinds of device: memory that the host sees, and memory that it does not.
class DeviceTest : public ::testing::TestWithParam<bool> {
 protected:
  DeviceTest()
      : port_(std::make_shared<hal::FakePort>(Shape())),
        device_(Open()),
        team_(TestTeam(device_, 2)) {
    ResetBehaviour();
    Fill(&registry_, TestTable("acme").Kernel(Trickster(kTrick, HY_PRIORITY_VENDOR)));
    op_ = registry_.FindOp("blend");
  }
  static hal::FakePort::Shape Shape() {
    hal::FakePort::Shape shape;
    shape.maps = GetParam();
    return shape;
  }
  hal::Device Open() {
    if (!GetParam()) port_->memory_flags = 0;
    return hal::OpenFake(port_);
  }
  bool is_visible() const { return GetParam(); }

  std::shared_ptr<hal::FakePort> port_;
  hal::Device device_;
  hal::Team team_;
  Registry registry_;
  const Op* op_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Memory, DeviceTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "HostVisible" : "CopyOnly"; });

TEST_P(DeviceTest, OperandsInBuffersAreReachedAndWrittenBack) {
  DeviceRunner runner(&registry_, &device_, &team_);
  Blend blend(6, 5);
  PlacedBlend placed(device_, blend);
  const uint64_t bytes = blend.x.size() * sizeof(float);
  for (uint64_t run = 1; run <= 3; ++run) {
    blend.x[run] += 1;
    blend.old_x = blend.x;
    placed.Write(0, blend.x);
    ASSERT_TRUE(runner.Run(*op_, &placed.args, placed.places).ok());
    EXPECT_EQ(placed.Read(2, blend.y.size()), blend.Expected());
    EXPECT_EQ(runner.runner().ran()->id(), kTrick);
    EXPECT_EQ(runner.counts().bytes_in, is_visible() ? 0 : run * bytes) << "x; w is kept";
    EXPECT_EQ(runner.counts().bytes_out, is_visible() ? 0 : run * bytes);
  }
  EXPECT_EQ(runner.counts().shadow_bytes > 0, !is_visible());
}

TEST_P(DeviceTest, WeightsAreReadAgainOnceForgotten) {
  DeviceRunner runner(&registry_, &device_, &team_);
  Blend blend(6, 5);
  PlacedBlend placed(device_, blend);
  ASSERT_TRUE(runner.Run(*op_, &placed.args, placed.places).ok());
  for (float& value : blend.w) value += 1;
  placed.Write(1, blend.w);
  runner.Forget(*placed.buffer);
  EXPECT_EQ(runner.counts().shadow_bytes, 0u);
  ASSERT_TRUE(runner.Run(*op_, &placed.args, placed.places).ok());
  EXPECT_EQ(placed.Read(2, blend.y.size()), blend.Expected());
}

TEST_P(DeviceTest, HostPointersAndBuffersGoTogether) {
  DeviceRunner runner(&registry_, &device_, &team_);
  Blend blend(6, 5);
  PlacedBlend placed(device_, blend);
  placed.args.x.data = blend.x.data();
  placed.places[0] = {};
  placed.args.y.data = blend.y.data();
  placed.places.resize(2);
  ASSERT_TRUE(runner.Run(*op_, &placed.args, placed.places).ok());
  EXPECT_EQ(blend.y, blend.Expected());
  EXPECT_EQ(runner.counts().bytes_out, 0u);
}

TEST_P(DeviceTest, InPlaceAndRowsWithGaps) {
  DeviceRunner runner(&registry_, &device_, &team_);
  TheBehaviour().status = HY_INTERNAL;  // so that the copy of x is needed, too
  TheBehaviour().spoils = true;
  const Blend blend(4, 3);
  hal::AllocRequest request;
  request.bytes = 1024;
  const absl::StatusOr<hal::Buffer> buffer = device_.Allocate(request);
  ASSERT_TRUE(buffer.ok());
  std::vector<float> rows(4 * 7, 77);
  for (size_t i = 0; i < 12; ++i) rows[i / 3 * 7 + 2 + i % 3] = blend.x[i];
  const auto bytes = [](std::vector<float>& of) {
    return absl::MakeSpan(reinterpret_cast<uint8_t*>(of.data()), of.size() * sizeof(float));
  };
  ASSERT_TRUE(buffer->Write(0, bytes(rows)).ok());
  BlendArgs args = blend.args;
  args.x.data = args.y.data = nullptr;
  args.x.stride[0] = args.y.stride[0] = 7 * sizeof(float);
  const Place view{&*buffer, 8};
  ASSERT_TRUE(runner.Run(*op_, &args, {view, {}, view}).ok());
  std::vector<float> after(rows.size());
  ASSERT_TRUE(buffer->Read(0, bytes(after)).ok());
  for (size_t i = 0; i < 12; ++i) rows[i / 3 * 7 + 2 + i % 3] = blend.Expected()[i];
  EXPECT_EQ(after, rows) << "and what lies between the rows stays";
}

TEST_P(DeviceTest, WhatDoesNotFitInStagingIsRunInPieces) {
  DeviceOptions options;
  options.limits.staging_bytes = 1200;
  options.limits.shadow_bytes = 0;  // weights are staged, too
  DeviceRunner runner(&registry_, &device_, &team_, options);
  Blend blend(23, 16);
  PlacedBlend placed(device_, blend);
  const absl::StatusOr<CallPlan> plan = runner.Explain(*op_, &placed.args, placed.places);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(runner.Run(*op_, &placed.args, placed.places).ok());
  EXPECT_EQ(placed.Read(2, blend.y.size()), blend.Expected());
  if (is_visible()) {
    EXPECT_EQ(plan->runs(), 1);
    EXPECT_EQ(plan->staging_bytes, 0u);
    return;
  }
  EXPECT_EQ(plan->pieces, 23);
  EXPECT_EQ(plan->pieces_at_once, 4);
  EXPECT_LE(plan->staging_bytes, 1200u);
  EXPECT_EQ(TheBehaviour().calls, 6u);
  EXPECT_EQ(runner.counts().cut_calls, 1u);
  EXPECT_EQ(runner.counts().bytes_in, 2 * blend.x.size() * sizeof(float));
  EXPECT_EQ(runner.counts().bytes_out, blend.x.size() * sizeof(float));
}

TEST_P(DeviceTest, EveryStagingLimitGivesTheSameNumbers) {
  for (uint64_t limit = 300; limit < 6000; limit += 137) {
    for (const bool in_place : {false, true}) {
      DeviceOptions options;
      options.limits.staging_bytes = limit;
      options.limits.shadow_bytes = limit % 2 == 0 ? 0 : UINT64_MAX;
      DeviceRunner runner(&registry_, &device_, &team_, options);
      Blend blend(13, 9, limit);
      PlacedBlend placed(device_, blend);
      if (in_place) placed.places[2] = placed.places[0];
      ASSERT_TRUE(runner.Run(*op_, &placed.args, placed.places).ok());
      ASSERT_EQ(placed.Read(2, blend.y.size()), blend.Expected()) << "limit " << limit;
    }
  }
}

TEST_P(DeviceTest, OneRowAboveTheLimitIsRunAndCounted) {
  DeviceOptions options;
  options.limits.staging_bytes = 100;
  DeviceRunner runner(&registry_, &device_, &team_, options);
  Blend blend(3, 64);
  PlacedBlend placed(device_, blend);
  ASSERT_TRUE(runner.Run(*op_, &placed.args, placed.places).ok());
  EXPECT_EQ(placed.Read(2, blend.y.size()), blend.Expected());
  EXPECT_EQ(runner.counts().calls_above_limit, is_visible() ? 0u : 1u);
}

TEST_P(DeviceTest, DataThatBreaksTheContractComesBackWithTheOtherRows) {
  DeviceOptions options;
  options.limits.staging_bytes = 1200;
  DeviceRunner runner(&registry_, &device_, &team_, options);
  Blend blend(23, 16);
  blend.x[16] = std::nanf("");
  PlacedBlend placed(device_, blend);
  const absl::Status status = runner.Run(*op_, &placed.args, placed.places);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  std::vector<float> expected = blend.Expected();
  for (size_t i = 16; i < 32; ++i) expected[i] = 0;
  EXPECT_EQ(placed.Read(2, blend.y.size()), expected);
}

TEST_P(DeviceTest, OperandsThatKeepWhatIsNotNamedAreStagedBothWays) {
  DeviceOptions options;
  options.limits.staging_bytes = 400;
  DeviceRunner runner(&registry_, &device_, &team_, options);
  std::vector<float> pages(10 * 4, 5);
  std::vector<float> rows(6 * 4, 9);
  std::vector<int32_t> slots = {7, 1, 3, 0, 8, 2};
  const int64_t page_shape[] = {10, 4};
  const int64_t row_shape[] = {6, 4};
  PutArgs args{};
  args.struct_size = sizeof args;
  args.x = hy_tensor_dense(rows.data(), HY_TYPE_F32, 2, row_shape);
  args.slots = hy_tensor_dense(slots.data(), HY_TYPE_I32, 1, row_shape);
  args.pages = hy_tensor_dense(nullptr, HY_TYPE_F32, 2, page_shape);
  hal::AllocRequest request;
  request.bytes = 160;
  const absl::StatusOr<hal::Buffer> buffer = device_.Allocate(request);
  ASSERT_TRUE(buffer.ok());
  const auto bytes = absl::MakeSpan(reinterpret_cast<uint8_t*>(pages.data()), 160);
  ASSERT_TRUE(buffer->Write(0, bytes).ok());
  ASSERT_TRUE(runner.Run(*registry_.FindOp("put"), &args, {{}, {}, {&*buffer, 0}}).ok());
  ASSERT_TRUE(buffer->Read(0, bytes).ok());
  for (size_t row = 0; row < 10; ++row) {
    const bool named = std::count(slots.begin(), slots.end(), static_cast<int32_t>(row)) > 0;
    EXPECT_EQ(pages[row * 4 + 3], named ? 9 : 5) << row;
  }
}

TEST_P(DeviceTest, BadCallsMoveNothing) {
  DeviceRunner runner(&registry_, &device_, &team_);
  Blend blend(6, 5);
  PlacedBlend placed(device_, blend);
  placed.places[2].offset = placed.buffer->size_bytes() - 100;
  const absl::Status status = runner.Run(*op_, &placed.args, placed.places);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("y needs bytes 360 to 480 of a buffer"));
  placed.args.y.shape[0] = 5;
  EXPECT_EQ(runner.Run(*op_, &placed.args, placed.places).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(runner.counts().calls, 0u);
  EXPECT_EQ(TheBehaviour().calls, 0u);
}

TEST_P(DeviceTest, ThePlanIsPrintedBeforeAnythingIsMoved) {
  const DeviceRunner runner(&registry_, &device_, &team_);
  Blend blend(6, 5);
  PlacedBlend placed(device_, blend);
  absl::StatusOr<CallPlan> plan = runner.Explain(*op_, &placed.args, placed.places);
  ASSERT_TRUE(plan.ok());
  const std::string text = PlacementText({{"layer 0", *std::move(plan)}});
  if (is_visible()) {
    EXPECT_THAT(text, HasSubstr("host view"));
    EXPECT_THAT(text, HasSubstr("moved in each run: 0 bytes; kept on the host: 0 bytes"));
  } else {
    EXPECT_THAT(text, HasSubstr("kept on the host, copied once"));
    EXPECT_THAT(text, HasSubstr("moved in each run: 240 bytes; kept on the host: 120 bytes"));
  }
  EXPECT_EQ(port_->copies_made + port_->maps_made, 2u) << "those of the test itself";
}

// The ports of the tree, as far as they run here.
TEST(DevicePortsTest, BlendRunsOnEveryPortByFallback) {
  hal::LoadOptions load;
  load.builtins = hal::BuiltinPorts();
  Registry registry;
  FillBuiltin(&registry);
  int ports = 0;
  for (const char* word : {"linux", "sim_discrete", "sim_noncoherent", "sim_async", "opencl"}) {
    const absl::StatusOr<std::shared_ptr<hal::Port>> port = hal::LoadPort(word, load);
    if (!port.ok()) continue;
    const absl::StatusOr<hal::Device> device = hal::Device::Open(*port);
    if (!device.ok()) continue;
    SCOPED_TRACE(word);
    ++ports;
    const hal::Team team = TestTeam(*device, 2);
    for (const uint64_t limit : {uint64_t{64} << 20, uint64_t{4096}}) {
      DeviceOptions options;
      options.limits.staging_bytes = limit;
      DeviceRunner runner(&registry, &*device, &team, options);
      Blend blend(37, 64);
      PlacedBlend placed(*device, blend);
      for (int run = 0; run < 2; ++run) {
        const absl::Status status =
            runner.Run(*registry.FindOp("blend"), &placed.args, placed.places);
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_EQ(placed.Read(2, blend.y.size()), blend.Expected());
      }
    }
  }
  EXPECT_GE(ports, 4);
}

}  // namespace
}  // namespace halyard::registry
