// SPDX-License-Identifier: Apache-2.0
#include "ops/add/contract.h"

#include "ops/binary_contract.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

constexpr uint32_t kSlices = HY_OPERAND_SLICE(0, 2) | HY_OPERAND_SLICE(1, 1);
constexpr hy_operand kOperands[] = {
    {"a", offsetof(hy_add_args, a),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | kSlices},
    {"b", offsetof(hy_add_args, b),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | kSlices},
    {"y", offsetof(hy_add_args, y), HY_OPERAND_WRITE | HY_OPERAND_TYPED | kSlices},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(add, hy_add_args, HY_ADD_VERSION, halyard::ops::kOperands,
           halyard::ops::ValidateBinary<hy_add_args>, halyard::ops::FlopsOfBinary<hy_add_args>,
           nullptr)
