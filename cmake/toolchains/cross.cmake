# SPDX-License-Identifier: Apache-2.0
# Shared by the toolchain files beside it. Each sets
#   HALYARD_CROSS_ARCH  folder of its sysroot, processor name for CMake
#   HALYARD_CROSS_TRIPLE  GNU triple: compiler prefix and multiarch library folder
#   HALYARD_CROSS_QEMU  program of qemu-user
# and includes this file. HALYARD_SYSROOT_DIR (cache or environment) names a sysroot, or the folder
# that holds <arch>/; the default is build/sysroots. tools/cross/mksysroot.sh makes sysroots.

get_filename_component(_root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

# try_compile reads the toolchain file again, without the command line's cache.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HALYARD_SYSROOT_DIR)
if(NOT HALYARD_SYSROOT_DIR)
  if(DEFINED ENV{HALYARD_SYSROOT_DIR})
    set(HALYARD_SYSROOT_DIR "$ENV{HALYARD_SYSROOT_DIR}")
  else()
    set(HALYARD_SYSROOT_DIR "${_root}/build/sysroots")
  endif()
endif()
set(_sysroot "${HALYARD_SYSROOT_DIR}")
if(NOT EXISTS "${_sysroot}/usr/include")
  set(_sysroot "${HALYARD_SYSROOT_DIR}/${HALYARD_CROSS_ARCH}")
endif()
if(NOT EXISTS "${_sysroot}/usr/include")
  message(FATAL_ERROR "No sysroot at ${_sysroot}. "
    "Run: tools/cross/setup.sh ${HALYARD_CROSS_ARCH} && "
    "tools/cross/mksysroot.sh ${HALYARD_CROSS_ARCH}")
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "${HALYARD_CROSS_ARCH}")
set(CMAKE_SYSROOT "${_sysroot}")
set(CMAKE_LIBRARY_ARCHITECTURE "${HALYARD_CROSS_TRIPLE}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${_sysroot}")
set(ENV{PKG_CONFIG_LIBDIR}
  "${_sysroot}/usr/lib/${HALYARD_CROSS_TRIPLE}/pkgconfig:${_sysroot}/usr/share/pkgconfig")

if(HALYARD_CROSS_CLANG)
  set(CMAKE_C_COMPILER clang-19)
  set(CMAKE_CXX_COMPILER clang++-19)
  set(CMAKE_C_COMPILER_TARGET "${HALYARD_CROSS_TRIPLE}")
  set(CMAKE_CXX_COMPILER_TARGET "${HALYARD_CROSS_TRIPLE}")
  foreach(_kind EXE SHARED MODULE)
    set(CMAKE_${_kind}_LINKER_FLAGS_INIT "-fuse-ld=lld")
  endforeach()
else()
  # Debian 12's GCC is version 12; the unversioned name serves systems with a newer one.
  find_program(HALYARD_CROSS_CC REQUIRED
    NAMES "${HALYARD_CROSS_TRIPLE}-gcc-12" "${HALYARD_CROSS_TRIPLE}-gcc")
  find_program(HALYARD_CROSS_CXX REQUIRED
    NAMES "${HALYARD_CROSS_TRIPLE}-g++-12" "${HALYARD_CROSS_TRIPLE}-g++")
  set(CMAKE_C_COMPILER "${HALYARD_CROSS_CC}")
  set(CMAKE_CXX_COMPILER "${HALYARD_CROSS_CXX}")
endif()

# Version 10 is preferred: 7.2 computes some SME and RVV instructions wrongly. QEMU_CPU in the
# environment chooses the chip, so one build tree serves every model of an architecture.
find_program(HALYARD_EMULATOR NAMES "${HALYARD_CROSS_QEMU}"
  HINTS "${_root}/build/sysroots/qemu10/usr/bin")
if(HALYARD_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${HALYARD_EMULATOR};-L;${_sysroot}")
endif()
