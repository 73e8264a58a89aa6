// SPDX-License-Identifier: Apache-2.0
//
// Which sizes and options cases of an op name: for checks of cases that people write.
#ifndef HALYARD_OPS_CASE_SIZES_H_
#define HALYARD_OPS_CASE_SIZES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ops/case.h"

namespace halyard::ops {

/// Every size that some case of the op's whole list names, in the order of their first use.
std::vector<std::string> SizeNames(const OpCases& cases);

/// A size that is not the op's would be passed over, and the case be another one than was meant.
/// Errors   INVALID_ARGUMENT: the case names one; the message lists those that there are.
absl::Status CheckSizes(const OpCases& cases, const Case& c);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_CASE_SIZES_H_
