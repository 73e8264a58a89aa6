// SPDX-License-Identifier: Apache-2.0
#include "ops/add/contract.h"

#include "reference/binary.h"

namespace halyard::reference {
namespace {

double Combine(double a, double b) { return a + b; }

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ADD_VERSION,
    .id = "add/any/reference@halyard",
    .op = "add",
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
    .scratch_bytes = ScratchOfBinary<hy_add_args>,
    .run = RunBinary<hy_add_args, Combine>,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(add, halyard::reference::kKernel,
                  (halyard::reference::ExpectBinary<hy_add_args, halyard::reference::Combine>))
