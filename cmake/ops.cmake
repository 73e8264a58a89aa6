# SPDX-License-Identifier: Apache-2.0
# How ops and kernels declare themselves. Adding an op edits one line (ops/CMakeLists.txt), adding a
# kernel one line of its op's CMakeLists.txt; the tables are generated from what is collected here.

# halyard_add_op(NAME): the op of ops/NAME, with contract, cases and reference.
function(halyard_add_op NAME)
  foreach(file ops/${NAME}/contract.h ops/${NAME}/contract.cc ops/${NAME}/cases.cc reference/${NAME}.cc)
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${file}")
      message(FATAL_ERROR "halyard_add_op: ${NAME} lacks ${file}; see docs/op_guide.md")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY HALYARD_OPS ${NAME})
endfunction()

# halyard_add_kernel(OP SOURCE LEVELS level... [DEFINES ...]): compiles ops/OP/SOURCE once for each
# ISA level (cmake/isa.cmake, or `base`: no flags) that is of this architecture, as an object of its
# own, and lists its table.
function(halyard_add_kernel OP SOURCE)
  cmake_parse_arguments(ARG "" "" "LEVELS;DEFINES" ${ARGN})
  cmake_path(GET SOURCE STEM stem)
  foreach(level IN LISTS ARG_LEVELS)
    if(NOT level STREQUAL base)
      if(NOT DEFINED HALYARD_ISA_${level}_ARCH)
        message(FATAL_ERROR "halyard_add_kernel: ${level} is not in cmake/isa.cmake")
      endif()
      if(NOT HALYARD_ISA_${level}_ARCH STREQUAL HALYARD_ARCH OR NOT HALYARD_ISA_${level}_WORKS)
        continue()
      endif()
    endif()
    set(object kernel_${OP}_${stem}_${level})
    add_library(${object} OBJECT ${SOURCE})
    target_include_directories(${object} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_options(${object} PRIVATE ${HALYARD_ISA_${level}_FLAGS} -O3 -ffp-contract=off
                           -fno-exceptions -fno-rtti -fno-math-errno -fno-trapping-math)
    target_compile_definitions(${object} PRIVATE ${ARG_DEFINES} HALYARD_LEVEL=${level}
                               HALYARD_KERNEL_TABLE=halyard_kernels_${OP}_${stem}_${level})
    target_link_libraries(${object} PRIVATE halyard_headers halyard_warnings)
    set_property(GLOBAL APPEND PROPERTY HALYARD_KERNELS ${OP}_${stem}_${level})
    set_property(GLOBAL APPEND PROPERTY HALYARD_ISA_OBJECTS ${object})
  endforeach()
endfunction()

# halyard_add_layouts(NAME SOURCE): ops/.../SOURCE gives packed layouts by halyard_layouts_NAME.
function(halyard_add_layouts NAME SOURCE)
  cmake_path(ABSOLUTE_PATH SOURCE)
  set_property(GLOBAL APPEND PROPERTY HALYARD_LAYOUTS ${NAME})
  set_property(GLOBAL APPEND PROPERTY HALYARD_LAYOUT_SOURCES ${SOURCE})
endfunction()

# halyard_builtin_ops_library(): the libraries halyard_ops (contracts), halyard_op_cases,
# halyard_reference, halyard_kernels and halyard_builtin_ops, the generated tables of all.
function(halyard_builtin_ops_library)
  get_property(ops GLOBAL PROPERTY HALYARD_OPS)
  get_property(kernels GLOBAL PROPERTY HALYARD_KERNELS)
  get_property(layouts GLOBAL PROPERTY HALYARD_LAYOUTS)
  get_property(layout_sources GLOBAL PROPERTY HALYARD_LAYOUT_SOURCES)
  set(root "${PROJECT_SOURCE_DIR}")
  set(contracts ${ops})
  list(TRANSFORM contracts REPLACE "(.+)" "${root}/ops/\\1/contract.cc")
  set(cases ${ops})
  list(TRANSFORM cases REPLACE "(.+)" "${root}/ops/\\1/cases.cc")
  set(references ${ops})
  list(TRANSFORM references REPLACE "(.+)" "${root}/reference/\\1.cc")
  target_sources(halyard_ops PRIVATE ${contracts})
  target_sources(halyard_op_cases PRIVATE ${cases})
  target_sources(halyard_reference PRIVATE ${references})
  set(objects ${kernels})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:kernel_\\1>")

  set(declarations "")
  set(op_rows "")
  set(case_rows "")
  set(reference_rows "")
  set(kernel_rows "")
  set(layout_rows "")
  foreach(op IN LISTS ops)
    string(APPEND declarations "extern \"C\" const hy_op_desc halyard_op_${op};\n"
      "extern const halyard::ops::OpCases halyard_cases_${op};\n"
      "extern const halyard::reference::ReferenceOp halyard_reference_${op};\n")
    string(APPEND op_rows "    &halyard_op_${op},\n")
    string(APPEND case_rows "    &halyard_cases_${op},\n")
    string(APPEND reference_rows "    &halyard_reference_${op},\n")
  endforeach()
  foreach(kernel IN LISTS kernels)
    string(APPEND declarations
      "extern \"C\" const hy_kernel_desc* const* halyard_kernels_${kernel}(uint64_t* count);\n")
    string(APPEND kernel_rows "    &halyard_kernels_${kernel},\n")
  endforeach()
  foreach(layout IN LISTS layouts)
    string(APPEND declarations
      "extern \"C\" const hy_layout_desc* const* halyard_layouts_${layout}(uint64_t* count);\n")
    string(APPEND layout_rows "    &halyard_layouts_${layout},\n")
  endforeach()
  set(HALYARD_DECLARATIONS "${declarations}")
  set(HALYARD_OP_ROWS "${op_rows}")
  set(HALYARD_CASE_ROWS "${case_rows}")
  set(HALYARD_REFERENCE_ROWS "${reference_rows}")
  set(HALYARD_KERNEL_ROWS "${kernel_rows}")
  set(HALYARD_LAYOUT_ROWS "${layout_rows}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/builtin_ops.cc.in"
                 "${CMAKE_CURRENT_BINARY_DIR}/builtin_ops.cc" @ONLY)
  add_library(halyard_builtin_ops STATIC "${CMAKE_CURRENT_BINARY_DIR}/builtin_ops.cc"
              "${root}/ops/builtin_table.cc"
              ${layout_sources} ${objects})
  target_link_libraries(halyard_builtin_ops PUBLIC halyard_op_cases halyard_reference halyard_ops
                        PRIVATE halyard_warnings)
  target_include_directories(halyard_builtin_ops PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
endfunction()
