// SPDX-License-Identifier: Apache-2.0
//
// The cases of add and mul. Dims: n0..n3, the axes of a, and repeat, whose bit i says that b has
// size 1 along axis i.
#ifndef HALYARD_OPS_BINARY_CASES_H_
#define HALYARD_OPS_BINARY_CASES_H_

#include <string>
#include <vector>

#include "ops/case.h"

namespace halyard::ops {

void EnumerateBinary(const std::string& op, Tier tier, std::vector<Case>* out);

/// Shapes of a and b. Errors   INVALID_ARGUMENT: dims or types that add and mul do not have.
absl::Status BinaryShapes(const Case& c, std::vector<int64_t>* a, std::vector<int64_t>* b);

template <typename Args>
absl::Status BuildBinary(const Case& c, CaseBuilder& builder, Args* args) {
  std::vector<int64_t> a_shape;
  std::vector<int64_t> b_shape;
  if (absl::Status status = BinaryShapes(c, &a_shape, &b_shape); !status.ok()) return status;
  args->struct_size = sizeof *args;
  args->a = builder.Input("a", c.types[0], a_shape);
  args->b = builder.Input("b", c.types[1], b_shape);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args->y = in_place ? builder.InPlace("y", args->a) : builder.Output("y", c.types[2], a_shape);
  return absl::OkStatus();
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_BINARY_CASES_H_
