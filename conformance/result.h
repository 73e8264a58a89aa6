// SPDX-License-Identifier: Apache-2.0
//
// What a conformance run finds, whatever its level: cases, verdicts, and where they go.
#ifndef HALYARD_CONFORMANCE_RESULT_H_
#define HALYARD_CONFORMANCE_RESULT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "conformance/waiver.h"

namespace halyard::conformance {

enum class Verdict {
  kPass,
  kFail,
  kCrash,    ///< the child died by a signal; counts as failed
  kTimeout,  ///< the deadline passed; counts as failed
  kWeak,     ///< it ran but could not have seen the fault; does not count as passed
  kSkip,     ///< cannot be told here; the reason says why
  kWaived,   ///< failed, and an unexpired waiver covers it
  kXpass,    ///< passed although a waiver or expectation says it fails; counts as failed
  // Of kernels.
  kPassFallback,      ///< right, but not by the kernel that should have run
  kNondeterministic,  ///< other bits for the same input; counts as failed
  kMemoryViolation,   ///< touched memory that is nobody's; counts as failed
  kAbiViolation,      ///< left registers or floating-point control changed; counts as failed
  kNotSupported,      ///< the kernel says by its predicate that this is not for it
  kToolchainFault,    ///< the compiler or the run time fails its own check; counts as failed
  kEmulatorSuspect,   ///< failed where an emulator is known to be wrong; says nothing
};
inline constexpr int kVerdictCount = 15;
absl::string_view VerdictName(Verdict verdict);
bool CountsAsFailed(Verdict verdict);
/// Passed, by whichever kernel.
bool CountsAsPassed(Verdict verdict);
/// Neither passed nor failed, and nothing is claimed.
bool CountsAsSkipped(Verdict verdict);

/// One finding inside a case: what was expected and what was seen.
struct Finding {
  std::string message;
  std::string file;  ///< of the test, relative to the source tree
  int line = 0;
};

struct CaseResult {
  std::string id;     ///< complete: a replay starts from it alone
  std::string level;  ///< "L0"
  std::string duty;   ///< "HAL-MEM-03"; in L1 and L2 the op
  std::string title;  ///< the duty in words; in L1 and L2 the types
  std::string mode;   ///< "bare", "validate", "fault"; in L1 and L2 the kernel
  Verdict verdict = Verdict::kSkip;
  std::string reason;  ///< empty only for a pass
  std::vector<Finding> findings;
  double seconds = 0;
  std::vector<std::pair<std::string, std::string>> facts;  ///< measured values, for the reader

  /// nullptr if there is none of that name.
  const std::string* Fact(absl::string_view name) const;
};

struct Summary {
  uint32_t passed = 0;  ///< fallbacks included
  uint32_t failed = 0;
  uint32_t weak = 0;
  uint32_t skipped = 0;
  uint32_t waived = 0;
  uint32_t fallback = 0;  ///< of those that passed
};

struct RunResult {
  std::string level;
  std::string port;
  std::string port_origin;
  std::string port_version;
  std::string device;
  std::string device_name;
  std::string started_utc;  ///< ISO 8601
  double seconds = 0;
  uint32_t shard = 1;
  uint32_t shards = 1;
  std::vector<std::pair<std::string, std::string>> facts;  ///< machine, kernel, compiler, emulated
  std::vector<CaseResult> cases;
  std::vector<Waiver> waivers;  ///< that the run was given, used or not

  Summary Summarise() const;
  /// Empty if there is none of that name.
  std::string Fact(absl::string_view name) const;
};

/// Adds a fact, or changes it.
void SetFact(absl::string_view name, absl::string_view value, RunResult* run);

/// Fact of a run of kernels: the libraries that it loaded, with ':' between. A replay needs them.
inline constexpr char kKernelFilesFact[] = "kernel_files";
/// Facts of a run: the device and options of open that it was asked for, if any. A replay needs them.
inline constexpr char kAskedDeviceFact[] = "asked_device";
inline constexpr char kOpenOptionFact[] =
    "open_option ";  ///< then the key; the value is the fact's
/// Fact of a run: how much of its list it is.
inline constexpr char kScopeFact[] = "scope";
inline constexpr char kWholeList[] = "whole list";
inline constexpr char kChosenCases[] = "chosen cases";
inline constexpr char kOneCase[] = "one case";  ///< a replay

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_RESULT_H_
