// SPDX-License-Identifier: Apache-2.0
//
// Why there is no such case: what to say to who asked for one.
#ifndef HALYARD_CONFORMANCE_OPS_NO_CASE_H_
#define HALYARD_CONFORMANCE_OPS_NO_CASE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// INVALID_ARGUMENT: there is no case `id`, because of `why`.
absl::Status NoCase(absl::string_view id, absl::string_view why);

/// INVALID_ARGUMENT for an id with a size that its op does not have: it would be ignored, and the
/// size that was meant be 0.
absl::Status CheckCaseSizes(const std::string& id, const RunRequest& request);

/// INVALID_ARGUMENT for a request that leaves no case, naming the option that does so alone.
absl::Status NothingFits(const RunRequest& request);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_NO_CASE_H_
