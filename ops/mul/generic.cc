// SPDX-License-Identifier: Apache-2.0
#include "ops/binary_kernel.h"
#include "ops/kernel_table.h"
#include "ops/mul/contract.h"

namespace {

void Combine(float* y, const float* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = y[i] * b[i];
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_mul_args* args = static_cast<const hy_mul_args*>(raw);
  return RunBinary(&args->a, &args->b, &args->y, context, Combine);
}

const hy_kernel_desc kGeneric = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_MUL_VERSION,
    .id = "mul/any/generic_" HALYARD_LEVEL_NAME "@halyard",
    .op = "mul",
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
    .scratch_bytes = nullptr,
    .run = Run,
};

}  // namespace

HALYARD_KERNELS(&kGeneric)
