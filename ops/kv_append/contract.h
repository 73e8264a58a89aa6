// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_KV_APPEND_CONTRACT_H_
#define HALYARD_OPS_KV_APPEND_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Writes new keys and values to slots of pages:
///   k_pages[slots[t] / page][h][slots[t] % page][d] = k[t][h][d], and v in the same way
/// Shapes   k, v [T, Hkv, D]; slots [T]; k_pages, v_pages [P, Hkv, page, D]. The strides of k_pages
///          and v_pages may interleave, as in one allocation with keys and values by turns.
/// Types    k, v: f32 | f16 | bf16, equal; k_pages, v_pages: f32 | f16 | bf16 | q8_0, equal; slots:
///          i32. Equal types are moved bit for bit, others rounded once as `cast` does, q8_0 as
///          `quantize` does.
/// Alias    k_pages and v_pages apart from all else.
/// Edge     A negative slot skips its row. So does a slot of P * page or above, and run returns
///          OUT_OF_RANGE, all other rows being written. Slots that no row names keep every bit.
///          Rows must name different slots: one that two rows name holds a mix of them.
/// Budget   exact.
/// Source   Kwon et al. 2023.
typedef struct hy_kv_append_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor k;        ///< [T, Hkv, D]
  hy_tensor v;        ///< [T, Hkv, D]
  hy_tensor slots;    ///< i32 [T]: page * page size + place in the page
  hy_tensor k_pages;  ///< [P, Hkv, page, D]
  hy_tensor v_pages;  ///< [P, Hkv, page, D]
} hy_kv_append_args;

#define HY_KV_APPEND_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_KV_APPEND_CONTRACT_H_
