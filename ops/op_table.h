// SPDX-License-Identifier: Apache-2.0
//
// How a contract.cc gives its op's row.
#ifndef HALYARD_OPS_OP_TABLE_H_
#define HALYARD_OPS_OP_TABLE_H_

#include "halyard/kernel.h"

/// Defines `halyard_op_NAME`. OPERANDS is an array of hy_operand; BYTES may be nullptr.
#define HALYARD_OP(NAME, ARGS, VERSION, OPERANDS, VALIDATE, FLOPS, BYTES) \
  HALYARD_OP_WITH_ACTIVATION(NAME, ARGS, VERSION, OPERANDS, VALIDATE, FLOPS, BYTES, 0)

/// As HALYARD_OP, for an op whose args say at ACTIVATION_OFFSET how activations may be rounded.
#define HALYARD_OP_WITH_ACTIVATION(NAME, ARGS, VERSION, OPERANDS, VALIDATE, FLOPS, BYTES, \
                                   ACTIVATION_OFFSET)                                     \
  extern "C" const hy_op_desc halyard_op_##NAME;                                          \
  extern "C" const hy_op_desc halyard_op_##NAME = {                                       \
      .struct_size = sizeof(hy_op_desc),                                                  \
      .version = VERSION,                                                                 \
      .name = #NAME,                                                                      \
      .args_bytes = sizeof(ARGS),                                                         \
      .operand_count = sizeof(OPERANDS) / sizeof(OPERANDS[0]),                            \
      .operands = OPERANDS,                                                               \
      .validate = VALIDATE,                                                               \
      .flops = FLOPS,                                                                     \
      .bytes = BYTES,                                                                     \
      .activation_offset = ACTIVATION_OFFSET,                                             \
      .reserved = 0,                                                                      \
  };

#endif  // HALYARD_OPS_OP_TABLE_H_
