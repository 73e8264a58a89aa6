// SPDX-License-Identifier: Apache-2.0
//
// Which cases a filter text chooses.
#ifndef HALYARD_CONFORMANCE_FILTER_H_
#define HALYARD_CONFORMANCE_FILTER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace halyard::conformance {

/// True if the whole of `text` fits `glob`: '*' is any run of characters, '?' any one character.
bool GlobMatches(absl::string_view glob, absl::string_view text);

/// "HAL-MEM-*:HAL-MAP-03:-*mode=fault*": globs with ':' between, '-' before the excluded. An empty
/// filter, or one of exclusions only, chooses everything that is not excluded.
class Filter {
 public:
  explicit Filter(absl::string_view text);

  /// `duty` ("HAL-MEM-03"), `test` ("ZeroedMemoryReadsZero") and `id` are each compared whole.
  bool Chooses(absl::string_view duty, absl::string_view test, absl::string_view id) const;

 private:
  std::vector<std::string> wanted_;
  std::vector<std::string> excluded_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_FILTER_H_
