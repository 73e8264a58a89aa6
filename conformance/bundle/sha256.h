// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_BUNDLE_SHA256_H_
#define HALYARD_CONFORMANCE_BUNDLE_SHA256_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace halyard::conformance {

/// 64 lower-case hex digits.
std::string Sha256(absl::string_view bytes);
/// Errors   NOT_FOUND: the file cannot be read.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_BUNDLE_SHA256_H_
