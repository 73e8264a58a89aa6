// SPDX-License-Identifier: Apache-2.0
//
// How the doctor's report reads, and what it looks at, on ports that simulate.
#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hal/host_services.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using facts::Severity;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kChips = absl::StrCat(HALYARD_TEST_SOURCE_DIR, "/ports/chips");
const std::string kFixtures =
    absl::StrCat(HALYARD_TEST_SOURCE_DIR, "/ports/sim_topology/fixtures/");

facts::BandwidthRow Row(const std::string& work, uint32_t threads, uint32_t node_id) {
  facts::BandwidthRow row;
  row.work = work;
  row.threads = threads;
  row.node_id = node_id;
  row.runs = 3;
  row.median_gb_per_s = 12.5;
  row.min_gb_per_s = 12;
  row.max_gb_per_s = 13;
  return row;
}

DoctorReport Report() {
  DoctorReport report;
  report.port = "linux";
  report.device = "cpu";
  report.machine = "Some <CPU>";
  report.topology.budget_millicpus = 2000;
  report.findings = {{"a.ok", Severity::kInfo, "all is well", ""},
                     {"b.note", Severity::kInfo, "could be better", "Try this"},
                     {"c.warning", Severity::kWarning, "is slow & noisy", "Do that"},
                     {"d.error", Severity::kError, "is broken",
                      std::string(40, 'x') + " " + std::string(60, 'y')}};
  report.bandwidth = {Row("read", 1, HY_ID_NONE), Row("copy", 1, HY_ID_NONE), Row("read", 2, 0)};
  return report;
}

TEST(DoctorText, WorstFirstEachWithItsMark) {
  const std::string text = DoctorText(Report());
  const size_t error = text.find("ERROR    is broken");
  const size_t warning = text.find("warning  is slow");
  const size_t note = text.find("note     could be better\n           -> Try this\n");
  const size_t ok = text.find("ok       all is well\n");
  ASSERT_NE(ok, std::string::npos) << text;
  EXPECT_LT(error, warning);
  EXPECT_LT(warning, note);
  EXPECT_LT(note, ok);
  EXPECT_THAT(text, HasSubstr("Not fit: 1 error, 1 warning\n"));
  for (const absl::string_view line : absl::StrSplit(text, '\n')) EXPECT_LE(line.size(), 100u);
}

TEST(DoctorText, VerdictFollowsTheWorstFinding) {
  DoctorReport report = Report();
  report.findings.pop_back();
  EXPECT_THAT(DoctorText(report),
              HasSubstr("Fit to run, with reservations: 0 errors, 1 warning\n"));
  report.findings.pop_back();
  EXPECT_THAT(DoctorText(report), HasSubstr("Fit: 0 errors, 0 warnings\n"));
}

TEST(DoctorText, ReadAndCopyOfATeamStandInOneLine) {
  const std::string text = DoctorText(Report());
  EXPECT_THAT(text, HasSubstr("median of 3 runs"));
  EXPECT_THAT(text,
              HasSubstr("  anywhere         1    12.5 ( 12.0 -  13.0)     12.5 ( 12.0 -  13.0)\n"));
  EXPECT_THAT(text, HasSubstr("  node 0           2    12.5 ( 12.0 -  13.0)\n"));
  DoctorReport none = Report();
  none.bandwidth.clear();
  EXPECT_THAT(DoctorText(none), Not(HasSubstr("GB/s")));
}

TEST(DoctorHtml, IsSafeAndWhole) {
  const std::string html = DoctorHtml(Report());
  EXPECT_THAT(html, HasSubstr("Some &lt;CPU&gt;"));
  EXPECT_THAT(html, HasSubstr("is slow &amp; noisy"));
  EXPECT_THAT(html, HasSubstr("<svg "));
  EXPECT_THAT(html, Not(HasSubstr("<CPU>")));
}

TEST(DoctorJson, HasWhatTheTextHas) {
  const nlohmann::json document = DoctorJson(Report());
  EXPECT_EQ(document["summary"]["error"], 1);
  EXPECT_EQ(document["findings"].size(), 4u);
  EXPECT_EQ(document["findings"][0]["id"], "d.error");
  EXPECT_TRUE(document["chip_sheet"].is_null());
  EXPECT_TRUE(document["bandwidth"][0]["node_id"].is_null());
  EXPECT_EQ(document["bandwidth"][2]["node_id"], 0);
}

/// Diagnose, without measuring, of a device of the simulator or of the core's reader.
class Diagnosed : public ::testing::Test {
 protected:
  void TearDown() override { hal::SetHostSystem(hal::RealSystem()); }

  static absl::StatusOr<DoctorReport> Of(const PortArgs& port, const std::string& chip = "") {
    const absl::StatusOr<hal::Device> device = OpenDevice(port);
    if (!device.ok()) return device.status();
    DoctorRequest request;
    request.measure = false;
    request.chips_dir = kChips;
    request.chip = chip;
    return Diagnose(*device, request, [](absl::string_view) {});
  }

  static bool Has(const DoctorReport& report, absl::string_view id) {
    for (const facts::Finding& finding : report.findings) {
      if (finding.id == id) return true;
    }
    return false;
  }
};

TEST_F(Diagnosed, ASimulatedMachineIsNotJudgedByTheFilesOfThisOne) {
  PortArgs port;
  port.port = "sim_topology";
  port.device = "memoryless_node";
  const absl::StatusOr<DoctorReport> report = Of(port);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(Has(*report, "memory.node_empty"));
  EXPECT_TRUE(Has(*report, "machine.not_this"));
  for (const char* const id : {"clock.governor", "memory.thp", "memory.available", "load.start",
                               "isa.build", "threads.binding", "memory.readback"}) {
    EXPECT_FALSE(Has(*report, id)) << id;
  }
  EXPECT_FALSE(report->sheet.has_value());
  EXPECT_TRUE(report->bandwidth.empty());
}

TEST_F(Diagnosed, AnImageIsJudgedByItsOwnFiles) {
  PortArgs port;
  port.system = kFixtures + "kunpeng920_4n.topo";
  const absl::StatusOr<DoctorReport> report = Of(port);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->sheet.has_value());
  EXPECT_EQ(report->sheet->id, "kunpeng920");
  EXPECT_FALSE(report->sheet_named);
  EXPECT_TRUE(Has(*report, "memory.numa_balancing"));
  EXPECT_TRUE(Has(*report, "sheet.cores"));
  EXPECT_TRUE(Has(*report, "machine.not_this"));
  EXPECT_FALSE(Has(*report, "threads.binding"));
}

TEST_F(Diagnosed, ThisMachineIsTriedOut) {
  const absl::StatusOr<DoctorReport> report = Of(PortArgs());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(Has(*report, "machine.not_this"));
  EXPECT_TRUE(Has(*report, "isa.build"));
  EXPECT_TRUE(Has(*report, "threads.binding"));
  EXPECT_TRUE(Has(*report, "memory.readback"));
  EXPECT_NE(report->machine, "");
}

TEST_F(Diagnosed, ASheetCanBeNamedByHand) {
  const absl::StatusOr<DoctorReport> named = Of(PortArgs(), "z14");
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->sheet->id, "z14");
  EXPECT_TRUE(named->sheet_named);
  const absl::Status unknown = Of(PortArgs(), "z15").status();
  EXPECT_EQ(CodeOf(unknown), kWrongInput);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("no chip sheet 'z15'; there are: a64fx "));
  DoctorRequest request;
  request.chips_dir = kChips;
  EXPECT_TRUE(CheckSheets(request).ok());
  request.chip = "z15";
  EXPECT_EQ(CheckSheets(request).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace halyard::cli
