// SPDX-License-Identifier: Apache-2.0
#include "registry/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <string>
#include <vector>

#include "registry/overrides.h"
#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kFast[] = "blend/any/fast@acme";
constexpr char kGeneric[] = "blend/any/generic_base@halyard";
constexpr char kReferenceId[] = "blend/any/reference@halyard";
constexpr int64_t kTiles[] = {4, 8, 16};
constexpr hy_tuning_param kParams[] = {{"tile", kTiles, 3, 0}, {"ahead", kTiles, 3, 0}};

class SelectTest : public ::testing::Test {
 protected:
  // A registry with the plugin's kernels; the request is for blend on two workers without extensions.
  void Start(const TestTable& plugin) {
    Fill(&registry_, plugin);
    request_.op = registry_.FindOp("blend");
    request_.args = &blend_.args;
    request_.target = MakeTarget({0, 0}, 2, 0);
  }
  std::string Picked(Explanation* explanation = nullptr) {
    const absl::StatusOr<Selection> selection = Select(registry_, request_, explanation);
    if (!selection.ok()) return std::string(selection.status().message());
    return std::string(selection->kernel->id());
  }
  // The verdict and reason of a kernel, as explained.
  std::string Lost(const char* id) {
    Explanation explanation;
    Picked(&explanation);
    for (const Candidate& candidate : explanation.candidates) {
      if (candidate.kernel->id() == id)
        return std::string(VerdictName(candidate.verdict)) + ": " + candidate.reason;
    }
    return "not listed";
  }

  Registry registry_;
  Blend blend_{3, 8};
  Request request_;
};

hy_kernel_desc Fast() { return BlendKernel(kFast, HY_PRIORITY_VENDOR); }

TEST_F(SelectTest, TheHighestPriorityThatCanRunIsTaken) {
  Start(TestTable("acme").Kernel(Fast()));
  EXPECT_EQ(Picked(), kFast);
  EXPECT_EQ(Lost(kFast), "chosen: the highest priority that can run it: 3000 (vendor)");
  EXPECT_EQ(Lost(kGeneric),
            "passed over: could run; priority 1000 (generic) is below 3000 of the chosen one");
  EXPECT_EQ(Lost(kReferenceId),
            "passed over: could run; priority 0 (reference) is below 3000 of the chosen one");
}

TEST_F(SelectTest, ArgsAreCheckedFirst) {
  Start(TestTable("acme").Kernel(Fast()));
  blend_.args.w.shape[0] = 2;
  EXPECT_EQ(Picked(), "blend: x, w and y must have one shape");
}

TEST_F(SelectTest, EqualPrioritiesGoByName) {
  Start(
      TestTable("acme").Kernel(Fast()).Kernel(BlendKernel("blend/any/a@acme", HY_PRIORITY_VENDOR)));
  EXPECT_EQ(Picked(), "blend/any/a@acme");
  EXPECT_THAT(Lost(kFast),
              HasSubstr("same priority as blend/any/a@acme, which comes first by name"));
}

TEST_F(SelectTest, TypesOfTheTupleMustFit) {
  hy_kernel_desc half = BlendKernel("blend/any.f16.any/fast@acme", HY_PRIORITY_VENDOR);
  half.types[1] = HY_TYPE_F16;
  Start(TestTable("acme").Kernel(half));
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost("blend/any.f16.any/fast@acme"), "types: w is f32, it takes f16");
}

TEST_F(SelectTest, TheTeamMustHaveTheIsaAndWhatLacksIsNamed) {
  hy_kernel_desc fast = Fast();
  hy_isa_set(fast.isa, HY_ISA_X86_AVX2);
  hy_isa_set(fast.isa, HY_ISA_ARM64_SVE);
  hy_isa_set(fast.isa, HY_ISA_RISCV_V);
  Start(TestTable("acme").Kernel(fast));
  hy_isa_set(request_.target.isa, HY_ISA_ARM64_SVE);
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost(kFast), "isa: the team lacks avx2, v");
  hy_isa_set(request_.target.isa, HY_ISA_X86_AVX2);
  hy_isa_set(request_.target.isa, HY_ISA_RISCV_V);
  EXPECT_EQ(Picked(), kFast);
}

TEST_F(SelectTest, TheActivationClassMustBeAllowed) {
  hy_kernel_desc fast = Fast();
  fast.activation = HY_QA_BLOCK32;
  Start(TestTable("acme").Kernel(fast));
  EXPECT_EQ(Picked(), kFast) << "ANY leaves it to the kernel";
  blend_.args.activation = HY_QA_BLOCK32;
  EXPECT_EQ(Picked(), kFast);
  blend_.args.activation = HY_QA_NONE;
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost(kFast),
            "activation: the call wants activations of class none, it computes in block32");
}

TEST_F(SelectTest, ThePredicateSpeaksForItself) {
  hy_kernel_desc fast = Fast();
  fast.supports = [](const void* args, const hy_kernel_target* target, hy_why* why) {
    const auto& blend = *static_cast<const BlendArgs*>(args);
    if (target->workers != 2) return hy_refuse(why, "wants two workers");
    return blend.x.shape[1] % 16 == 0 ? 1 : hy_refuse(why, "columns are not whole sixteens");
  };
  hy_kernel_desc mute = BlendKernel("blend/any/mute@acme", HY_PRIORITY_ISA);
  mute.supports = [](const void*, const hy_kernel_target*, hy_why*) { return 0; };
  Start(TestTable("acme").Kernel(fast).Kernel(mute));
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost(kFast), "predicate: columns are not whole sixteens");
  EXPECT_EQ(Lost("blend/any/mute@acme"), "predicate: its predicate gave no reason");
}

TEST_F(SelectTest, AQuarantinedKernelIsPassedOver) {
  Start(TestTable("acme").Kernel(Fast()));
  registry_.Quarantine(*registry_.FindKernel(kFast), "returned INTERNAL");
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost(kFast), "quarantined: failed before in this process, and is set aside");
}

TEST_F(SelectTest, WhatDeclinedIsNotAskedAgain) {
  Start(TestTable("acme").Kernel(Fast()));
  const Kernel* declined[] = {registry_.FindKernel(kFast)};
  request_.without = declined;
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost(kFast), "declined: declined this call: UNIMPLEMENTED");
}

TEST_F(SelectTest, TheProfileChoosesKernelAndParameters) {
  hy_kernel_desc slow = BlendKernel("blend/any/slow@acme", HY_PRIORITY_ISA);
  slow.params = kParams;
  slow.param_count = 2;
  Start(TestTable("acme").Kernel(Fast()).Kernel(slow));
  const Choice choice{"blend/any/slow@acme", {{"ahead", 16}}, "acme_x1.yaml, exact chip"};
  request_.choice = &choice;
  const absl::StatusOr<Selection> selection = Select(registry_, request_);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->kernel->id(), "blend/any/slow@acme");
  EXPECT_EQ(selection->decided_by, DecidedBy::kProfile);
  EXPECT_EQ(selection->params[0], 4) << "the default";
  EXPECT_EQ(selection->params[1], 16);
  EXPECT_EQ(Lost("blend/any/slow@acme"),
            "chosen: chosen by the profile (acme_x1.yaml, exact chip)");
  EXPECT_EQ(Lost(kFast), "passed over: could run; the profile chose blend/any/slow@acme");
  EXPECT_EQ(registry_.fallbacks().total(), 0u);
}

TEST_F(SelectTest, ABadProfileEntryFallsBackWithACountAndALine) {
  hy_kernel_desc fast = Fast();
  fast.params = kParams;
  fast.param_count = 2;
  Start(TestTable("acme").Kernel(fast));
  Choice choice{"blend/any/gone@acme", {}, ""};
  request_.choice = &choice;
  EXPECT_EQ(Picked(), kFast);
  choice = {kFast, {{"tile", 5}, {"tail", 1}, {"ahead", 8}}, ""};
  const absl::StatusOr<Selection> selection = Select(registry_, request_);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->params[0], 4);
  EXPECT_EQ(selection->params[1], 8);
  const std::vector<Fallback> fallbacks = registry_.fallbacks().Read();
  ASSERT_EQ(fallbacks.size(), 3u);
  EXPECT_EQ(fallbacks[0].from, "profile kernel blend/any/gone@acme");
  EXPECT_EQ(fallbacks[0].reason, "blend has no such kernel here");
  EXPECT_THAT(fallbacks[1].reason, HasSubstr("no such parameter"));
  EXPECT_EQ(fallbacks[2].reason, "it is none of 4, 8, 16");
  Explanation explanation;
  Picked(&explanation);
  EXPECT_EQ(explanation.notes.size(), 2u);
  EXPECT_EQ(registry_.fallbacks().total(), 3u) << "explaining counts nothing";
}

TEST_F(SelectTest, AProfileKernelThatCannotRunIsPassedOverWithItsReason) {
  hy_kernel_desc fast = Fast();
  hy_isa_set(fast.isa, HY_ISA_X86_AVX2);
  Start(TestTable("acme").Kernel(fast));
  const Choice choice{kFast, {}, ""};
  request_.choice = &choice;
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(registry_.fallbacks().Read()[0].reason, "the team lacks avx2");
}

TEST_F(SelectTest, ForceGoesBeforeProfileAndPriority) {
  Start(TestTable("acme").Kernel(Fast()));
  EXPECT_THAT(ApplyOverrides("blend=*generic*", "", &registry_), IsEmpty());
  const Choice choice{kFast, {}, ""};
  request_.choice = &choice;
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost(kGeneric), "chosen: forced by HALYARD_FORCE_KERNEL");
  EXPECT_EQ(Lost(kFast), std::string("passed over: could run; ") + kGeneric + " is forced");
}

TEST_F(SelectTest, AForcedKernelThatCannotRunFallsBack) {
  hy_kernel_desc fast = Fast();
  hy_isa_set(fast.isa, HY_ISA_X86_AVX2);
  Start(TestTable("acme").Kernel(fast));
  EXPECT_THAT(ApplyOverrides("blend=blend/any/fast@acme", "", &registry_), IsEmpty());
  EXPECT_EQ(Picked(), kGeneric);
  const std::vector<Fallback> fallbacks = registry_.fallbacks().Read();
  ASSERT_EQ(fallbacks.size(), 1u);
  EXPECT_EQ(fallbacks[0].from, "forced kernel blend/any/fast@acme");
}

// The functions of a kernel are compiled for its extensions: to call one elsewhere would be the end of the
// process.
TEST_F(SelectTest, AKernelOfOtherMachinesIsNotAsked) {
  hy_kernel_desc fast = Fast();
  hy_isa_set(fast.isa, HY_ISA_X86_AVX2);
  hy_isa_set(fast.isa, HY_ISA_ARM64_SVE);
  fast.supports = [](const void*, const hy_kernel_target*, hy_why*) -> int { std::abort(); };
  fast.scratch_bytes = [](const void*, uint32_t) -> uint64_t { std::abort(); };
  Start(TestTable("acme").Kernel(fast));
  hy_isa_set(request_.target.isa, HY_ISA_X86_AVX2);
  hy_isa_set(request_.target.isa, HY_ISA_ARM64_SVE);
  EXPECT_EQ(Picked(), kFast);
  Explanation explanation;
  ASSERT_TRUE(Select(registry_, request_, &explanation).ok());
  EXPECT_THAT(explanation.notes, testing::Contains(testing::HasSubstr("could not be asked")));
}

TEST_F(SelectTest, DisableLeavesTheReference) {
  Start(TestTable("acme").Kernel(Fast()));
  EXPECT_THAT(ApplyOverrides("", "*", &registry_), IsEmpty());
  EXPECT_EQ(Picked(), kReferenceId);
  EXPECT_EQ(Lost(kFast), "disabled: disabled by HALYARD_DISABLE_KERNEL");
  EXPECT_THAT(ApplyOverrides("blend=*fast*", "", &registry_), IsEmpty());
  EXPECT_EQ(Picked(), kFast) << "forced wins";
}

TEST_F(SelectTest, OneKernelCanBeAskedForAndNothingElse) {
  hy_kernel_desc fast = Fast();
  fast.types[0] = HY_TYPE_F16;
  fast.id = "blend/f16.any.any/fast@acme";
  Start(TestTable("acme").Kernel(fast));
  request_.only = registry_.FindKernel(kGeneric);
  ApplyOverrides("", "*", &registry_);
  registry_.Quarantine(*request_.only, "test");
  EXPECT_EQ(Picked(), kGeneric) << "neither disabled nor quarantine are looked at";
  request_.only = registry_.FindKernel("blend/f16.any.any/fast@acme");
  EXPECT_EQ(Picked(), "blend/f16.any.any/fast@acme cannot run this: x is f32, it takes f16");
  request_.only = &registry_.FindOp("put")->reference();
  EXPECT_EQ(Picked(), "put/any/reference@halyard is no kernel of blend");
}

TEST_F(SelectTest, ALayoutIsOfferedWhereWeightsMayBePacked) {
  Start(TestTable("acme").Layout(kReversed).Kernel(
      ReversedKernel("blend/any/packed@acme", HY_PRIORITY_VENDOR)));
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost("blend/any/packed@acme"),
            "layout: the weights are not packed as f32/reversed@acme");
  request_.may_pack = true;
  const absl::StatusOr<Selection> selection = Select(registry_, request_);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->kernel->id(), "blend/any/packed@acme");
  EXPECT_EQ(selection->layout, kReversedId);
  Blend odd(3, 6);
  request_.args = &odd.args;
  EXPECT_EQ(Picked(), kGeneric);
  EXPECT_EQ(Lost("blend/any/packed@acme"),
            "layout: f32/reversed@acme cannot pack [3, 6]: rows are not whole fours");
}

TEST_F(SelectTest, PackedWeightsGoToTheirKernelElseAreUnpacked) {
  hy_kernel_desc packed = ReversedKernel("blend/any/packed@acme", HY_PRIORITY_VENDOR);
  packed.supports = [](const void* args, const hy_kernel_target*, hy_why* why) {
    if (static_cast<const BlendArgs*>(args)->w.layout != kReversedId)
      return hy_refuse(why, "layout");
    return static_cast<const BlendArgs*>(args)->x.shape[0] < 10 ? 1 : hy_refuse(why, "many rows");
  };
  Start(TestTable("acme").Layout(kReversed).Kernel(packed));
  blend_.args.w.layout = kReversedId;
  EXPECT_EQ(Picked(), "blend/any/packed@acme");
  EXPECT_EQ(Lost(kGeneric),
            "layout: the weights are packed as f32/reversed@acme, it takes canonical");
  registry_.Quarantine(*registry_.FindKernel("blend/any/packed@acme"), "test");
  const absl::StatusOr<Selection> selection = Select(registry_, request_);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->kernel->id(), kGeneric);
  EXPECT_EQ(selection->layout, HY_LAYOUT_CANONICAL);
  EXPECT_EQ(selection->decided_by, DecidedBy::kUnpacked);
}

TEST_F(SelectTest, DataMayBeNullAndScratchIsSizedForTheTeam) {
  hy_kernel_desc fast = Fast();
  fast.scratch_bytes = [](const void*, uint32_t workers) -> uint64_t { return workers * 100; };
  Start(TestTable("acme").Kernel(fast));
  blend_.args.x.data = blend_.args.w.data = blend_.args.y.data = nullptr;
  request_.target.workers = 7;
  const absl::StatusOr<Selection> selection = Select(registry_, request_);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->scratch_bytes, 700u);
}

}  // namespace
}  // namespace halyard::registry
