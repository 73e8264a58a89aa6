// SPDX-License-Identifier: Apache-2.0
//
// Runs the suite on ports that misbehave: whatever they do ends as a verdict.
#include "conformance/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "conformance/machine.h"
#include "conformance/mutants/mutants.h"
#include "conformance/plan.h"
#include "conformance/shard.h"

extern "C" const hy_hal_api* halyard_hal_get_example(uint32_t, uint32_t, const hy_host_services*,
                                                     uint32_t*);

namespace halyard::conformance {
namespace {

const hal::BuiltinPort kBuiltin = {"example", &MutantEntry};

RunRequest RequestWith(void (*spoil)(hy_hal_api*), const std::string& filter) {
  ChooseMutant(&halyard_hal_get_example, spoil);
  RunRequest request;
  request.port = "example";
  request.load.builtins = absl::MakeConstSpan(&kBuiltin, 1);
  request.filter = filter;
  request.modes = {"bare"};
  return request;
}

using AllocVerb = hy_status (*)(hy_device*, const hy_alloc_desc*, hy_buffer**, hy_placement*);

// Two cases: one that allocates, one that does not.
constexpr char kTwoCases[] = "SenselessSizesAreRefused:TheNeededKeysAreAnswered";

template <typename Alloc>
RunResult RunWithAlloc(Alloc alloc, double deadline_scale = 1) {
  static AllocVerb verb;
  verb = alloc;
  RunRequest request = RequestWith([](hy_hal_api* table) { table->alloc = verb; }, kTwoCases);
  request.deadline_scale = deadline_scale;
  const absl::StatusOr<RunResult> run = Run(request);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *run : RunResult{};
}

const CaseResult& CaseOf(const RunResult& run, const std::string& duty) {
  static const CaseResult kNone;
  for (const CaseResult& one : run.cases) {
    if (one.duty == duty) return one;
  }
  return kNone;
}

void ExpectOnlyAllocFails(const RunResult& run, Verdict verdict, const std::string& reason) {
  const CaseResult& failed = CaseOf(run, "HAL-MEM-01");
  EXPECT_EQ(failed.verdict, verdict) << VerdictName(failed.verdict) << ": " << failed.reason;
  EXPECT_NE(failed.reason.find(reason), std::string::npos) << failed.reason;
  EXPECT_EQ(CaseOf(run, "HAL-QRY-01").verdict, Verdict::kPass) << "the other case is not touched";
}

TEST(RunnerTest, AGoodPortPasses) {
  const absl::StatusOr<RunResult> run = conformance::Run(RequestWith(nullptr, kTwoCases));
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(run->cases.size(), 2u);
  for (const CaseResult& one : run->cases) {
    EXPECT_EQ(one.verdict, Verdict::kPass) << one.id << ": " << one.reason;
    EXPECT_EQ(one.reason, "");
    EXPECT_NE(one.title, "");
  }
  EXPECT_EQ(run->cases[0].id, "L0/HAL-QRY-01/TheNeededKeysAreAnswered/mode=bare/port=example");
  EXPECT_NE(run->device, "");
  EXPECT_EQ(run->port_origin, "built in");
}

TEST(RunnerTest, ACrashNamesSignalAndVerb) {
  const RunResult run =
      RunWithAlloc([](hy_device*, const hy_alloc_desc*, hy_buffer**, hy_placement*) -> hy_status {
        return *static_cast<volatile hy_status*>(nullptr);
      });
  ExpectOnlyAllocFails(run, Verdict::kCrash, "SIGSEGV");
  ExpectOnlyAllocFails(run, Verdict::kCrash, "in alloc");
}

TEST(RunnerTest, AnAbortIsACrashWithItsLastWords) {
  const RunResult run =
      RunWithAlloc([](hy_device*, const hy_alloc_desc*, hy_buffer**, hy_placement*) -> hy_status {
        std::fprintf(stderr, "assertion of the vendor failed\n");
        std::abort();
      });
  ExpectOnlyAllocFails(run, Verdict::kCrash, "SIGABRT");
  ExpectOnlyAllocFails(run, Verdict::kCrash, "assertion of the vendor failed");
}

TEST(RunnerTest, AnExitIsACrash) {
  const RunResult run = RunWithAlloc(
      [](hy_device*, const hy_alloc_desc*, hy_buffer**, hy_placement*) -> hy_status { _exit(7); });
  ExpectOnlyAllocFails(run, Verdict::kCrash, "exit(7)");
}

TEST(RunnerTest, AHangIsATimeout) {
  // Deadlines grow with the load and under an emulator; this one is waited for, so it has an end.
  const double growth = std::min(1.0, 10 / NaturalTimeScale());
  const RunResult run = RunWithAlloc(
      [](hy_device*, const hy_alloc_desc*, hy_buffer**, hy_placement*) -> hy_status {
        for (;;) pause();
      },
      /*deadline_scale=*/0.05 * growth);
  ExpectOnlyAllocFails(run, Verdict::kTimeout, "in alloc");
}

TEST(RunnerTest, OutputIsAFinding) {
  const RunResult run =
      RunWithAlloc([](hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                      hy_placement* out_placement) -> hy_status {
        std::printf("hello from the port\n");
        return mutants::Good().alloc(device, desc, out_buffer, out_placement);
      });
  ExpectOnlyAllocFails(run, Verdict::kFail, "hello from the port");
  ExpectOnlyAllocFails(run, Verdict::kFail, "HAL-ERR-05");
}

TEST(RunnerTest, AWrongAnswerHasItsPlace) {
  const RunResult run = RunWithAlloc([](hy_device*, const hy_alloc_desc*, hy_buffer**,
                                        hy_placement*) -> hy_status { return HY_INTERNAL; });
  ExpectOnlyAllocFails(run, Verdict::kFail, "INTERNAL");
  const CaseResult& failed = CaseOf(run, "HAL-MEM-01");
  ASSERT_FALSE(failed.findings.empty());
  EXPECT_EQ(failed.findings[0].file, "conformance/hal/memory_duties.cc");
  EXPECT_GT(failed.findings[0].line, 0);
}

TEST(RunnerTest, ACrashAtEnumerateIsAVerdictOfEachCase) {
  const absl::StatusOr<RunResult> run = conformance::Run(RequestWith(
      [](hy_hal_api* table) {
        table->enumerate = [](const hy_hal_api*, hy_array*) -> hy_status { std::abort(); };
      },
      kTwoCases));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->Summarise().failed, 2u);
}

TEST(RunnerTest, AnAbsentDeviceIsNotAFailure) {
  const absl::StatusOr<RunResult> run = conformance::Run(RequestWith(
      [](hy_hal_api* table) {
        table->enumerate = [](const hy_hal_api*, hy_array* devices) -> hy_status {
          devices->count = 0;
          return HY_OK;
        };
      },
      kTwoCases));
  EXPECT_TRUE(absl::IsUnavailable(run.status())) << run.status();
  RunRequest request = RequestWith(nullptr, kTwoCases);
  request.device = "no-such-device";
  EXPECT_TRUE(absl::IsUnavailable(conformance::Run(request).status()));
}

TEST(RunnerTest, WrongRequestsAreRefused) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(conformance::Run(RequestWith(nullptr, "HAL-NONE-*")).status()));
  RunRequest request = RequestWith(nullptr, kTwoCases);
  request.shard = 3;
  request.shards = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(conformance::Run(request).status()));
  request = RequestWith(nullptr, kTwoCases);
  request.modes = {"sideways"};
  EXPECT_TRUE(absl::IsInvalidArgument(conformance::Run(request).status()));
  request = RequestWith(nullptr, kTwoCases);
  request.port = "no_such_port";
  EXPECT_TRUE(absl::IsNotFound(conformance::Run(request).status()));
  request = RequestWith(nullptr, kTwoCases);
  request.expectations = "/no/such/file";
  EXPECT_TRUE(absl::IsNotFound(conformance::Run(request).status()));
}

TEST(RunnerTest, ShardsMakeTheWhole) {
  std::vector<RunResult> shards;
  for (uint32_t shard = 1; shard <= 3; ++shard) {
    RunRequest request = RequestWith(nullptr, "HAL-QRY-*");
    request.shard = shard;
    request.shards = 3;
    const absl::StatusOr<RunResult> run = conformance::Run(request);
    ASSERT_TRUE(run.ok()) << run.status();
    shards.push_back(*run);
  }
  const absl::StatusOr<RunResult> merged = MergeShards(shards);
  ASSERT_TRUE(merged.ok()) << merged.status();
  const absl::StatusOr<std::vector<CaseResult>> listed =
      ListCases(RequestWith(nullptr, "HAL-QRY-*"));
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(merged->cases.size(), listed->size());
  EXPECT_EQ(merged->Summarise().failed, 0u);
}

TEST(RunnerTest, ExpectationsSkipWaiveAndComplain) {
  const std::string path = testing::TempDir() + "/expectations_of_runner_test.yaml";
  std::ofstream(path) << "unsupported: [{test: TheNeededKeysAreAnswered, reason: told so}]\n"
                         "expected_failures: [{test: HAL-MEM-01, reason: r, issue: i, since: s}]\n";
  RunRequest request = RequestWith(nullptr, kTwoCases);
  request.expectations = path;
  const absl::StatusOr<RunResult> run = conformance::Run(request);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(CaseOf(*run, "HAL-QRY-01").verdict, Verdict::kSkip);
  EXPECT_NE(CaseOf(*run, "HAL-QRY-01").reason.find("told so"), std::string::npos);
  EXPECT_EQ(CaseOf(*run, "HAL-MEM-01").verdict, Verdict::kXpass);
  unlink(path.c_str());
}

TEST(RunnerTest, AnIdIsEnoughToReplay) {
  const std::string id = "L0/HAL-QRY-05/AnswersFitTogether/mode=validate/port=example";
  const absl::StatusOr<RunResult> run = Replay(id, RequestWith(nullptr, ""));
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(run->cases.size(), 1u);
  EXPECT_EQ(run->cases[0].id, id);
  EXPECT_EQ(run->cases[0].verdict, Verdict::kPass) << run->cases[0].reason;
  for (const char* wrong : {"", "L0", "L9/a/b/mode=bare/port=x", "L0/a/b/mode=bare",
                            "L0/a/b/mode=bare/port=x/color=red"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Replay(wrong, RequestWith(nullptr, "")).status())) << wrong;
  }
}

TEST(RunnerTest, ProgressReachesTheEnd) {
  Progress last;
  uint32_t calls = 0;
  const absl::StatusOr<RunResult> run =
      conformance::Run(RequestWith(nullptr, kTwoCases), [&](const Progress& progress) {
        EXPECT_GE(progress.done, last.done);
        last = progress;
        ++calls;
      });
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(last.done, 2u);
  EXPECT_EQ(last.total, 2u);
  EXPECT_GE(calls, 3u);
}

}  // namespace
}  // namespace halyard::conformance
