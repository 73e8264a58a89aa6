// SPDX-License-Identifier: Apache-2.0
#include "ops/mul/contract.h"

#include "reference/binary.h"

namespace halyard::reference {
namespace {

double Combine(double a, double b) { return a * b; }

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_MUL_VERSION,
    .id = "mul/any/reference@halyard",
    .op = "mul",
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
    .scratch_bytes = ScratchOfBinary<hy_mul_args>,
    .run = RunBinary<hy_mul_args, Combine>,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(mul, halyard::reference::kKernel,
                  (halyard::reference::ExpectBinary<hy_mul_args, halyard::reference::Combine>))
