// SPDX-License-Identifier: Apache-2.0
//
// What products demand of the activation class that their args allow.
#ifndef HALYARD_OPS_MATMUL_ACTIVATION_H_
#define HALYARD_OPS_MATMUL_ACTIVATION_H_

#include <cstdint>

#include "ops/contract_check.h"

namespace halyard::ops {

inline void CheckActivation(ContractCheck* check, uint32_t activation, const hy_tensor& x) {
  const int64_t block = activation == HY_QA_BLOCK256 ? 256 : activation == HY_QA_BLOCK32 ? 32 : 1;
  check->Require(activation < HY_QA_COUNT, "activation is none of HY_QA_*");
  check->Require(!hy_type_is_a8(x.type) || activation == HY_QA_ANY,
                 "x is quantised already: leave activation at HY_QA_ANY");
  check->Require(hy_tensor_cols(&x) % block == 0,
                 "the columns of x are not whole blocks of the activation class");
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_MATMUL_ACTIVATION_H_
