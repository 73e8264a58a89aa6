# SPDX-License-Identifier: Apache-2.0
# The one table of ISA levels: name, architecture, compiler flags. Files compiled with these flags
# hold static functions only: no STL, no Abseil, no shared inline helper, or the linker may keep the
# wrong copy for everybody (tools/check_isa_objects.sh fails on any weak symbol in them). Which
# HY_ISA bits must be live before such a function is called is said beside the function's table.
include(CheckCXXCompilerFlag)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(HALYARD_ARCH x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(HALYARD_ARCH aarch64)
else()
  set(HALYARD_ARCH "${CMAKE_SYSTEM_PROCESSOR}")
endif()

# Also says by HALYARD_ISA_<NAME>_WORKS whether this compiler makes code for it.
function(halyard_isa_row NAME ARCH)
  set(HALYARD_ISA_${NAME}_ARCH ${ARCH} PARENT_SCOPE)
  set(HALYARD_ISA_${NAME}_FLAGS "${ARGN}" PARENT_SCOPE)
  if(ARCH STREQUAL HALYARD_ARCH)
    string(JOIN " " flags ${ARGN})
    check_cxx_compiler_flag("${flags}" HALYARD_ISA_${NAME}_WORKS)
  endif()
endfunction()

# GCC 12's loop vectoriser takes the dot of two signed bytes for one of mixed signs where the machine
# has such an instruction and one operand is made of unsigned bytes (`int8_t(u8 - 16)`). Kernels of
# these levels are written with intrinsics, so the vectoriser has nothing to do there; the probe of
# conformance/ops/toolchain.h says whether a compiler is right.
set(HALYARD_MIXED_DOT_FLAGS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  set(HALYARD_MIXED_DOT_FLAGS -fno-tree-loop-vectorize)
endif()

halyard_isa_row(x86_avx2       x86_64  -mavx2 -mfma -mf16c)
halyard_isa_row(x86_avx512     x86_64  -mavx512f -mavx512bw -mavx512vl -mavx512dq)
halyard_isa_row(x86_avx512vnni x86_64  -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni
                ${HALYARD_MIXED_DOT_FLAGS})
halyard_isa_row(simde_avx512vnni x86_64 -DHALYARD_SIMDE -Wno-psabi)
halyard_isa_row(arm64_dotprod  aarch64 -march=armv8.2-a+dotprod)
halyard_isa_row(arm64_i8mm     aarch64 -march=armv8.2-a+dotprod+i8mm ${HALYARD_MIXED_DOT_FLAGS})
halyard_isa_row(arm64_sve      aarch64 -march=armv8.2-a+sve)
halyard_isa_row(riscv64_rvv    riscv64 -march=rv64gcv)
halyard_isa_row(ppc64le_p9     ppc64le -mcpu=power9)
halyard_isa_row(s390x_z14      s390x   -march=z14 -mzvector)

# halyard_isa_object(TARGET ISA SOURCE...): adds each SOURCE to TARGET as an object of its own with the
# flags of ISA, if the build is for that architecture; else does nothing. Defines
# HALYARD_HAVE_<ISA> for the whole target, so that its table can list the object.
function(halyard_isa_object TARGET ISA)
  set(arch "${HALYARD_ISA_${ISA}_ARCH}")
  set(flags "${HALYARD_ISA_${ISA}_FLAGS}")
  if(NOT arch)
    message(FATAL_ERROR "halyard_isa_object: ${ISA} is not in cmake/isa.cmake")
  endif()
  if(NOT arch STREQUAL HALYARD_ARCH)
    return()
  endif()
  set(object ${TARGET}__${ISA})
  add_library(${object} OBJECT ${ARGN})
  target_include_directories(${object} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${object} PRIVATE ${flags} -O3 -ffp-contract=off -fno-exceptions -fno-rtti)
  target_link_libraries(${object} PRIVATE halyard_headers halyard_warnings)
  target_sources(${TARGET} PRIVATE "$<TARGET_OBJECTS:${object}>")
  string(TOUPPER ${ISA} upper)
  target_compile_definitions(${TARGET} PRIVATE HALYARD_HAVE_${upper}=1)
  set_property(GLOBAL APPEND PROPERTY HALYARD_ISA_OBJECTS ${object})
endfunction()

# halyard_list_isa_objects(FILE): the paths of all objects with ISA flags, one a line, for
# tools/check_isa_objects.sh.
function(halyard_list_isa_objects FILE)
  get_property(objects GLOBAL PROPERTY HALYARD_ISA_OBJECTS)
  set(content "")
  foreach(object IN LISTS objects)
    string(APPEND content "$<JOIN:$<TARGET_OBJECTS:${object}>,\n>\n")
  endforeach()
  file(GENERATE OUTPUT "${FILE}" CONTENT "${content}")
endfunction()
