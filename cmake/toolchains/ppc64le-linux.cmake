# SPDX-License-Identifier: Apache-2.0
# POWER, little-endian, GCC.
set(HALYARD_CROSS_ARCH ppc64le)
set(HALYARD_CROSS_TRIPLE powerpc64le-linux-gnu)
set(HALYARD_CROSS_QEMU qemu-ppc64le)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
