# SPDX-License-Identifier: Apache-2.0
# 32-bit ARM with hardware floating point, GCC: the target with 32-bit pointers.
set(HALYARD_CROSS_ARCH armhf)
set(HALYARD_CROSS_TRIPLE arm-linux-gnueabihf)
set(HALYARD_CROSS_QEMU qemu-arm)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
