// SPDX-License-Identifier: Apache-2.0
#include "ops/silu_mul/contract.h"

#include <cmath>

#include "reference/gated.h"

namespace halyard::reference {
namespace {

GateValue Silu(double g) {
  if (std::isinf(g) && g < 0) return {0, 0};
  return {g / (1 + std::exp(-g)), 0};
}

GatedOp OpOf(const void* raw) {
  const auto& args = *static_cast<const hy_silu_mul_args*>(raw);
  return {&args.gate, &args.up, &args.y, 2, Silu};
}

uint64_t Scratch(const void* raw, uint32_t workers) { return ScratchOfGated(OpOf(raw), workers); }

hy_status Run(const void* raw, const hy_kernel_context* context) {
  return RunGated(OpOf(raw), *context);
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  return ExpectGated(OpOf(raw), numerics, out);
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_SILU_MUL_VERSION,
    .id = "silu_mul/any/reference@halyard",
    .op = "silu_mul",
    .types = {},
    .isa = {},
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F64,
    .priority = HY_PRIORITY_REFERENCE,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_REFERENCE | HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(silu_mul, halyard::reference::kKernel, halyard::reference::Expect)
