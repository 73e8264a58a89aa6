# SPDX-License-Identifier: Apache-2.0
# 64-bit ARM, GCC.
set(HALYARD_CROSS_ARCH aarch64)
set(HALYARD_CROSS_TRIPLE aarch64-linux-gnu)
set(HALYARD_CROSS_QEMU qemu-aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
