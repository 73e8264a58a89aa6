# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers of every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# One tree for tests and for speed: asserts of the library stay on only in Debug.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
if(HALYARD_SANITIZE)
  # Half the time to compile, and stacks that name more functions.
  string(REPLACE "-O2" "-O1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  string(REPLACE "-O2" "-O1" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
endif()

# Compilers warn of more with each version, and libraries of what they will drop: a user's build must
# not fail by that.
set(warnings_are_errors OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13) OR
   (CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  set(warnings_are_errors ON)
endif()
option(HALYARD_WERROR "Treat warnings as errors" ${warnings_are_errors})
# Sizes of tensors have 64 bits on every host. Where size_t has 32 they narrow at each vector and memset,
# of memory that is there already.
set(conversion_warnings -Wconversion)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  set(conversion_warnings "")
  # Without it readdir and stat fail for files whose number or size needs more than 32 bits.
  add_compile_definitions(_FILE_OFFSET_BITS=64)
endif()
add_library(halyard_warnings INTERFACE)
target_compile_options(halyard_warnings INTERFACE
                       -Wall -Wextra -Wshadow ${conversion_warnings} $<$<BOOL:${HALYARD_WERROR}>:-Werror>)

if(HALYARD_SANITIZE)
  add_compile_options(-fsanitize=${HALYARD_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${HALYARD_SANITIZE})
endif()

if(HALYARD_CLANG_TIDY)
  find_program(HALYARD_CLANG_TIDY_PROGRAM NAMES clang-tidy-19 clang-tidy REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY "${HALYARD_CLANG_TIDY_PROGRAM};--quiet")
endif()

# Most of the time to build goes into reading large headers again and again.
set(precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" OR HALYARD_CLANG_TIDY)
  set(precompile OFF)  # a compiler cache does the same, and does not go with them
endif()
option(HALYARD_PRECOMPILE "Precompile large headers of other projects" ${precompile})

# halyard_precompile(TARGET header...): headers of other projects that most sources of it include.
# Sources still include what they use: the build without must pass as well.
function(halyard_precompile TARGET)
  if(HALYARD_PRECOMPILE AND TARGET ${TARGET})
    target_precompile_headers(${TARGET} PRIVATE ${ARGN})
  endif()
endfunction()

# halyard_compile_together(TARGET source...): sources that instantiate the same large templates, compiled
# as one. Names in their unnamed namespaces must differ, as the build without proves nothing of it.
function(halyard_compile_together TARGET)
  if(NOT HALYARD_PRECOMPILE)
    return()
  endif()
  list(GET ARGN 0 group)
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()

# halyard_compile_quickly(TARGET): for what is compiled more often than it is waited for: the program's
# text, the suite, tests. A fifth to a third less to compile; what is measured or served has -O2.
function(halyard_compile_quickly TARGET)
  target_compile_options(${TARGET} PRIVATE "$<$<CONFIG:RelWithDebInfo,Release>:-O1>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # These follow the flow of data, and go wrong where less of it is known.
    target_compile_options(${TARGET} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                           -Wno-stringop-overread -Wno-maybe-uninitialized -Wno-restrict)
  endif()
endfunction()
