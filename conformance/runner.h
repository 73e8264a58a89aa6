// SPDX-License-Identifier: Apache-2.0
//
// Runs conformance cases in child processes with deadlines.
#ifndef HALYARD_CONFORMANCE_RUNNER_H_
#define HALYARD_CONFORMANCE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/result.h"
#include "hal/loader.h"
#include "halyard/kernel.h"
#include "ops/builtin.h"

namespace halyard::conformance {

class GoldenPack;

/// What of the ops and kernels to run.
struct OpsRequest {
  // Given by the program: TheBuiltinOps() and BuiltinKernelTable().
  const BuiltinOps* builtin = nullptr;
  const hy_kernel_table* builtin_kernels = nullptr;
  std::vector<std::string> plugins;        ///< libraries with kernels
  const hy_kernel_table* extra = nullptr;  ///< one more table, such as a mutant
  ops::Tier tier = ops::Tier::kQuick;
  // Globs; empty: all.
  std::string op;
  std::string format;  ///< a type that the case's tuple has
  std::string kernel;
  std::string edge;
  uint32_t jobs = 1;  ///< processes that divide the cases
  /// Where expectations are read that it has; NULL: all are computed.
  std::shared_ptr<const GoldenPack> golden;
  /// Also kill every broken kernel and tell the score: for whole runs.
  bool mutation_score = false;
};

/// What to run, on what.
struct RunRequest {
  std::string level = "hal";                                 ///< or "ops", "graph"
  std::string port = "linux";                                ///< word or path
  std::string device;                                        ///< empty: the port's first
  std::vector<std::pair<std::string, std::string>> options;  ///< of open
  std::string filter;  ///< globs with ':' between, '-' before the excluded, on duty or id
  std::vector<std::string> modes = {"bare", "validate", "fault"};
  uint32_t shard = 1;         ///< 1..shards
  uint32_t shards = 1;        ///< cases are dealt by a digest of their id, so a shard is stable
  double deadline_scale = 1;  ///< emulators need more; the runner raises it by itself there
  std::string expectations;   ///< file of the port's unsupported and expected failures, or empty
  hal::LoadOptions load;
  OpsRequest ops;
  std::vector<Waiver> waivers;  ///< of level ops
};

/// kWholeList, or kChosenCases if filters or modes leave cases out. Shards do not count.
std::string ScopeOf(const RunRequest& request);

/// What of the request a replay must repeat to meet the same port: kAskedDeviceFact and kOpenOptionFact.
void AddOpenFacts(const RunRequest& request, RunResult* run);

/// Progress, for people: called before each case and at the end.
struct Progress {
  uint32_t done = 0;
  uint32_t total = 0;
  double seconds = 0;
  double seconds_left = 0;
  std::string current;
};

/// Runs. The calling process stays single-threaded up to here and never loads the plugin itself, so
/// a port that crashes, hangs or corrupts memory ends as a verdict.
/// Errors   INVALID_ARGUMENT: a filter that matches nothing, a bad shard; as LoadPort; UNAVAILABLE:
///          the port has no such device here.
absl::StatusOr<RunResult> Run(const RunRequest& request,
                              const std::function<void(const Progress&)>& on_progress = {},
                              const std::function<void(const CaseResult&)>& on_case = {});

/// Runs the one case of an id, complete as RunResult prints it.
absl::StatusOr<RunResult> Replay(const std::string& id, const RunRequest& base);

/// Cases that a request would run, without running them; results are kSkip.
absl::StatusOr<std::vector<CaseResult>> ListCases(const RunRequest& request);

/// Runs the suite against every deliberately broken HAL. One case a mutant: passed means killed;
/// the reason names the duty that killed it, which is not the mutant's own name. base.filter chooses
/// mutants ("HM1*") and the controls ("unmutated"); base.port is the CPU port that most are made of.
absl::StatusOr<RunResult> SelfTest(const RunRequest& base,
                                   const std::function<void(const Progress&)>& on_progress = {});

/// The same for broken kernels, K01 and on, or with level graph G01 and on; base.filter chooses them.
absl::StatusOr<RunResult> OpSelfTest(const RunRequest& base,
                                     const std::function<void(const Progress&)>& on_progress = {});

/// Both, and the faults of the kernels' list that only a HAL can show (A04 and on).
absl::StatusOr<RunResult> WholeSelfTest(
    const RunRequest& base, const std::function<void(const Progress&)>& on_progress = {});

/// Joins the shards of one run; INVALID_ARGUMENT if a case is missing or there twice, or if the
/// shards do not agree on port, device and machine.
absl::StatusOr<RunResult> MergeShards(const std::vector<RunResult>& shards);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_RUNNER_H_
