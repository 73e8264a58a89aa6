// SPDX-License-Identifier: Apache-2.0
#include "facts/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "hal/test_image.h"

namespace halyard::facts {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSecond = 1'000'000'000;

Activity Read(absl::string_view lines) { return ReadActivity(*hal::TestImage(lines)); }

TEST(Activity, ReadsTimesOfAllCpus) {
  const Activity activity = Read(
      "proc/stat <<END\ncpu  100 10 50 9000 800 5 6 70 30 2\ncpu0 1 2 3 4 5 6 7 8 9 10\nEND\n");
  const uint64_t ns_per_tick = kSecond / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  EXPECT_EQ(activity.busy_ns, (100 + 10 + 50 + 5 + 6) * ns_per_tick);
  EXPECT_EQ(activity.stolen_ns, 70 * ns_per_tick);
  EXPECT_GT(activity.at_ns, 0u);
  const Activity old = Read("proc/stat = cpu 1 2 3 4 5\n");  // kernels before 2.6 had no more
  EXPECT_EQ(old.busy_ns, 6 * ns_per_tick);
  EXPECT_FALSE(old.stolen_ns.has_value());
  EXPECT_FALSE(Read("proc/stat = intr 5\n").busy_ns.has_value());
  EXPECT_FALSE(Read("").busy_ns.has_value());
}

TEST(Activity, CountsThrottlingOfEveryLevelAndVersion) {
  const Activity v2 = Read(
      "proc/self/mountinfo = 30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
      "proc/self/cgroup = 0::/job/step\n"
      "sys/fs/cgroup/job/step/cpu.stat <<END\nnr_periods 9\nnr_throttled 2\nthrottled_usec "
      "700\nEND\n"
      "sys/fs/cgroup/job/cpu.stat <<END\nnr_throttled 3\nthrottled_usec 300\nEND\n");
  EXPECT_EQ(v2.throttled_times, 5u);
  EXPECT_EQ(v2.throttled_us, 1000u);
  const Activity v1 = Read(
      "proc/self/mountinfo = 32 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "proc/self/cgroup = 4:cpu:/job\n"
      "sys/fs/cgroup/cpu/job/cpu.stat <<END\nnr_throttled 4\nthrottled_time 5000000\nEND\n");
  EXPECT_EQ(v1.throttled_times, 4u);
  EXPECT_EQ(v1.throttled_us, 5000u);
  EXPECT_FALSE(Read("").throttled_times.has_value());
}

Finding Load(absl::string_view text, uint32_t cpus) {
  hal::Topology whole;
  whole.pus.resize(cpus);
  const auto view = hal::TestImage(absl::StrCat("proc/loadavg = ", text, "\n"));
  const std::vector<Finding> found = LookAtLoad(*view, whole);
  return found.empty() ? Finding() : found.front();
}

TEST(Activity, LoadCountsAgainstTheCpus) {
  EXPECT_EQ(Load("0.30 0.1 0.1 1/90 7", 2).severity, Severity::kInfo);
  EXPECT_EQ(Load("1.30 0.1 0.1 1/90 7", 2).severity, Severity::kWarning);
  EXPECT_EQ(Load("1.30 0.1 0.1 1/90 7", 128).severity, Severity::kInfo);
  EXPECT_THAT(Load("1.30 0.1 0.1 1/90 7", 2).title, HasSubstr("1.30 on 2 CPUs"));
  EXPECT_EQ(Load("not a load", 2).id, "");
}

/// Findings of ten seconds on four CPUs, after which `change` was counted.
std::vector<Finding> After(const Activity& change) {
  Activity before{3, 100, 1000 * kSecond, 20 * kSecond, 5 * kSecond, 100 * kSecond};
  Activity after = before;
  after.at_ns += 10 * kSecond;
  after.own_ns += change.own_ns;
  *after.busy_ns += change.busy_ns.value_or(0);
  *after.stolen_ns += change.stolen_ns.value_or(0);
  *after.throttled_times += change.throttled_times.value_or(0);
  *after.throttled_us += change.throttled_us.value_or(0);
  return LookAtActivity(before, after, 4);
}

std::string OnlyId(const std::vector<Finding>& findings) {
  return findings.size() == 1 ? findings[0].id : absl::StrCat(findings.size(), " findings");
}

TEST(Activity, WhatHappenedMeanwhileIsTold) {
  Activity quiet;
  quiet.own_ns = 38 * kSecond;
  quiet.busy_ns = 39 * kSecond;
  EXPECT_EQ(OnlyId(After(quiet)), "load.quiet");

  Activity other = quiet;
  other.own_ns = 20 * kSecond;
  EXPECT_EQ(OnlyId(After(other)), "load.other");
  EXPECT_THAT(After(other)[0].title, HasSubstr("1.90 of 4 CPUs"));

  Activity stolen = quiet;
  stolen.stolen_ns = 2 * kSecond;
  EXPECT_EQ(OnlyId(After(stolen)), "load.steal");
  EXPECT_THAT(After(stolen)[0].title, HasSubstr("0.20 of 4 CPUs"));

  Activity throttled = quiet;
  throttled.throttled_times = 12;
  throttled.throttled_us = 340'000;
  EXPECT_EQ(OnlyId(After(throttled)), "load.throttled");
  EXPECT_THAT(After(throttled)[0].title, HasSubstr("12 times, 0.34 s"));
}

TEST(Activity, CountersThatAreMissingOrRunBackwardsSayNothing) {
  Activity before{std::nullopt, std::nullopt, std::nullopt, std::nullopt, 0, 0};
  Activity after{7, 7, 100 * kSecond, 100 * kSecond, 0, kSecond};
  EXPECT_EQ(OnlyId(LookAtActivity(before, after, 4)), "load.quiet");
  EXPECT_TRUE(LookAtActivity(after, before, 4).empty()) << "no time went by";
  after.at_ns = 0;
  before = {9, 9, 200 * kSecond, 200 * kSecond, 0, 0};
  after.at_ns = kSecond;
  EXPECT_EQ(OnlyId(LookAtActivity(before, after, 4)), "load.quiet");
}

}  // namespace
}  // namespace halyard::facts
