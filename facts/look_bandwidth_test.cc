// SPDX-License-Identifier: Apache-2.0
//
// What is said of figures, which are written here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "facts/findings.h"
#include "facts/test_sheet.h"

namespace halyard::facts {
namespace {

using ::testing::HasSubstr;

BandwidthRow Row(uint32_t threads, double median, uint32_t node_id = HY_ID_NONE) {
  BandwidthRow row;
  row.work = "read";
  row.threads = threads;
  row.node_id = node_id;
  row.median_gb_per_s = median;
  row.min_gb_per_s = 0.98 * median;
  row.max_gb_per_s = 1.02 * median;
  return row;
}

/// Four cores in each of some sockets, all of them to be used.
class Figures : public ::testing::Test {
 protected:
  Figures() {
    sheet_.memory.push_back({"two channels", {}, 2, "DDR4", 3200, 64, 51.2});
    SetSockets(1);
    machine_.topology = &topology_;
    machine_.sheet = &sheet_;
  }

  void SetSockets(uint32_t count) {
    topology_.pus.clear();
    for (uint32_t id = 0; id < 4 * count; ++id) {
      hy_pu pu{};
      pu.os_id = id;
      pu.core_id = id;
      pu.package_id = id / 4;
      topology_.pus.push_back(pu);
    }
  }

  /// The finding of an id; one without a title if there is none.
  Finding Of(absl::string_view id, const std::vector<BandwidthRow>& rows) {
    for (const Finding& finding : LookAtBandwidth(machine_, rows)) {
      if (finding.id == id) return finding;
    }
    return {};
  }

  ChipSheet sheet_ = TestSheet();
  hal::Topology topology_;
  Machine machine_;
};

TEST_F(Figures, AgainstTheSheetOnWholeSockets) {
  const Finding good = Of("bandwidth.sheet", {Row(1, 12), Row(4, 38.4)});
  EXPECT_EQ(good.severity, Severity::kInfo);
  EXPECT_THAT(good.title, HasSubstr("4 threads read 38.4 GB/s: 75 % of the 51.2 GB/s"));
  const Finding bad = Of("bandwidth.sheet", {Row(1, 12), Row(4, 25.6)});
  EXPECT_EQ(bad.severity, Severity::kWarning);
  EXPECT_THAT(bad.title, HasSubstr("50 % of"));
  EXPECT_THAT(bad.remedy, HasSubstr("60 %"));
  SetSockets(2);
  EXPECT_EQ(Of("bandwidth.sheet", {Row(8, 38.4)}).severity, Severity::kWarning);
  EXPECT_EQ(Of("bandwidth.sheet", {Row(8, 76.8)}).severity, Severity::kInfo);
  sheet_.min_ok_share = 0.3;
  EXPECT_EQ(Of("bandwidth.sheet", {Row(8, 38.4)}).severity, Severity::kInfo);
}

TEST_F(Figures, NotComparedOnAPartOfASocket) {
  const auto why = [this](const BandwidthRow& row) {
    const Finding finding = Of("bandwidth.sheet", {row});
    EXPECT_EQ(finding.severity, Severity::kInfo);
    return finding.title;
  };
  EXPECT_THAT(why(Row(3, 5)), HasSubstr("not compared with the 51.2 GB/s of two channels: 3 of 4"));
  topology_.limits = HY_LIMIT_QUOTA;
  EXPECT_THAT(why(Row(4, 5)), HasSubstr("quota"));
  topology_.limits = HY_LIMIT_CPUSET;
  EXPECT_THAT(why(Row(4, 5)), HasSubstr("may not use all CPUs"));
  topology_.limits = HY_LIMIT_ONLINE;
  EXPECT_THAT(why(Row(4, 5)), HasSubstr("offline"));
  topology_.limits = 0;
  machine_.marks.is_virtual = true;
  sheet_.core_classes[0].count = 64;
  EXPECT_THAT(why(Row(4, 5)), HasSubstr("virtual machine"));
  sheet_.core_classes[0].count = 4;  // it has them all
  EXPECT_EQ(Of("bandwidth.sheet", {Row(4, 5)}).severity, Severity::kWarning);
  // Fewer cores than the machine has can be used, though the process sees only these.
  hal::Topology whole = topology_;
  whole.pus.push_back(whole.pus.back());
  whole.pus.back().core_id = 9;
  machine_.whole = &whole;
  EXPECT_THAT(why(Row(4, 5)), HasSubstr("4 of 5 cores"));
}

TEST_F(Figures, WithoutASheetOrAFigure) {
  sheet_.memory[0].theoretical_gb_per_s.reset();
  EXPECT_THAT(Of("bandwidth.sheet", {Row(4, 5)}).title, HasSubstr("no chip sheet has a figure"));
  sheet_.memory[0] = {"of a board", {"Acme board"}, 2, "DDR4", 3200, 64, 51.2};
  EXPECT_THAT(Of("bandwidth.sheet", {Row(4, 5)}).title, HasSubstr("no chip sheet has a figure"));
  machine_.marks.texts = {"Acme board 2"};
  EXPECT_THAT(Of("bandwidth.sheet", {Row(4, 5)}).title, HasSubstr("of a board"));
  machine_.sheet = nullptr;
  EXPECT_THAT(Of("bandwidth.sheet", {Row(4, 5)}).title, HasSubstr("no chip sheet has a figure"));
  EXPECT_TRUE(LookAtBandwidth(machine_, {}).empty());
}

TEST_F(Figures, TheWorstSpreadIsTold) {
  BandwidthRow noisy = Row(2, 20);
  noisy.min_gb_per_s = 10;
  BandwidthRow worse = Row(3, 20);
  worse.min_gb_per_s = 5;
  EXPECT_THAT(Of("bandwidth.noise", {Row(1, 10), noisy, worse, Row(4, 20)}).title,
              HasSubstr("read with 3 threads moved between 5.0 and"));
  EXPECT_EQ(Of("bandwidth.noise", {Row(1, 10), Row(4, 20)}).id, "");
}

TEST_F(Figures, ThreadsThatAddNothing) {
  EXPECT_EQ(Of("bandwidth.scaling", {Row(1, 10), Row(4, 10.1)}).severity, Severity::kInfo);
  EXPECT_NE(Of("bandwidth.scaling", {Row(1, 10), Row(4, 10.1)}).id, "");
  EXPECT_EQ(Of("bandwidth.scaling", {Row(1, 10), Row(4, 20)}).id, "");
  EXPECT_EQ(Of("bandwidth.scaling", {Row(1, 10)}).id, "");
}

TEST_F(Figures, NodesOfOneKindShouldBeAlike) {
  for (const uint32_t id : {0u, 1u, 2u}) {
    hy_node node{};
    node.os_id = id;
    node.kind = id == 2 ? HY_NODE_HBM : HY_NODE_DRAM;
    topology_.nodes.push_back(node);
  }
  const BandwidthRow all = Row(4, 40);
  EXPECT_EQ(Of("bandwidth.node", {all, Row(2, 20, 0), Row(2, 18, 1), Row(2, 90, 2)}).id, "");
  const Finding slow = Of("bandwidth.node", {all, Row(2, 20, 0), Row(2, 10, 1), Row(2, 90, 2)});
  EXPECT_EQ(slow.severity, Severity::kWarning);
  EXPECT_THAT(slow.title, HasSubstr("node 1 reads 10.0 GB/s, node 0 20.0"));
  EXPECT_EQ(Of("bandwidth.node", {all, Row(2, 20, 0), Row(1, 10, 1)}).id, "") << "fewer workers";
}

}  // namespace
}  // namespace halyard::facts
