// SPDX-License-Identifier: Apache-2.0
//
// A captured machine is the same machine. hal/fuzz/system_image.cc looks for more ways to lose one.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hal/system_view.h"
#include "hal/test_image.h"
#include "hal/topology.h"

namespace halyard::hal {
namespace {

TEST(CaptureTest, KeepsThisMachine) {
  const auto live = RealSystem();
  const std::string text = CaptureSystemImage(*live, "two\nlines");
  const auto copy = ParseSystemImage(text);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_TRUE(absl::StrContains(text, "@machine two lines\n"));
  const Topology here = ReadTopology(*live, true);
  const Topology there = ReadTopology(**copy, true);
  EXPECT_EQ(there.budget_millicpus, here.budget_millicpus);
  EXPECT_EQ(there.limits, here.limits);
  ASSERT_EQ(there.pus.size(), here.pus.size());
  for (size_t i = 0; i < here.pus.size(); ++i) {
    EXPECT_EQ(memcmp(&there.pus[i], &here.pus[i], sizeof(hy_pu)), 0) << here.pus[i].os_id;
  }
  EXPECT_EQ(there.caches.size(), here.caches.size());
  EXPECT_EQ(there.page_pools.size(), here.page_pools.size());
}

// Files of a machine that need not be ones an image can hold.
class FileMap final : public SystemView {
 public:
  explicit FileMap(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  std::optional<std::string> Read(absl::string_view path) const override {
    const auto found = files_.find(std::string(path));
    if (found == files_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<std::string> List(absl::string_view) const override { return {}; }
  bool is_live() const override { return false; }
  std::string arch() const override { return "x86_64"; }
  uint64_t page_bytes() const override { return 4096; }
  IsaMask isa(uint32_t) const override { return {}; }
  uint32_t source() const override { return HY_SOURCE_SYSFS; }

 private:
  const std::map<std::string, std::string> files_;
};

TEST(CaptureTest, WritesAnyTextSoThatItIsReadBack) {
  constexpr char kPath[] = "sys/devices/system/cpu/possible";
  for (const char* text : {"", " ", "a", " a", "a ", "a\nb", "a\n", "\n", "END", "x\nEND\ny",
                           "END\r\nx", "a = b", "{}", "{+1}\nx", "# x", "x\nEND_\nEND"}) {
    const FileMap view(std::map<std::string, std::string>{{kPath, text}});
    const auto copy = ParseSystemImage(CaptureSystemImage(view, ""));
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ((*copy)->Read(kPath), text) << text;
  }
}

std::string QuotaFile(const std::string& group) {
  return absl::StrCat("sys/fs/cgroup/", group, "/cpu.max");
}

std::map<std::string, std::string> MachineOfGroup(const std::string& group) {
  return {{"sys/devices/system/cpu/online", "0-3"},
          {"proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"},
          {"proc/self/cgroup", absl::StrCat("0::/", group)},
          {QuotaFile(group), "50000 100000"}};
}

// Control groups may be called anything, and units of theirs may be told apart by number.
TEST(CaptureTest, LeavesOutWhatAnImageCannotHold) {
  for (const char* group : {"a b", "a\tb", "a}b", "a{b", "cpu1/a b", "cpu2/{x", "node1/x\ty"}) {
    const auto copy = ParseSystemImage(CaptureSystemImage(FileMap(MachineOfGroup(group)), ""));
    ASSERT_TRUE(copy.ok()) << group << ": " << copy.status();
    EXPECT_EQ((*copy)->Read(QuotaFile(group)), std::nullopt) << group;
    EXPECT_EQ(ReadTopology(**copy, true).pus.size(), 4u) << group;
  }
  EXPECT_FALSE(IsImagePath("#a"));
  EXPECT_FALSE(IsImagePath("@isa/a"));
}

// The folder is there, and which units there are is not known.
TEST(CaptureTest, KeepsNodesOfAMachineWithoutUnits) {
  const auto view = TestImage("sys/devices/system/node/node3/cpulist =\n");
  ASSERT_EQ(ReadTopology(*view, true).nodes.size(), 1u);
  const auto copy = ParseSystemImage(CaptureSystemImage(*view, ""));
  ASSERT_TRUE(copy.ok()) << copy.status();
  const Topology there = ReadTopology(**copy, true);
  ASSERT_EQ(there.nodes.size(), 1u);
  EXPECT_EQ(there.nodes[0].os_id, 3u);
}

TEST(CaptureTest, KeepsTheQuota) {
  std::map<std::string, std::string> v1 = {
      {"sys/devices/system/cpu/online", "0-3"},
      {"proc/self/mountinfo", "32 24 0:28 / /cg rw - cgroup cgroup cpu,rw"},
      {"proc/self/cgroup", "3:cpu:/"},
      {"cg/cpu.cfs_quota_us", "50000"}};
  for (const auto& files : {MachineOfGroup("job"), MachineOfGroup("cpu1/job"), v1}) {
    const FileMap view(files);
    ASSERT_EQ(ReadTopology(view, true).quota_millicpus, 500u);
    const auto copy = ParseSystemImage(CaptureSystemImage(view, ""));
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(ReadTopology(**copy, true).quota_millicpus, 500u);
  }
}

}  // namespace
}  // namespace halyard::hal
