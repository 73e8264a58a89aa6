/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that read memory as fast as an ISA level can. C types only: the objects that implement
 * this are compiled with ISA flags. */
#ifndef HALYARD_FACTS_STREAM_STREAM_H_
#define HALYARD_FACTS_STREAM_STREAM_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads `bytes` (a multiple of 512) at `data` (64-byte aligned) once and returns the sum of its
 * 64-bit words, which depends on each of them. */
typedef uint64_t (*hy_stream_read_fn)(const void* data, uint64_t bytes);

uint64_t hy_stream_read_generic(const void* data, uint64_t bytes);
uint64_t hy_stream_read_x86_avx2(const void* data, uint64_t bytes);
uint64_t hy_stream_read_x86_avx512(const void* data, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* HALYARD_FACTS_STREAM_STREAM_H_ */
