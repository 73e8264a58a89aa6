// SPDX-License-Identifier: Apache-2.0
#include "registry/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "registry/args.h"
#include "registry/test_table.h"

namespace halyard::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ScheduleTest : public ::testing::Test {
 protected:
  ScheduleTest() {
    FillBuiltin(&registry_);
    op_ = registry_.FindOp("blend");
    memory_.resize(4096);
  }
  // A view of `rows` x 8 floats, rows `stride` floats apart, from float `at` on.
  hy_tensor View(size_t at, int64_t rows, int64_t stride = 8, int64_t cols = 8) {
    const int64_t shape[] = {rows, cols};
    hy_tensor view = hy_tensor_dense(&memory_[at], HY_TYPE_F32, 2, shape);
    view.stride[0] = stride * 4;
    return view;
  }
  void Add(const hy_tensor& x, const hy_tensor& y) {
    BlendArgs args{};
    args.struct_size = sizeof args;
    args.x = x;
    args.w = View(2048, x.shape[0]);
    args.y = y;
    args_.push_back(args);
  }
  Dependencies Found() {
    std::vector<Call> calls;
    for (const BlendArgs& args : args_) calls.push_back({op_, &args});
    return FindDependencies(calls);
  }
  Registry registry_;
  const Op* op_ = nullptr;
  std::vector<float> memory_;
  std::vector<BlendArgs> args_;
};

TEST_F(ScheduleTest, AReaderWaitsForItsWriterAndAWriterForItsReaders) {
  Add(View(0, 4), View(100, 4));
  Add(View(100, 4), View(200, 4));  // reads what 0 writes
  Add(View(300, 4), View(400, 4));  // touches nobody
  Add(View(400, 4), View(0, 4));    // reads 2, writes what 0 reads
  Add(View(0, 4), View(200, 4));    // reads 3, writes what 1 writes
  EXPECT_THAT(Found(), ElementsAre(IsEmpty(), ElementsAre(0), IsEmpty(), ElementsAre(2, 0),
                                   ElementsAre(3, 1)));
}

TEST_F(ScheduleTest, WhatFollowsFromOthersIsLeftOut) {
  for (int i = 0; i < 5; ++i) Add(View(0, 4), View(0, 4));
  EXPECT_THAT(Found(), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(1), ElementsAre(2),
                                   ElementsAre(3)));
}

TEST_F(ScheduleTest, ColumnsOfTheSameRowsDoNotTouch) {
  Add(View(0, 4, 24), View(8, 4, 24));
  Add(View(16, 4, 24), View(16, 4, 24));  // the third part of the same rows
  Add(View(12, 4, 24), View(1000, 4));    // half of the second, half of the third
  EXPECT_THAT(Found(), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(1, 0)));
}

TEST_F(ScheduleTest, OneRowOfMany) {
  Add(View(0, 4, 24), View(0, 4, 24));
  Add(View(32, 1), View(500, 1));   // columns 8.. of row 1
  Add(View(24, 1), View(600, 1));   // columns 0.. of row 1
  Add(View(500, 1), View(104, 1));  // behind the last row
  EXPECT_THAT(Found(), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0), ElementsAre(1)));
}

TEST_F(ScheduleTest, OtherStridesAreTakenByTheirExtents) {
  Add(View(0, 4, 24), View(0, 4, 24));
  Add(View(8, 2, 25), View(500, 2));
  EXPECT_THAT(Found(), ElementsAre(IsEmpty(), ElementsAre(0)));
}

TEST_F(ScheduleTest, EmptyAndAbsentMemoryTouchesNothing) {
  Add(View(0, 0), View(0, 0));
  Add(View(0, 4), View(0, 4));
  Add(View(0, 0), View(0, 0));
  args_[2].x.data = args_[2].y.data = nullptr;
  EXPECT_THAT(Found(), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(MakeScheduleTest, StepsRunAsEarlyAsTheyCan) {
  const std::vector<ScheduleStep> steps = {{1, 0}, {2, 0}, {1, 0}, {1, 0}};
  const Schedule schedule = MakeSchedule(steps, {{}, {0}, {0}, {1, 2}});
  ASSERT_EQ(schedule.slots.size(), 4u);
  EXPECT_EQ(schedule.slots[0].first_level, 0u);
  EXPECT_EQ(schedule.slots[1].first_level, 1u);
  EXPECT_EQ(schedule.slots[2].first_level, 1u);
  EXPECT_EQ(schedule.slots[3].first_level, 3u);
  EXPECT_EQ(schedule.levels, 4u);
}

TEST(MakeScheduleTest, MemoryIsSharedOverTimeOnly) {
  const std::vector<ScheduleStep> steps = {{1, 100}, {2, 64}, {1, 1}, {1, 200}, {1, 0}};
  const Schedule schedule = MakeSchedule(steps, {{}, {}, {}, {0}, {}});
  EXPECT_EQ(schedule.slots[0].offset, 0u);
  EXPECT_EQ(schedule.slots[1].offset, 128u);
  EXPECT_EQ(schedule.slots[2].offset, 192u);
  EXPECT_EQ(schedule.slots[3].offset, 192u) << "step 1 is still alive, step 2 is not";
  EXPECT_EQ(schedule.bytes, 392u);
}

}  // namespace
}  // namespace halyard::registry
