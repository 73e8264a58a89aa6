// SPDX-License-Identifier: Apache-2.0
#include "ops/gated_cases.h"
#include "ops/silu_mul/contract.h"

namespace halyard::ops {
namespace {

void Enumerate(Tier tier, std::vector<Case>* out) { EnumerateGated("silu_mul", -1, tier, out); }

absl::Status Build(const Case& c, CaseBuilder& builder, void* args) {
  return BuildGated(c, builder, static_cast<hy_silu_mul_args*>(args));
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(silu_mul, halyard::ops::Enumerate, halyard::ops::Build)
