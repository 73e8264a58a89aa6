# SPDX-License-Identifier: Apache-2.0
# IBM Z, the big-endian target, GCC.
set(HALYARD_CROSS_ARCH s390x)
set(HALYARD_CROSS_TRIPLE s390x-linux-gnu)
set(HALYARD_CROSS_QEMU qemu-s390x)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
