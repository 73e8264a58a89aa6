// SPDX-License-Identifier: Apache-2.0
#include "conformance/hal/case_runner.h"

#include <cstdlib>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "conformance/hal/context.h"
#include "conformance/hal/fault_sweep.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

std::string RelativePath(const std::string& file) {
  const size_t folder = file.rfind("/conformance/");
  return folder == std::string::npos ? file : file.substr(folder + 1);
}

/// A test whose body is a function.
class BodyTest : public testing::Test {
 public:
  explicit BodyTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

/// Collects what the assertions of one test found.
class Collector : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) {
      if (skip_reason_.empty()) skip_reason_ = CleanMessage(part.message());
    } else if (part.failed()) {
      Finding finding;
      finding.message = CleanMessage(part.message());
      if (part.file_name() != nullptr) finding.file = RelativePath(part.file_name());
      finding.line = part.line_number();
      findings_.push_back(std::move(finding));
    }
  }

  void MoveTo(CaseResult* out) {
    out->findings = std::move(findings_);
    if (!out->findings.empty()) {
      out->verdict = Verdict::kFail;
      out->reason = out->findings.front().message;
    } else if (!skip_reason_.empty()) {
      out->verdict = Verdict::kSkip;
      out->reason = skip_reason_;
    } else {
      out->verdict = Verdict::kPass;
      out->reason.clear();
    }
  }

 private:
  static std::string CleanMessage(const char* message) {
    std::string text = message == nullptr ? "" : message;
    const size_t trace = text.find("\nStack trace:");
    if (trace != std::string::npos) text.resize(trace);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (absl::StartsWith(text, "Failed\n")) text.erase(0, 7);
    if (absl::StartsWith(text, "Skipped\n")) text.erase(0, 8);
    return text.empty() ? "no reason given" : text;
  }

  std::vector<Finding> findings_;
  std::string skip_reason_;
};

void PrepareGoogleTest() {
  for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE",
                           "TEST_PREMATURE_EXIT_FILE", "GTEST_OUTPUT", "XML_OUTPUT_FILE"}) {
    unsetenv(name);
  }
  testing::InitGoogleTest();
  GTEST_FLAG_SET(output, "");
  GTEST_FLAG_SET(repeat, 1);
  GTEST_FLAG_SET(shuffle, false);
  GTEST_FLAG_SET(catch_exceptions, true);
  GTEST_FLAG_SET(throw_on_failure, false);
  GTEST_FLAG_SET(break_on_failure, false);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  delete listeners.Release(listeners.default_xml_generator());
}

void RunOnGoogleTest(const char* file, int line, const std::function<void()>& body,
                     CaseResult* inout_result) {
  static int serial = 0;
  if (serial == 0) PrepareGoogleTest();
  const std::string name = absl::StrCat("case", ++serial);
  testing::RegisterTest("HalyardConformance", name.c_str(), nullptr, nullptr, file, line,
                        [body] { return static_cast<testing::Test*>(new BodyTest(body)); });
  GTEST_FLAG_SET(filter, "HalyardConformance." + name);
  auto* const collector = new Collector;
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(collector);
  const int failures_are_collected = RUN_ALL_TESTS();
  static_cast<void>(failures_are_collected);
  listeners.Release(collector);
  collector->MoveTo(inout_result);
  delete collector;
}

void AddViolations(CaseResult* inout_result) {
  for (const hal::Violation& violation : ChildPorts::TakeViolations()) {
    Finding finding;
    finding.message =
        absl::StrCat(violation.duty == "core" ? "the caller broke a guarantee" : violation.duty,
                     " in ", violation.verb, ": ", violation.message);
    if (inout_result->findings.empty()) inout_result->reason = finding.message;
    inout_result->findings.push_back(std::move(finding));
    inout_result->verdict = Verdict::kFail;
  }
}

void FailWith(const std::string& reason, CaseResult* out) {
  out->verdict = Verdict::kFail;
  out->reason = reason;
  out->findings.push_back({reason, "", 0});
}

absl::StatusOr<ChildPorts>& PortsOfThisProcess(const RunRequest& request) {
  os::EnvironmentAtStart();
  static auto* const ports = new absl::StatusOr<ChildPorts>(ChildPorts::Load(request));
  return *ports;
}

// Opens the device if the test wants one; false if the case is decided by that.
bool OpenFor(const DutyTest& test, ChildContext& context, CaseResult* inout_result) {
  if (!test.traits.needs_device) return true;
  const absl::Status opened = context.OpenDevice();
  if (opened.ok()) return true;
  if (absl::IsUnavailable(opened)) {
    inout_result->verdict = Verdict::kSkip;
    inout_result->reason = absl::StrCat("the device is absent: ", opened.message());
  } else {
    FailWith(absl::StrCat("the device does not open: ", opened.ToString()), inout_result);
  }
  return false;
}

}  // namespace

void RunHalCase(const RunRequest& request, const HalCase& one, CaseResult* inout_result) {
  absl::StatusOr<ChildPorts>& ports = PortsOfThisProcess(request);
  if (!ports.ok()) {
    return FailWith(absl::StrCat("the port does not load: ", ports.status().ToString()),
                    inout_result);
  }
  const absl::StatusOr<std::shared_ptr<hal::Port>> port = ports->ForMode(one.mode);
  if (!port.ok()) return FailWith(port.status().ToString(), inout_result);
  // Kept to the end of the process in a case about that end.
  auto context =
      std::make_unique<ChildContext>(*ports, *port, request, one.mode, Digest(inout_result->id));
  if (one.scenario != nullptr) {
    RunOnGoogleTest(
        "", 0, [&] { SweepFaults(*one.scenario, *context, *ports->plan); }, inout_result);
  } else if (OpenFor(*one.test, *context, inout_result)) {
    RunOnGoogleTest(
        one.test->file, one.test->line, [&] { one.test->body(*context); }, inout_result);
  }
  inout_result->facts = context->TakeFacts();
  if (one.test != nullptr && one.test->traits.exits) {
    HalContext::Keep(std::move(context));
  } else {
    context.reset();
  }
  AddViolations(inout_result);
}

}  // namespace halyard::conformance
