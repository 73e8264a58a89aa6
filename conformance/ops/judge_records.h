// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_OPS_JUDGE_RECORDS_H_
#define HALYARD_CONFORMANCE_OPS_JUDGE_RECORDS_H_

#include <string>

#include "halyard/tensor.h"

namespace halyard::conformance {

/// What is wrong inside records of quantised activations, whatever values they stand for: sums that
/// are not those of the codes, a scale that its codes do not use, padding that was not written.
/// Empty if nothing is.
std::string RecordFault(const hy_tensor& tensor);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_JUDGE_RECORDS_H_
