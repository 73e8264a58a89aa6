// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_BUNDLE_SPOT_CHECK_H_
#define HALYARD_CONFORMANCE_BUNDLE_SPOT_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/result.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// One in a hundred of the exact cases that passed, at least ten, with data that nobody can have known
/// before: the ids, with other seeds. `seed` chooses.
std::vector<std::string> SpotCases(const RunResult& run, uint64_t seed);

/// Runs them. Cases whose data does not take another seed are left out.
absl::StatusOr<RunResult> SpotCheck(const RunResult& run, uint64_t seed, const RunRequest& base,
                                    const std::function<void(const Progress&)>& on_progress = {});

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_BUNDLE_SPOT_CHECK_H_
