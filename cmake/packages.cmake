# SPDX-License-Identifier: Apache-2.0
# Every third-party package, all from the distribution. tools/install_packages.sh installs them.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(PkgConfig REQUIRED)

# Debian 12's yaml-cpp 0.7 has the plain target name, 0.8 the namespaced one.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_path(NUMA_INCLUDE_DIR numa.h)
find_library(NUMA_LIBRARY numa)
if(NOT NUMA_INCLUDE_DIR OR NOT NUMA_LIBRARY)
  message(FATAL_ERROR "libnuma is needed by ports/linux: install libnuma-dev")
endif()
add_library(halyard_numa INTERFACE)
target_include_directories(halyard_numa SYSTEM INTERFACE "${NUMA_INCLUDE_DIR}")
target_link_libraries(halyard_numa INTERFACE "${NUMA_LIBRARY}")

# SHA-256 of plugins. Debian's libmd-dev is a few kilobytes; libmd0 is on every Debian.
find_path(MD_INCLUDE_DIR sha2.h)
find_library(MD_LIBRARY md)
if(NOT MD_INCLUDE_DIR OR NOT MD_LIBRARY)
  message(FATAL_ERROR "libmd is needed by hal: install libmd-dev")
endif()
add_library(halyard_libmd INTERFACE)
target_include_directories(halyard_libmd SYSTEM INTERFACE "${MD_INCLUDE_DIR}")
target_link_libraries(halyard_libmd INTERFACE "${MD_LIBRARY}")

# Golden packs of the conformance suite are compressed.
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
if(NOT ZSTD_INCLUDE_DIR OR NOT ZSTD_LIBRARY)
  message(FATAL_ERROR "libzstd is needed by the conformance suite: install libzstd-dev")
endif()
add_library(halyard_zstd INTERFACE)
target_include_directories(halyard_zstd SYSTEM INTERFACE "${ZSTD_INCLUDE_DIR}")
target_link_libraries(halyard_zstd INTERFACE "${ZSTD_LIBRARY}")

# Classes of Unicode's characters, for tokenizers.
find_path(UTF8PROC_INCLUDE_DIR utf8proc.h)
find_library(UTF8PROC_LIBRARY utf8proc)
if(NOT UTF8PROC_INCLUDE_DIR OR NOT UTF8PROC_LIBRARY)
  message(FATAL_ERROR "utf8proc is needed by the engine: install libutf8proc-dev")
endif()
add_library(halyard_utf8proc INTERFACE)
target_include_directories(halyard_utf8proc SYSTEM INTERFACE "${UTF8PROC_INCLUDE_DIR}")
target_link_libraries(halyard_utf8proc INTERFACE "${UTF8PROC_LIBRARY}")

find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
if(NOT CLI11_INCLUDE_DIR)
  message(FATAL_ERROR "CLI11 is needed by the halyard program: install libcli11-dev")
endif()

# GoogleTest is needed by the conformance suite, which is part of the product.
# A toolchain file may give the folder of its sources where Debian's binary does not link.
if(HALYARD_GTEST_SOURCE_DIR)
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  add_subdirectory("${HALYARD_GTEST_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/googletest"
                   EXCLUDE_FROM_ALL SYSTEM)
  if(NOT TARGET GTest::gtest)
    add_library(GTest::gtest ALIAS gtest)
    add_library(GTest::gtest_main ALIAS gtest_main)
    add_library(GTest::gmock ALIAS gmock)
  endif()
else()
  find_package(GTest REQUIRED)
endif()

find_package(benchmark REQUIRED)

# OpenCL is optional: without its headers the port is left out, and `halyard info` says so.
find_package(OpenCL QUIET)
