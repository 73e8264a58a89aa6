// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hal/cgroup.h"
#include "hal/test_image.h"
#include "hal/topology.h"

namespace halyard::hal {
namespace {

constexpr char kMountV2[] =
    "proc/self/mountinfo = 30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kMountV1[] =
    "proc/self/mountinfo <<END\n"
    "31 24 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
    "END\n";

uint64_t Quota(const std::string& lines) { return ReadQuotaMillicpus(*TestImage(lines)); }

TEST(QuotaTest, IsNoneWithoutGroups) { EXPECT_EQ(Quota(""), 0u); }

TEST(QuotaTest, IsNoneWhereNothingIsMounted) {
  EXPECT_EQ(Quota("proc/self/cgroup = 0::/job\nsys/fs/cgroup/job/cpu.max = 50000 100000\n"), 0u);
}

TEST(QuotaTest, ReadsHalfACpu) {
  EXPECT_EQ(Quota(absl::StrCat(kMountV2, "proc/self/cgroup = 0::/\n",
                               "sys/fs/cgroup/cpu.max = 50000 100000\n")),
            500u);
}

TEST(QuotaTest, MaxIsNoLimit) {
  EXPECT_EQ(Quota(absl::StrCat(kMountV2, "proc/self/cgroup = 0::/job\n",
                               "sys/fs/cgroup/job/cpu.max = max 100000\n")),
            0u);
}

TEST(QuotaTest, TheTightestParentHolds) {
  const std::string levels = absl::StrCat(kMountV2, "proc/self/cgroup = 0::/a/b/c\n",
                                          "sys/fs/cgroup/a/b/c/cpu.max = 400000 100000\n",
                                          "sys/fs/cgroup/a/cpu.max = 300000 50000\n");
  EXPECT_EQ(Quota(levels), 4000u);
  EXPECT_EQ(Quota(absl::StrCat(levels, "sys/fs/cgroup/a/b/cpu.max = 150000 100000\n")), 1500u);
  EXPECT_EQ(Quota(absl::StrCat(levels, "sys/fs/cgroup/cpu.max = 10000 100000\n")), 100u);
}

TEST(QuotaTest, ATinyQuotaIsNotNone) {
  EXPECT_EQ(Quota(absl::StrCat(kMountV2, "proc/self/cgroup = 0::/\n",
                               "sys/fs/cgroup/cpu.max = 1000 100000000\n")),
            1u);
}

TEST(QuotaTest, NonsenseIsNoLimit) {
  for (const char* text : {"", "max", "half 100000", "50000 0", "50000 -1",
                           "99999999999999999999 100000", "18446744073709551615 1"}) {
    EXPECT_EQ(Quota(absl::StrCat(kMountV2, "proc/self/cgroup = 0::/\n",
                                 "sys/fs/cgroup/cpu.max <<END\n", text, "\nEND\n")),
              0u)
        << text;
  }
}

TEST(QuotaTest, Version1ReadsAllParents) {
  const std::string root = absl::StrCat(kMountV1, "proc/self/cgroup = 2:cpu,cpuacct:/tenant/job\n");
  const std::string folder = "sys/fs/cgroup/cpu,cpuacct/";
  const std::string levels = absl::StrCat(root, folder, "cpu.cfs_quota_us = -1\n",  //
                                          folder, "tenant/cpu.cfs_quota_us = 100000\n", folder,
                                          "tenant/cpu.cfs_period_us = 100000\n",  //
                                          folder, "tenant/job/cpu.cfs_quota_us = 400000\n", folder,
                                          "tenant/job/cpu.cfs_period_us = 100000\n");
  EXPECT_EQ(Quota(levels), 1000u);
  EXPECT_EQ(Quota(absl::StrCat(levels, folder, "tenant/cpu.cfs_quota_us = -1\n")), 4000u);
}

TEST(QuotaTest, Version1DoesNotTakeAnotherController) {
  EXPECT_EQ(Quota(absl::StrCat(kMountV1, "proc/self/cgroup = 2:memory:/job\n",
                               "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us = 100000\n")),
            0u);
}

TEST(QuotaTest, Version2IsTheHierarchyOfNumberZero) {
  const std::string job = absl::StrCat(kMountV2, "sys/fs/cgroup/job/cpu.max = 50000 100000\n");
  EXPECT_EQ(Quota(job + "proc/self/cgroup = 0::/job\n"), 500u);
  EXPECT_EQ(Quota(job + "proc/self/cgroup = 7::/job\n"), 0u);
  EXPECT_EQ(Quota(job + "proc/self/cgroup = 0:,:/job\n"), 0u);
}

TEST(QuotaTest, AContainerSeesItsGroupAsTheMount) {
  const std::string container =
      "proc/self/cgroup = 0::/docker/4f1c/sub\n"
      "proc/self/mountinfo = 30 23 0:26 /docker/4f1c /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
      "sys/fs/cgroup/cpu.max = 250000 100000\n";
  EXPECT_EQ(Quota(container), 2500u);
  EXPECT_EQ(Quota(absl::StrCat(container, "sys/fs/cgroup/sub/cpu.max = 50000 100000\n")), 500u);
}

TEST(QuotaTest, AGroupOutsideTheNamespaceLeavesTheMount) {
  for (const char* path : {"/../other", "/elsewhere"}) {
    EXPECT_EQ(
        Quota(absl::StrCat("proc/self/cgroup = 0::", path, "\n",
                           "proc/self/mountinfo = 30 23 0:26 /mine /cg ro - cgroup2 cgroup rw\n",
                           "cg/cpu.max = 200000 100000\n")),
        2000u);
  }
  EXPECT_EQ(Quota(absl::StrCat(kMountV2, "proc/self/cgroup = 0::/../other\n",
                               "sys/fs/cgroup/cpu.max = 200000 100000\n")),
            2000u);
}

TEST(QuotaTest, AMountPointIsUnescaped) {
  // The image format has no blanks in paths, so the escape is of a comma: octal 054.
  EXPECT_EQ(Quota("proc/self/cgroup = 0::/\n"
                  "proc/self/mountinfo = 30 23 0:26 / /my\\054groups rw - cgroup2 none rw\n"
                  "my,groups/cpu.max = 150000 100000\n"),
            1500u);
}

std::string FourUnits(const std::string& lines) {
  return absl::StrCat("sys/devices/system/cpu/online = 0-3\n",
                      "proc/self/status = Cpus_allowed_list:\t0-3\n", kMountV2,
                      "proc/self/cgroup = 0::/job\n", lines);
}

TEST(BudgetTest, IsTheQuotaWhereThatIsLess) {
  const Topology topology =
      ReadTopology(*TestImage(FourUnits("sys/fs/cgroup/job/cpu.max = 250000 100000\n")), false);
  EXPECT_EQ(topology.budget_millicpus, 2500u);
  EXPECT_EQ(topology.quota_millicpus, 2500u);
  EXPECT_EQ(topology.limits, HY_LIMIT_QUOTA);
  EXPECT_EQ(topology.budget_workers(), 2u);
}

TEST(BudgetTest, IsTheUnitsWhereTheQuotaIsMore) {
  const Topology topology =
      ReadTopology(*TestImage(FourUnits("sys/fs/cgroup/job/cpu.max = 900000 100000\n")), false);
  EXPECT_EQ(topology.budget_millicpus, 4000u);
  EXPECT_EQ(topology.quota_millicpus, 9000u);
  EXPECT_EQ(topology.limits, 0u);
}

TEST(BudgetTest, AQuotaBelowOneCpuStillHasAWorker) {
  const Topology topology =
      ReadTopology(*TestImage(FourUnits("sys/fs/cgroup/job/cpu.max = 1000 100000\n")), false);
  EXPECT_EQ(topology.budget_millicpus, 10u);
  EXPECT_EQ(topology.budget_workers(), 1u);
}

TEST(CpusetTest, IsThatOfTheNearestGroupThatSaysOne) {
  const std::string groups = absl::StrCat(kMountV2, "proc/self/cgroup = 0::/a/b\n",
                                          "sys/fs/cgroup/cpuset.cpus.effective = 0-7\n",
                                          "sys/fs/cgroup/a/cpuset.cpus.effective = 2,4\n");
  EXPECT_EQ(ReadCpuset(*TestImage(groups)), (std::vector<uint32_t>{2, 4}));
  EXPECT_EQ(
      ReadCpuset(*TestImage(absl::StrCat(groups, "sys/fs/cgroup/a/b/cpuset.cpus.effective = 4\n"))),
      (std::vector<uint32_t>{4}));
  EXPECT_EQ(ReadCpuset(*TestImage(kMountV2)), std::nullopt);
}

TEST(CpusetTest, AndroidHasNoPrefix) {
  EXPECT_EQ(
      ReadCpuset(*TestImage(
          "proc/self/cgroup = 3:cpuset:/top-app\n"
          "proc/self/mountinfo = 41 20 0:32 / /dev/cpuset rw - cgroup none rw,cpuset,noprefix\n"
          "dev/cpuset/top-app/cpus = 0-5\n")),
      (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace halyard::hal
