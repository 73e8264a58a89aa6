// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CLI_SUGGEST_H_
#define HALYARD_CLI_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace halyard::cli {

/// The candidate nearest to `word` by edit distance; empty if none is near enough to be meant.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_SUGGEST_H_
