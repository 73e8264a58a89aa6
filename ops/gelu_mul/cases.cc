// SPDX-License-Identifier: Apache-2.0
#include "ops/gated_cases.h"
#include "ops/gelu_mul/contract.h"

namespace halyard::ops {
namespace {

void Enumerate(Tier tier, std::vector<Case>* out) {
  EnumerateGated("gelu_mul", 0, tier, out);
  EnumerateGated("gelu_mul", 1, tier, out);
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto* args = static_cast<hy_gelu_mul_args*>(raw);
  args->approximation = c.dim("tanh") != 0 ? HY_GELU_TANH : HY_GELU_NONE;
  return BuildGated(c, builder, args);
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(gelu_mul, halyard::ops::Enumerate, halyard::ops::Build)
