// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_TEST_CASE_STEP_H_
#define HALYARD_OPS_TEST_CASE_STEP_H_

#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "ops/case.h"

namespace halyard::ops {

/// Every n-th of the cases, where HALYARD_CASE_STEP has n: emulated runs (tools/cross/run.sh) would
/// take a quarter of an hour for all, and level ops goes over the list as well.
inline std::vector<Case> SampledCases(const std::vector<Case>& all) {
  const char* const text = std::getenv("HALYARD_CASE_STEP");
  size_t step = 1;
  if (text == nullptr || !absl::SimpleAtoi(text, &step) || step == 0) step = 1;
  std::vector<Case> some;
  for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_TEST_CASE_STEP_H_
