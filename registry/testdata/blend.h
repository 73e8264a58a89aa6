// SPDX-License-Identifier: Apache-2.0
//
// The contracts of the ops that the tests of the registry run.
#ifndef HALYARD_REGISTRY_TESTDATA_BLEND_H_
#define HALYARD_REGISTRY_TESTDATA_BLEND_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// y[r][c] = x[r][c] + factor * w[r][c]. x, w, y f32; y may be x; w may be packed. `activation` is not
/// used but for selection. x of a NaN: the row of y is 0, and OUT_OF_RANGE.
typedef struct BlendArgs {
  uint32_t struct_size;
  uint32_t activation;
  hy_tensor x;
  hy_tensor w;
  hy_tensor y;
  float factor;
  uint32_t reserved;
} BlendArgs;

/// pages[slots[i]] = x[i]; other rows of pages stay.
typedef struct PutArgs {
  uint32_t struct_size;
  uint32_t reserved;
  hy_tensor x;
  hy_tensor slots;
  hy_tensor pages;
} PutArgs;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_REGISTRY_TESTDATA_BLEND_H_
