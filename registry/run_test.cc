// SPDX-License-Identifier: Apache-2.0
#include "registry/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::HasSubstr;

constexpr char kTrick[] = "blend/any/trick@acme";
constexpr char kReferenceId[] = "blend/any/reference@halyard";
constexpr uint32_t kWorkers = 3;

class RunTest : public ::testing::Test {
 protected:
  RunTest() : device_(TestDevice()), team_(TestTeam(device_, kWorkers)) { ResetBehaviour(); }

  void Start(const TestTable& plugin) {
    Fill(&registry_, plugin);
    op_ = registry_.FindOp("blend");
    runner_.emplace(&registry_, &team_);
  }
  void StartTrick() { Start(TestTable("acme").Kernel(Trickster(kTrick, HY_PRIORITY_VENDOR))); }
  const Kernel& Of(const char* id) { return *registry_.FindKernel(id); }
  absl::string_view Ran() { return runner_->ran() == nullptr ? "nobody" : runner_->ran()->id(); }

  Registry registry_;
  hal::Device device_;
  hal::Team team_;
  const Op* op_ = nullptr;
  std::optional<Runner> runner_;
};

TEST_F(RunTest, APluginKernelWinsAndIsProvenToHaveRun) {
  StartTrick();
  Blend blend(10, 16);
  ASSERT_TRUE(runner_->Run(*op_, &blend.args).ok());
  EXPECT_EQ(blend.y, blend.Expected());
  EXPECT_EQ(Ran(), kTrick);
  EXPECT_EQ(TheBehaviour().calls, 1u) << "its own code was called";
  EXPECT_EQ(Of(kTrick).runs(), 1u);
  EXPECT_EQ(Of(kReferenceId).runs(), 0u);
}

TEST_F(RunTest, TicketsBeginAtNoughtInEveryPhase) {
  Start(TestTable("acme").Kernel(Ticketed("blend/any/ticket@acme", HY_PRIORITY_VENDOR)));
  for (int64_t rows = 0; rows < 40; ++rows) {
    Blend blend(rows, 5, static_cast<uint64_t>(rows));
    ASSERT_TRUE(runner_->Run(*op_, &blend.args).ok());
    EXPECT_EQ(blend.y, blend.Expected()) << rows << " rows";
  }
  EXPECT_EQ(Of("blend/any/ticket@acme").runs(), 40u);
}

TEST_F(RunTest, ScratchIsAlignedAndAsLargeAsAskedFor) {
  static std::atomic<uint64_t> wrong{0};
  hy_kernel_desc kernel = BlendKernel("blend/any/scratch@acme", HY_PRIORITY_VENDOR);
  kernel.scratch_bytes = [](const void* args, uint32_t) {
    return static_cast<uint64_t>(static_cast<const BlendArgs*>(args)->x.shape[0]) * 1000;
  };
  kernel.run = [](const void* args, const hy_kernel_context* context) -> hy_status {
    const auto rows = static_cast<uint64_t>(static_cast<const BlendArgs*>(args)->x.shape[0]);
    if (reinterpret_cast<uintptr_t>(context->scratch) % 64 != 0) ++wrong;
    if (context->scratch_bytes != rows * 1000) ++wrong;
    if (context->index == 0) std::memset(context->scratch, 1, context->scratch_bytes);
    return HY_OK;
  };
  Start(TestTable("acme").Kernel(kernel));
  for (const int64_t rows : {1, 100, 7}) {
    Blend blend(rows, 2);
    ASSERT_TRUE(runner_->Run(*op_, &blend.args).ok());
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(RunTest, AKernelThatDeclinesMakesRoomForTheNext) {
  StartTrick();
  TheBehaviour().status = HY_UNIMPLEMENTED;
  Blend blend(10, 16);
  ASSERT_TRUE(runner_->Run(*op_, &blend.args).ok());
  EXPECT_EQ(blend.y, blend.Expected());
  EXPECT_EQ(Ran(), "blend/any/generic_base@halyard");
  EXPECT_EQ(Of(kTrick).declined(), 1u);
  EXPECT_EQ(Of(kTrick).runs(), 0u);
  EXPECT_FALSE(Of(kTrick).quarantined());
  const std::vector<Fallback> fallbacks = registry_.fallbacks().Read();
  ASSERT_EQ(fallbacks.size(), 1u);
  EXPECT_EQ(fallbacks[0].reason, "it declined the call");
}

struct Failure {
  hy_status status;
  uint32_t phase;
  uint32_t worker;
  const char* reason;
};

TEST_F(RunTest, AnyOtherFailureIsRunAgainOnTheReference) {
  const Failure failures[] = {
      {HY_INTERNAL, 0, UINT32_MAX, "returned INTERNAL in phase 0 on worker 0"},
      {HY_RESOURCE_EXHAUSTED, 1, 2, "returned RESOURCE_EXHAUSTED in phase 1 on worker 2"},
      {HY_UNIMPLEMENTED, 1, UINT32_MAX, "before anything was written"},
      {HY_UNIMPLEMENTED, 0, 1, "not on all of 3 before anything was written"},
      {99, 0, 0, "returned INVALID_STATUS"},
      {-1, 1, 0, "returned INVALID_STATUS"},
  };
  for (const Failure& failure : failures) {
    for (const bool in_place : {false, true}) {
      Registry registry;
      Fill(&registry, TestTable("acme").Kernel(Trickster(kTrick, HY_PRIORITY_VENDOR)));
      Runner runner(&registry, &team_);
      ResetBehaviour();
      TheBehaviour().status = failure.status;
      TheBehaviour().phase = failure.phase;
      TheBehaviour().worker = failure.worker;
      TheBehaviour().spoils = true;
      Blend blend(10, 16);
      if (in_place) blend.InPlace();
      ASSERT_TRUE(runner.Run(*registry.FindOp("blend"), &blend.args).ok());
      EXPECT_EQ(blend.Output(), blend.Expected()) << failure.reason << in_place;
      EXPECT_EQ(runner.ran()->id(), kReferenceId);
      const Kernel& kernel = *registry.FindKernel(kTrick);
      EXPECT_TRUE(kernel.quarantined());
      EXPECT_EQ(kernel.failures(), 1u);
      EXPECT_EQ(kernel.runs(), 0u);
      ASSERT_EQ(registry.fallbacks().Read().size(), 1u);
      EXPECT_THAT(registry.fallbacks().Read()[0].reason, HasSubstr(failure.reason));
    }
  }
}

TEST_F(RunTest, AKernelThatFailsAtRandomNeverSpoilsAResult) {
  StartTrick();
  TheBehaviour().one_in = 8;
  TheBehaviour().spoils = true;
  TheBehaviour().phase = 1;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Blend blend(9, 33, seed);
    if (seed % 2 == 0) blend.InPlace();
    ASSERT_TRUE(runner_->Run(*op_, &blend.args).ok());
    ASSERT_EQ(blend.Output(), blend.Expected()) << "seed " << seed;
  }
  const Kernel& trick = Of(kTrick);
  EXPECT_EQ(trick.failures(), 1u) << "set aside after the first";
  EXPECT_EQ(trick.runs() + 1, TheBehaviour().calls);
  EXPECT_EQ(trick.runs() + Of(kReferenceId).runs() + Of("blend/any/generic_base@halyard").runs(),
            200u);
}

TEST_F(RunTest, ASelectionOutlivesTheQuarantineOfItsKernel) {
  StartTrick();
  Blend blend(4, 4);
  Request request;
  request.op = op_;
  request.args = &blend.args;
  request.target = runner_->target();
  const absl::StatusOr<Selection> selection = Select(registry_, request);
  ASSERT_TRUE(selection.ok());
  registry_.Quarantine(*selection->kernel, "test");
  ASSERT_TRUE(runner_->Run(*selection, &blend.args).ok());
  EXPECT_EQ(blend.y, blend.Expected());
  EXPECT_EQ(TheBehaviour().calls, 0u);
  EXPECT_EQ(registry_.fallbacks().total(), 1u);
}

TEST_F(RunTest, DataThatBreaksTheContractPassesThrough) {
  StartTrick();
  Blend blend(5, 4);
  blend.x[9] = std::nanf("");
  const absl::Status status = runner_->Run(*op_, &blend.args);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("blend: the data breaks the contract"));
  EXPECT_EQ(Ran(), kTrick);
  EXPECT_EQ(Of(kTrick).runs(), 1u);
  EXPECT_EQ(Of(kTrick).failures(), 0u);
  std::vector<float> expected = blend.Expected();
  for (size_t i = 8; i < 12; ++i) expected[i] = 0;
  EXPECT_EQ(blend.y, expected);
}

TEST_F(RunTest, ABuiltInKernelThatFailsInPlaceIsAnErrorThatSaysSo) {
  TestTable builtin("halyard");
  builtin.Op(kBlend).Kernel(BlendReference());
  builtin.Kernel(Trickster("blend/any/trick@halyard", HY_PRIORITY_ISA));
  ASSERT_TRUE(registry_.Add(builtin.Get(), "built in", true).ok());
  Runner runner(&registry_, &team_);
  TheBehaviour().status = HY_INTERNAL;
  Blend blend(5, 4);
  blend.InPlace();
  const absl::Status status = runner.Run(*registry_.FindOp("blend"), &blend.args);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("its input x is overwritten"));
  EXPECT_EQ(runner.ran(), nullptr);
  // It is set aside, so the next call is right, and one that is not in place would have been.
  ResetBehaviour();
  Blend again(5, 4);
  ASSERT_TRUE(runner.Run(*registry_.FindOp("blend"), &again.args).ok());
  EXPECT_EQ(again.y, again.Expected());
}

TEST_F(RunTest, AReferenceThatFailsIsAnError) {
  TestTable builtin("halyard");
  hy_kernel_desc reference = Trickster(kReferenceId, HY_PRIORITY_REFERENCE);
  builtin.Op(kBlend).Kernel(reference);
  ASSERT_TRUE(registry_.Add(builtin.Get(), "built in", true).ok());
  Runner runner(&registry_, &team_);
  for (const hy_status status : {HY_INTERNAL, HY_UNIMPLEMENTED}) {
    TheBehaviour().status = status;
    Blend blend(5, 4);
    EXPECT_EQ(runner.Run(*registry_.FindOp("blend"), &blend.args).code(),
              absl::StatusCode::kInternal);
  }
}

TEST_F(RunTest, OperandsThatKeepWhatIsNotNamedAreRunAgainAsTheyAre) {
  Start(TestTable("acme").Kernel(PutTrickster("put/any/trick@acme", HY_PRIORITY_VENDOR)));
  TheBehaviour().status = HY_INTERNAL;
  std::vector<float> pages = {1, 1, 2, 2, 3, 3};
  std::vector<float> rows = {8, 8, 9, 9};
  std::vector<int32_t> slots = {2, 0};
  const int64_t page_shape[] = {3, 2};
  const int64_t row_shape[] = {2, 2};
  PutArgs args{};
  args.struct_size = sizeof args;
  args.x = hy_tensor_dense(rows.data(), HY_TYPE_F32, 2, row_shape);
  args.slots = hy_tensor_dense(slots.data(), HY_TYPE_I32, 1, row_shape);
  args.pages = hy_tensor_dense(pages.data(), HY_TYPE_F32, 2, page_shape);
  ASSERT_TRUE(runner_->Run(*registry_.FindOp("put"), &args).ok());
  EXPECT_EQ(pages, (std::vector<float>{9, 9, 2, 2, 8, 8}));
  EXPECT_EQ(Ran(), "put/any/reference@halyard");
}

TEST_F(RunTest, BareRunsShowWhatAKernelDoesAndChangeNothing) {
  StartTrick();
  Blend blend(4, 4);
  Request request;
  request.op = op_;
  request.args = &blend.args;
  request.target = runner_->target();
  request.only = &Of(kTrick);
  const absl::StatusOr<Selection> selection = Select(registry_, request);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(runner_->RunBare(*selection, &blend.args)->outcome, Outcome::kOk);
  EXPECT_EQ(blend.y, blend.Expected());
  TheBehaviour().status = HY_INTERNAL;
  const absl::StatusOr<StepResult> result = runner_->RunBare(*selection, &blend.args);
  EXPECT_EQ(result->outcome, Outcome::kFailed);
  EXPECT_EQ(result->status, HY_INTERNAL);
  EXPECT_FALSE(Of(kTrick).quarantined());
  EXPECT_EQ(Of(kTrick).runs(), 0u);
  EXPECT_EQ(registry_.fallbacks().total(), 0u);
}

TEST_F(RunTest, WrongArgsRunNothing) {
  StartTrick();
  Blend blend(4, 4);
  blend.args.y.shape[1] = 5;
  EXPECT_EQ(runner_->Run(*op_, &blend.args).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(TheBehaviour().calls, 0u);
  EXPECT_EQ(runner_->ran(), nullptr);
}

TEST_F(RunTest, RunnersOfManyThreadsShareOneRegistry) {
  StartTrick();
  TheBehaviour().one_in = 30;
  TheBehaviour().spoils = true;
  constexpr int kThreads = 4;
  constexpr uint64_t kRuns = 50;
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const hal::Team team = TestTeam(device_, 2);
      Runner runner(&registry_, &team);
      for (uint64_t i = 0; i < kRuns; ++i) {
        Blend blend(6, 7, i + static_cast<uint64_t>(t) * 1000);
        if (i % 3 == 0) blend.InPlace();
        if (!runner.Run(*op_, &blend.args).ok() || blend.Output() != blend.Expected()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  uint64_t runs = 0;
  for (const Kernel* kernel : op_->kernels()) runs += kernel->runs();
  EXPECT_EQ(runs, kThreads * kRuns);
}

}  // namespace
}  // namespace halyard::registry
