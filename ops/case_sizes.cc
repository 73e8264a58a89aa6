// SPDX-License-Identifier: Apache-2.0
#include "ops/case_sizes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace halyard::ops {

std::vector<std::string> SizeNames(const OpCases& cases) {
  std::vector<Case> all;
  cases.enumerate(Tier::kFull, &all);
  std::vector<std::string> names;
  for (const Case& c : all) {
    for (const auto& [name, value] : c.dims) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

absl::Status CheckSizes(const OpCases& cases, const Case& c) {
  const std::vector<std::string> names = SizeNames(cases);
  for (const auto& [name, value] : c.dims) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(c.op, " has no size ", name, "; it has: ", absl::StrJoin(names, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace halyard::ops
