// SPDX-License-Identifier: Apache-2.0
//
// The cases of silu_mul and gelu_mul. Dims: rows, cols; ramp, 1: the gate climbs from -120 to 40 over the
// elements, so that its tail is seen, where it underflows, too; tanh, of gelu_mul.
#ifndef HALYARD_OPS_GATED_CASES_H_
#define HALYARD_OPS_GATED_CASES_H_

#include <string>
#include <vector>

#include "ops/case.h"

namespace halyard::ops {

/// `tanh`: -1 for an op without that dim.
void EnumerateGated(const std::string& op, int64_t tanh, Tier tier, std::vector<Case>* out);

/// The gate of a case with ramp=1.
hy_tensor Ramp(const Case& c, CaseBuilder& builder);

template <typename Args>
absl::Status BuildGated(const Case& c, CaseBuilder& builder, Args* args) {
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of gate and y");
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args->struct_size = sizeof *args;
  args->gate = c.dim("ramp") != 0 ? Ramp(c, builder) : builder.Input("gate", c.types[0], shape);
  args->up = builder.Input("up", c.types[0], shape);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args->y = in_place ? builder.InPlace("y", args->gate) : builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_GATED_CASES_H_
