// SPDX-License-Identifier: Apache-2.0
//
// Waivers of level L1, from a file of the vendor's:
//
//   waivers:
//     - id: W-12
//       cases: "L1/softmax/bf16.*"        # begins with L1/OP/
//       kernel: "softmax/any/fast@acme"
//       device: "Acme X1*"                # may be left out
//       reason: "the table of exp has 10 bits"
//       issue: "https://example.com/issues/12"
//       expires: 2026-05-31               # at most 180 days ahead
//       max_err_T: 2.5                    # of finite numbers that are off by up to 2.5 bounds
//       approved_by: "Jo Doe"
//
// Only numbers can be waived. Memory and ABI violations, crashes, time-outs, other bits for the same
// input, NaN and infinity where they must not be, wrong statuses and wrong bits of exact cases cannot.
// A waiver that covers what passes, that nothing needs, or whose day is over is itself a fault.
#ifndef HALYARD_CONFORMANCE_WAIVERS_H_
#define HALYARD_CONFORMANCE_WAIVERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "conformance/result.h"
#include "conformance/waiver.h"

namespace halyard::conformance {

inline constexpr int kMostWaiverDays = 180;
/// Fact of a case: the waiver that covers it, or would if its day were not over.
inline constexpr char kWaiverFact[] = "waiver";

/// Days since 1970-01-01 of "2026-05-31", with or without a time behind it.
absl::StatusOr<int64_t> DayOf(absl::string_view date);

/// `today`: what `expires` may be 180 days ahead of. Days that are over are no error here.
/// Errors   INVALID_ARGUMENT: no YAML, an unknown or missing key, an id twice, a glob that fits
///          everything, no date, a day too far.
absl::StatusOr<std::vector<Waiver>> ParseWaivers(absl::string_view yaml, absl::string_view today);
/// Errors   also NOT_FOUND.
absl::StatusOr<std::vector<Waiver>> ReadWaivers(const std::string& path, absl::string_view today);

/// True if the waiver speaks of the case, whatever its verdict and day.
bool Speaks(const Waiver& waiver, const CaseResult& one, const RunResult& run);
/// True if what failed in the case is something that the waiver can cover: see above.
bool Covers(const Waiver& waiver, const CaseResult& one);

/// Gives the cases of `run` their verdicts by run->waivers, as of the day of the run: failures that
/// are covered become waived, passes that are spoken of xpass.
void ApplyWaivers(RunResult* run);

/// What is wrong with the waivers of a run, a line each: the day over, nothing that needs it (said of
/// whole runs alone), covering what passes.
std::vector<std::string> WaiverTroubles(const RunResult& run);
/// There are troubles, and but for them the run would hold.
bool FailsByWaiversAlone(const RunResult& run);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_WAIVERS_H_
