// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_COPY_CONTRACT_H_
#define HALYARD_OPS_COPY_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The same elements elsewhere:  y = x, every bit of every row; what lies between rows stays as it is.
/// Shapes   x, y: equal, of rank 1 to 4; strides may differ.
/// Types    any, equal.
/// Alias    y may be x, which then does nothing; other overlap is refused.
/// Edge     no elements writes nothing.
/// Budget   exact, payloads of NaNs and unused bytes of records included.
/// Source   none.
typedef struct hy_copy_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor x;
  hy_tensor y;
} hy_copy_args;

#define HY_COPY_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_COPY_CONTRACT_H_
