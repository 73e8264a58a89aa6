# SPDX-License-Identifier: Apache-2.0
# 64-bit RISC-V, clang and lld: GCC 12 has no RVV intrinsics, and binutils 2.40 crashes on clang's
# RISC-V objects.
set(HALYARD_CROSS_ARCH riscv64)
set(HALYARD_CROSS_TRIPLE riscv64-linux-gnu)
set(HALYARD_CROSS_QEMU qemu-riscv64)
set(HALYARD_CROSS_CLANG ON)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
