// SPDX-License-Identifier: Apache-2.0
#include "base/simd/math.h"
#include "ops/gated_kernel.h"
#include "ops/gelu_mul/contract.h"
#include "ops/kernel_table.h"

namespace {

void Gelu(float* values, const float* up, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = hyk_gelu_erf(values[i]) * up[i];
}

void GeluTanh(float* values, const float* up, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = hyk_gelu_tanh(values[i]) * up[i];
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return workers * hyk_row_scratch(&static_cast<const hy_gelu_mul_args*>(raw)->y);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_gelu_mul_args* args = static_cast<const hy_gelu_mul_args*>(raw);
  const Gated op = {&args->gate, &args->up, &args->y};
  return RunGated(&op, context, args->approximation == HY_GELU_TANH ? GeluTanh : Gelu);
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_GELU_MUL_VERSION,
    .id = "gelu_mul/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "gelu_mul",
    .types = {},
    .isa = HALYARD_LEVEL_ISA,
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_GENERIC + HALYARD_LEVEL_RANK,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace

HALYARD_KERNELS(&kGeneric)
