// SPDX-License-Identifier: Apache-2.0
#include "registry/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "registry/test_allocations.h"
#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::HasSubstr;

constexpr char kTrick[] = "blend/any/trick@acme";
constexpr char kTicket[] = "blend/any/ticket@acme";
constexpr char kGeneric[] = "blend/any/generic_base@halyard";
constexpr char kReferenceId[] = "blend/any/reference@halyard";

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() : device_(TestDevice()), team_(TestTeam(device_, 3)) { ResetBehaviour(); }

  void Start(const TestTable& plugin) {
    Fill(&registry_, plugin);
    op_ = registry_.FindOp("blend");
    plan_.emplace(&registry_, &team_);
  }
  void StartTrick() { Start(TestTable("acme").Kernel(Trickster(kTrick, HY_PRIORITY_VENDOR))); }
  // Adds blends one after the other: each reads what the one before wrote.
  void AddChain(size_t length, int64_t rows = 6, int64_t cols = 8) {
    for (size_t i = 0; i < length; ++i) {
      blends_.push_back(std::make_unique<Blend>(rows, cols, i + 1));
      if (i > 0) blends_[i]->args.x = blends_[i - 1]->args.y;
      ASSERT_TRUE(plan_->Add(*op_, &blends_[i]->args).ok());
    }
  }
  std::vector<float> ChainExpected(size_t end) const {
    std::vector<float> value = blends_[0]->x;
    for (size_t i = 0; i < end; ++i) {
      for (size_t c = 0; c < value.size(); ++c) value[c] += 0.5f * blends_[i]->w[c];
    }
    return value;
  }
  const Kernel& Of(const char* id) { return *registry_.FindKernel(id); }

  Registry registry_;
  hal::Device device_;
  hal::Team team_;
  const Op* op_ = nullptr;
  std::optional<Plan> plan_;
  std::vector<std::unique_ptr<Blend>> blends_;
};

TEST_F(PlanTest, StepsRunInOneRegionWithABarrierWhereDataFlows) {
  Start(TestTable("acme").Kernel(Ticketed(kTicket, HY_PRIORITY_VENDOR)));
  AddChain(3);
  blends_.push_back(std::make_unique<Blend>(6, 8, 9));
  ASSERT_TRUE(plan_->Add(*op_, &blends_[3]->args).ok());
  ASSERT_TRUE(plan_->Commit().ok());
  EXPECT_EQ(plan_->barriers(), 3u * 3 - 1) << "three phases each; the fourth step is beside them";
  for (int run = 0; run < 3; ++run) {
    for (auto& blend : blends_) blend->y.assign(blend->y.size(), -1);
    ASSERT_TRUE(plan_->Run().ok());
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(blends_[i]->y, ChainExpected(i + 1));
    EXPECT_EQ(blends_[3]->y, blends_[3]->Expected());
  }
  EXPECT_EQ(Of(kTicket).runs(), 12u);
  EXPECT_EQ(plan_->ran(2)->id(), kTicket);
}

TEST_F(PlanTest, RunningAllocatesNothingAndSelectsNothing) {
  StartTrick();
  AddChain(20);
  ASSERT_TRUE(plan_->Commit().ok());
  ASSERT_TRUE(plan_->Run().ok());
  const uint64_t before = AllocationsSoFar();
  const bool ok = plan_->Run().ok();
  const uint64_t after = AllocationsSoFar();
  EXPECT_TRUE(ok);
  EXPECT_EQ(after - before, 0u);
  EXPECT_GT(before, 0u) << "allocations are counted";
}

TEST_F(PlanTest, NeitherDoesARunnerOnceItKnowsTheSize) {
  StartTrick();
  Blend blend(6, 8);
  Runner runner(&registry_, &team_);
  Request request = runner.RequestFor(*op_, &blend.args);
  const Choice choice{kTrick, {}, "a tier with a name that no short string holds"};
  request.choice = &choice;
  const absl::StatusOr<Selection> selection = Select(registry_, request);
  ASSERT_TRUE(selection.ok());
  ASSERT_TRUE(runner.Run(*selection, &blend.args).ok());
  const uint64_t before = AllocationsSoFar();
  const bool ok = runner.Run(*selection, &blend.args).ok();
  const uint64_t after = AllocationsSoFar();
  EXPECT_TRUE(ok);
  EXPECT_EQ(after - before, 0u);
}

TEST_F(PlanTest, AnEmptyPlanRuns) {
  StartTrick();
  EXPECT_EQ(plan_->Run().code(), absl::StatusCode::kFailedPrecondition) << "not committed";
  ASSERT_TRUE(plan_->Commit().ok());
  EXPECT_TRUE(plan_->Run().ok());
  EXPECT_EQ(plan_->barriers(), 0u);
}

TEST_F(PlanTest, BadArgsAreNamedByTheirStep) {
  StartTrick();
  AddChain(1);
  Blend bad(2, 3);
  bad.args.w.shape[0] = 1;
  const absl::Status status = plan_->Add(*op_, &bad.args).status();
  EXPECT_EQ(status.message(), "step 1 (blend): blend: x, w and y must have one shape");
  EXPECT_EQ(plan_->size(), 1u);
}

TEST_F(PlanTest, AKernelThatFailsInTheMiddleIsReplacedAndTheRestGoesOn) {
  for (const uint32_t phase : {0u, 1u}) {
    for (const hy_status status : {HY_INTERNAL, HY_UNIMPLEMENTED}) {
      Registry registry;
      Fill(&registry, TestTable("acme").Kernel(Trickster(kTrick, HY_PRIORITY_VENDOR)));
      op_ = registry.FindOp("blend");
      plan_.emplace(&registry, &team_);
      blends_.clear();
      ResetBehaviour();
      AddChain(4);
      ASSERT_TRUE(plan_->Commit().ok());
      ASSERT_TRUE(plan_->Run().ok());
      TheBehaviour().status = status;
      TheBehaviour().phase = phase;
      TheBehaviour().spoils = status != HY_UNIMPLEMENTED;
      ASSERT_TRUE(plan_->Run().ok());
      for (size_t i = 0; i < 4; ++i) EXPECT_EQ(blends_[i]->y, ChainExpected(i + 1));
      const Kernel& trick = *registry.FindKernel(kTrick);
      const bool declined = status == HY_UNIMPLEMENTED && phase == 0;
      EXPECT_EQ(trick.quarantined(), !declined);
      EXPECT_EQ(trick.runs(), 4u) << "those of the first run";
      EXPECT_EQ(plan_->ran(0)->id(), declined ? kGeneric : kReferenceId);
      EXPECT_GE(registry.fallbacks().total(), 1u);
      TheBehaviour().calls = 0;
      for (auto& blend : blends_) blend->y.assign(blend->y.size(), -1);
      ASSERT_TRUE(plan_->Run().ok());
      EXPECT_EQ(TheBehaviour().calls, 0u) << "another kernel was picked";
      EXPECT_EQ(blends_[3]->y, ChainExpected(4));
      EXPECT_EQ(plan_->ran(3)->id(), kGeneric);
    }
  }
}

TEST_F(PlanTest, InPlaceStepsOfPluginsSurviveTheirKernel) {
  StartTrick();
  Blend blend(6, 8);
  blend.InPlace();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(plan_->Add(*op_, &blend.args).ok());
  ASSERT_TRUE(plan_->Commit().ok());
  EXPECT_EQ(plan_->barriers(), 3u * 3 - 1) << "a copy, and two phases";
  EXPECT_THAT(plan_->Describe(), HasSubstr("step 2 (blend)  blend/any/trick@acme, after a copy"));
  TheBehaviour().status = HY_INTERNAL;
  TheBehaviour().phase = 1;
  TheBehaviour().spoils = true;
  ASSERT_TRUE(plan_->Run().ok());
  for (size_t i = 0; i < blend.x.size(); ++i)
    EXPECT_EQ(blend.x[i],
              blend.old_x[i] + 0.5f * blend.w[i] + 0.5f * blend.w[i] + 0.5f * blend.w[i]);
  EXPECT_TRUE(Of(kTrick).quarantined());
  ASSERT_TRUE(plan_->Run().ok());
  EXPECT_EQ(plan_->barriers(), 2u) << "a built-in kernel needs no copy";
}

TEST_F(PlanTest, DataThatBreaksTheContractIsReportedAndAllStepsRun) {
  StartTrick();
  AddChain(3);
  blends_.push_back(std::make_unique<Blend>(6, 8, 9));
  ASSERT_TRUE(plan_->Add(*op_, &blends_[3]->args).ok());
  ASSERT_TRUE(plan_->Commit().ok());
  blends_[3]->x[9] = std::nanf("");
  blends_[1]->w[9] = std::nanf("");  // so that step 2 reads a NaN
  const absl::Status status = plan_->Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("step 2 (blend): blend: the data breaks"));
  EXPECT_EQ(blends_[2]->y[9], 0.0f);
  EXPECT_EQ(blends_[2]->y[0], ChainExpected(3)[0]);
  EXPECT_EQ(blends_[3]->y[0], blends_[3]->Expected()[0]);
  EXPECT_EQ(Of(kTrick).runs(), 4u);
  EXPECT_FALSE(Of(kTrick).quarantined());
}

TEST_F(PlanTest, AQuarantineElsewhereIsSeenByTheNextRun) {
  StartTrick();
  AddChain(2);
  ASSERT_TRUE(plan_->Commit().ok());
  registry_.Quarantine(Of(kTrick), "test");
  ASSERT_TRUE(plan_->Run().ok());
  EXPECT_EQ(TheBehaviour().calls, 0u);
  EXPECT_EQ(plan_->ran(1)->id(), kGeneric);
  EXPECT_EQ(blends_[1]->y, ChainExpected(2));
}

TEST_F(PlanTest, ShapesMayShrinkAndGrowAgain) {
  hy_kernel_desc picky = Ticketed(kTicket, HY_PRIORITY_VENDOR);
  picky.supports = [](const void* args, const hy_kernel_target*, hy_why* why) {
    return static_cast<const BlendArgs*>(args)->x.shape[0] != 2 ? 1 : hy_refuse(why, "two rows");
  };
  Start(TestTable("acme").Kernel(picky));
  AddChain(2, 6, 8);
  ASSERT_TRUE(plan_->Commit().ok());
  for (const int64_t rows : {6, 1, 2, 0, 5}) {
    for (uint32_t step = 0; step < 2; ++step) {
      auto& args = *static_cast<BlendArgs*>(plan_->args(step));
      args.x.shape[0] = args.w.shape[0] = args.y.shape[0] = rows;
      blends_[step]->y.assign(blends_[step]->y.size(), -1);
    }
    EXPECT_EQ(plan_->Run().code(), absl::StatusCode::kFailedPrecondition);
    ASSERT_TRUE(plan_->Commit().ok());
    ASSERT_TRUE(plan_->Run().ok());
    EXPECT_EQ(plan_->ran(1)->id(), rows == 2 ? kGeneric : kTicket);
    std::vector<float> expected = ChainExpected(2);
    for (size_t i = static_cast<size_t>(rows) * 8; i < expected.size(); ++i) expected[i] = -1;
    EXPECT_EQ(blends_[1]->y, expected) << rows << " rows";
  }
  auto& args = *static_cast<BlendArgs*>(plan_->args(1));
  args.x.shape[0] = args.w.shape[0] = args.y.shape[0] = 7;
  const absl::Status status = plan_->Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "step 1 (blend): x is [7, 8] f32, beyond the [6, 8] f32 that it was added with");
  EXPECT_FALSE(plan_->Run().ok());
}

TEST_F(PlanTest, DataMayComeAfterTheStepsAndMove) {
  StartTrick();
  Blend first(6, 8, 1);
  Blend second(6, 8, 2);
  BlendArgs args = first.args;
  args.x.data = args.w.data = args.y.data = nullptr;
  ASSERT_TRUE(plan_->Add(*op_, &args).ok());
  ASSERT_TRUE(plan_->Add(*op_, &args).ok());
  ASSERT_TRUE(plan_->Commit().ok());
  const absl::Status status = plan_->Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("step 0 (blend) has no memory"));
  *static_cast<BlendArgs*>(plan_->args(0)) = first.args;
  *static_cast<BlendArgs*>(plan_->args(1)) = second.args;
  ASSERT_TRUE(plan_->Commit().ok());
  EXPECT_EQ(plan_->barriers(), 1u);
  ASSERT_TRUE(plan_->Run().ok());
  EXPECT_EQ(first.y, first.Expected());
  EXPECT_EQ(second.y, second.Expected());
  // Now the second reads what the first writes.
  static_cast<BlendArgs*>(plan_->args(1))->x = first.args.y;
  ASSERT_TRUE(plan_->Commit().ok());
  EXPECT_EQ(plan_->barriers(), 3u);
  ASSERT_TRUE(plan_->Run().ok());
  for (size_t i = 0; i < first.y.size(); ++i)
    EXPECT_EQ(second.y[i], first.y[i] + 0.5f * second.w[i]);
}

TEST_F(PlanTest, OtherFieldsAreTakenWithTheCommit) {
  StartTrick();
  AddChain(1);
  static_cast<BlendArgs*>(plan_->args(0))->factor = 2;
  ASSERT_TRUE(plan_->Commit().ok());
  ASSERT_TRUE(plan_->Run().ok());
  EXPECT_EQ(blends_[0]->y[3], blends_[0]->x[3] + 2 * blends_[0]->w[3]);
}

TEST_F(PlanTest, PackedWeightsRunPackedAndFallBackCanonical) {
  Start(TestTable("acme").Layout(kReversed).Kernel(
      ReversedKernel("blend/any/packed@acme", HY_PRIORITY_VENDOR)));
  Blend blend(6, 8);
  Blend more(6, 8, 7);
  const absl::StatusOr<PackedTensor> packed =
      PackedTensor::Make(*registry_.FindLayout(kReversedId), blend.args.w, team_);
  const absl::StatusOr<PackedTensor> packed_more =
      PackedTensor::Make(*registry_.FindLayout(kReversedId), more.args.w, team_);
  ASSERT_TRUE(packed.ok() && packed_more.ok());
  blend.args.w = packed->tensor();
  more.args.w = packed_more->tensor();
  ASSERT_TRUE(plan_->Add(*op_, &blend.args).ok());
  ASSERT_TRUE(plan_->Add(*op_, &more.args).ok());
  ASSERT_TRUE(plan_->Commit().ok());
  ASSERT_TRUE(plan_->Run().ok());
  EXPECT_EQ(plan_->ran(1)->id(), "blend/any/packed@acme");
  EXPECT_EQ(more.y, more.Expected());
  registry_.Quarantine(Of("blend/any/packed@acme"), "test");
  for (const int64_t rows : {6, 3}) {
    for (uint32_t step = 0; step < 2; ++step) {
      auto& args = *static_cast<BlendArgs*>(plan_->args(step));
      args.x.shape[0] = args.y.shape[0] = args.w.shape[0] = rows;
    }
    blend.y.assign(blend.y.size(), -1);
    ASSERT_TRUE(plan_->Commit().ok());
    ASSERT_TRUE(plan_->Run().ok());
    EXPECT_EQ(plan_->ran(0)->id(), kGeneric);
    std::vector<float> expected = blend.Expected();
    for (size_t i = static_cast<size_t>(rows) * 8; i < expected.size(); ++i) expected[i] = -1;
    EXPECT_EQ(blend.y, expected);
  }
}

// What a profile says: a kernel for few rows, and a parameter.
class FewRows : public ChoiceSource {
 public:
  const Choice* Find(const Op&, const void* args, const hy_kernel_target&) const override {
    return static_cast<const BlendArgs*>(args)->x.shape[0] < 3 ? &choice_ : nullptr;
  }

 private:
  const Choice choice_{kReferenceId, {}, "test"};
};

TEST_F(PlanTest, ChoicesAreAskedForEachShape) {
  const FewRows choices;
  Fill(&registry_, TestTable("acme").Kernel(Ticketed(kTicket, HY_PRIORITY_VENDOR)));
  op_ = registry_.FindOp("blend");
  RunOptions options;
  options.choices = &choices;
  plan_.emplace(&registry_, &team_, options);
  AddChain(1);
  EXPECT_EQ(plan_->selection(0).kernel->id(), kTicket);
  auto& args = *static_cast<BlendArgs*>(plan_->args(0));
  args.x.shape[0] = args.w.shape[0] = args.y.shape[0] = 2;
  ASSERT_TRUE(plan_->Commit().ok());
  EXPECT_EQ(plan_->selection(0).kernel->id(), kReferenceId);
  EXPECT_EQ(plan_->selection(0).tier, "test");
}

// A random program over a few buffers, with column views, in place and not, run as a plan and one by
// one on the reference.
void RunProgram(uint32_t seed, const hal::Device& device) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const hal::Team team = TestTeam(device, 1 + random() % 4);
  Registry registry;
  Fill(&registry, TestTable("acme").Kernel(random() % 2 ? Ticketed(kTicket, HY_PRIORITY_VENDOR)
                                                        : Trickster(kTrick, HY_PRIORITY_VENDOR)));
  ResetBehaviour();
  if (random() % 2) {
    TheBehaviour().one_in = 40;
    TheBehaviour().spoils = true;
    TheBehaviour().phase = random() % 2;
  }
  const Op& op = *registry.FindOp("blend");
  constexpr int64_t kRows = 3;
  constexpr int64_t kWide = 12;  // three column views of four floats
  constexpr size_t kBuffers = 5;
  std::vector<float> memory(kBuffers * kRows * kWide);
  std::vector<float> w(kRows * 4);
  for (float& value : memory) value = static_cast<float>(random() % 64);
  for (float& value : w) value = static_cast<float>(random() % 8);
  const auto view = [&](std::vector<float>& of) {
    const int64_t shape[] = {1 + static_cast<int64_t>(random() % kRows), 4};
    const size_t at = random() % kBuffers * kRows * kWide + random() % 3 * 4;
    hy_tensor tensor = hy_tensor_dense(&of[at], HY_TYPE_F32, 2, shape);
    tensor.stride[0] = kWide * sizeof(float);
    return tensor;
  };
  std::vector<float> naive = memory;
  Plan plan(&registry, &team);
  std::vector<BlendArgs> program;
  for (int i = 0; i < 30; ++i) {
    BlendArgs args{};
    args.struct_size = sizeof args;
    args.factor = 0.5f;
    args.x = view(memory);
    args.y = view(memory);
    for (int axis = 0; axis < 2; ++axis) args.y.shape[axis] = args.x.shape[axis];
    if (Overlap(args.x, args.y)) args.y = args.x;
    args.w = hy_tensor_dense(w.data(), HY_TYPE_F32, 2, args.x.shape);
    ASSERT_TRUE(plan.Add(op, &args).ok());
    program.push_back(args);
  }
  ASSERT_TRUE(plan.Commit().ok());
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(plan.Run().ok());
    for (BlendArgs args : program) {
      for (hy_tensor* tensor : {&args.x, &args.y})
        tensor->data = naive.data() + (static_cast<float*>(tensor->data) - memory.data());
      const hy_kernel_context context{sizeof context, 0, 1, 0, nullptr, 0, nullptr, nullptr};
      ASSERT_EQ(op.reference().desc().run(&args, &context), HY_OK);
    }
    ASSERT_EQ(memory, naive) << "run " << run;
  }
  if (TheBehaviour().one_in == 0 && registry.FindKernel(kTicket) != nullptr) {
    EXPECT_LT(plan.barriers(), 3u * 30 - 1) << "some steps share levels";
  }
}

TEST_F(PlanTest, RandomProgramsGiveWhatRunningOneByOneGives) {
  for (uint32_t seed = 1; seed <= 60; ++seed) RunProgram(seed, device_);
}

}  // namespace
}  // namespace halyard::registry
