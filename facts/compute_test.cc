// SPDX-License-Identifier: Apache-2.0
#include "facts/compute.h"

#include <gtest/gtest.h>

#include <memory>

#include "hal/fake_port.h"

namespace halyard::facts {
namespace {

TEST(Compute, WithoutExtensionsTheGenericLoopsAreTaken) {
  EXPECT_STREQ(SelectPeakKernel({}).name, "generic");
}

TEST(Compute, LoopsDependOnEveryRound) {
  // A loop whose work is dropped by the compiler would give the same for all.
  const hy_peak_table& table = *SelectPeakKernel(LiveIsa()).table;
  for (const hy_peak_table* one : {&table, &hy_peak_generic}) {
    EXPECT_NE(one->int8.run(1), one->int8.run(3));
    EXPECT_GT(one->int8.ops_per_round, 0u);
    EXPECT_GT(one->f32.ops_per_round, 0u);
  }
}

TEST(Compute, RatesAreOrdered) {
  const hal::Device device = hal::OpenFake(std::make_shared<hal::FakePort>(hal::FakePort::Shape{}));
  hal::TeamRequest request;
  request.count = 1;
  absl::StatusOr<hal::Team> team = device.CreateTeam(request);
  ASSERT_TRUE(team.ok()) << team.status();
  const absl::StatusOr<ComputeRow> row = MeasureCompute(*team, {.runs = 3, .run_ns = 200'000});
  ASSERT_TRUE(row.ok()) << row.status();
  for (const ComputeRate& rate : {row->int8, row->f32}) {
    EXPECT_GT(rate.min_gop_per_s, 0);
    EXPECT_LE(rate.min_gop_per_s, rate.median_gop_per_s);
    EXPECT_LE(rate.median_gop_per_s, rate.max_gop_per_s);
  }
  EXPECT_EQ(row->threads, 1u);
  EXPECT_EQ(row->runs, 3u);
}

}  // namespace
}  // namespace halyard::facts
