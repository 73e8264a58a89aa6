// SPDX-License-Identifier: Apache-2.0
//
// What a compiler must get right before a kernel is blamed. toolchain_probe.cc is compiled once for
// each ISA level with the flags that kernels have there. C11 and C++20; no STL.
#ifndef HALYARD_CONFORMANCE_OPS_TOOLCHAIN_PROBE_H_
#define HALYARD_CONFORMANCE_OPS_TOOLCHAIN_PROBE_H_

#include <stdint.h>

/// Bits of what is wrong.
enum {
  HY_PROBE_MIXED_DOT = 1,      ///< dot of int8 made of u8 - 16 (GCC 12 with i8mm or AVX-VNNI)
  HY_PROBE_SIGNED_DOT = 2,     ///< dot of int8
  HY_PROBE_NAN = 4,            ///< comparisons with NaN are folded (-ffast-math)
  HY_PROBE_CONTRACTION = 8,    ///< a product and a sum are rounded once
  HY_PROBE_FLUSH = 16,         ///< subnormals are taken for zero at the start
  HY_PROBE_ASSOCIATION = 32,   ///< sums are reordered
  HY_PROBE_INFINITY = 64,      ///< infinities are assumed away
  HY_PROBE_USDOT = 128,        ///< operands of the mixed-sign dot intrinsic are swapped
  HY_PROBE_SVE_LANE_DOT = 256  ///< indexed SVE dot is wrong (qemu 7.2 above 256 bits)
};

#endif  // HALYARD_CONFORMANCE_OPS_TOOLCHAIN_PROBE_H_
