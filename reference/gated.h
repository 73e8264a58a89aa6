// SPDX-License-Identifier: Apache-2.0
//
// The references of silu_mul and gelu_mul.
#ifndef HALYARD_REFERENCE_GATED_H_
#define HALYARD_REFERENCE_GATED_H_

#include "reference/reference.h"

namespace halyard::reference {

/// One value of a gate, and how far off a kernel may be besides the 8 ulp, in units of u |value|.
struct GateValue {
  double value;
  double argument_error;
};

struct GatedOp {
  const hy_tensor* gate;
  const hy_tensor* up;
  const hy_tensor* y;
  uint32_t y_operand;
  GateValue (*function)(double gate);
};

uint64_t ScratchOfGated(const GatedOp& op, uint32_t workers);
hy_status RunGated(const GatedOp& op, const hy_kernel_context& context);
absl::Status ExpectGated(const GatedOp& op, const Numerics& numerics, Expected* out);

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_GATED_H_
