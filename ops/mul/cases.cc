// SPDX-License-Identifier: Apache-2.0
#include "ops/binary_cases.h"
#include "ops/mul/contract.h"

namespace halyard::ops {
namespace {

void Enumerate(Tier tier, std::vector<Case>* out) { EnumerateBinary("mul", tier, out); }

absl::Status Build(const Case& c, CaseBuilder& builder, void* args) {
  return BuildBinary(c, builder, static_cast<hy_mul_args*>(args));
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(mul, halyard::ops::Enumerate, halyard::ops::Build)
