// SPDX-License-Identifier: Apache-2.0
#include "ops/gelu_mul/contract.h"

#include <cmath>

#include "reference/gated.h"

namespace halyard::reference {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Six roundings lie between the gate and what the exponential is taken of.
double ArgumentError(double g, double t) { return g < 0 && std::isfinite(t) ? 6 * t : 0; }

GateValue Gelu(double g) {
  if (std::isinf(g) && g < 0) return {0, 0};
  return {0.5 * g * std::erfc(-g / std::sqrt(2.0)), ArgumentError(g, g * g / 2)};
}

// (1 + tanh(z)) / 2 is 1 / (1 + e^-2z), which does not cancel.
GateValue GeluTanh(double g) {
  if (std::isinf(g) && g < 0) return {0, 0};
  const double t = 2 * std::sqrt(2 / kPi) * (g + 0.044715 * g * g * g);
  return {g / (1 + std::exp(-t)), ArgumentError(g, -t)};
}

GatedOp OpOf(const void* raw) {
  const auto& args = *static_cast<const hy_gelu_mul_args*>(raw);
  return {&args.gate, &args.up, &args.y, 2, args.approximation == HY_GELU_TANH ? GeluTanh : Gelu};
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
    .contract_version = HY_GELU_MUL_VERSION,
    .id = "gelu_mul/any/reference@halyard",
    .op = "gelu_mul",
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

HALYARD_REFERENCE(gelu_mul, halyard::reference::kKernel, halyard::reference::Expect)
