/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that do nothing but arithmetic, as fast as an ISA level can: the compute roof. C types only:
 * the objects that implement this are compiled with ISA flags. */
#ifndef HALYARD_FACTS_PEAK_PEAK_H_
#define HALYARD_FACTS_PEAK_PEAK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs `rounds` rounds of the loop; the result depends on all of them. */
typedef uint64_t (*hy_peak_fn)(uint64_t rounds);

/* One loop. A multiply-add is two operations. */
typedef struct hy_peak_loop {
  hy_peak_fn run;
  uint64_t ops_per_round;
} hy_peak_loop;

/* int8 products summed in int32, exactly, and f32 multiply-adds. */
typedef struct hy_peak_table {
  hy_peak_loop int8;
  hy_peak_loop f32;
} hy_peak_table;

extern const hy_peak_table hy_peak_generic;
extern const hy_peak_table hy_peak_x86_avx2;
extern const hy_peak_table hy_peak_x86_avx512vnni;
extern const hy_peak_table hy_peak_arm64_dotprod;
extern const hy_peak_table hy_peak_arm64_i8mm;

#ifdef __cplusplus
}
#endif

#endif /* HALYARD_FACTS_PEAK_PEAK_H_ */
