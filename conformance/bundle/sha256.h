// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_BUNDLE_SHA256_H_
#define HALYARD_CONFORMANCE_BUNDLE_SHA256_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace halyard::conformance {

/// 64 lower-case hex digits.
std::string Sha256(absl::string_view bytes);
/// Errors   NOT_FOUND: the file cannot be read.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);

/// Of bytes that come one part after the other.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  void Add(absl::string_view bytes);
  /// The digest as 32 bytes. Called once, at the end.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_BUNDLE_SHA256_H_
