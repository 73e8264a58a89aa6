// SPDX-License-Identifier: Apache-2.0
#include "ops/add/contract.h"
#include "ops/binary_cases.h"

namespace halyard::ops {
namespace {

void Enumerate(Tier tier, std::vector<Case>* out) { EnumerateBinary("add", tier, out); }

absl::Status Build(const Case& c, CaseBuilder& builder, void* args) {
  return BuildBinary(c, builder, static_cast<hy_add_args*>(args));
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(add, halyard::ops::Enumerate, halyard::ops::Build)
