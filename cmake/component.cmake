# SPDX-License-Identifier: Apache-2.0
# How parts of the tree declare themselves: libraries, tests, ports. Ops and kernels will follow
# the port's scheme (halyard_add_op, halyard_add_kernel): collect names in a global property, and
# generate the composition root from them, so that adding one edits one line outside its folder.
include(GoogleTest OPTIONAL)

# halyard_library(NAME SOURCES... DEPS...): a static library of the tree, included from its root.
function(halyard_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_include_directories(${NAME} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/halyard-cxx>")
  target_link_libraries(${NAME} PUBLIC ${ARG_DEPS}
                        PRIVATE ${ARG_PRIVATE_DEPS} "$<BUILD_INTERFACE:halyard_warnings>")
endfunction()

# halyard_test(NAME SOURCES... DEPS... [LABELS...] [TIMEOUT s]): a GoogleTest program, one ctest
# entry for each test case.
function(halyard_test NAME)
  if(NOT HALYARD_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(HALYARD_PRECOMPILE AND NOT TARGET halyard_test_headers)
    # A program, not a library, since tests are compiled as one: its headers serve all of them.
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_headers.cc" CONTENT "int main() { return 0; }\n")
    add_executable(halyard_test_headers EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/test_headers.cc")
    target_link_libraries(halyard_test_headers PRIVATE GTest::gmock GTest::gtest halyard_warnings)
    halyard_compile_quickly(halyard_test_headers)
    halyard_precompile(halyard_test_headers <gmock/gmock.h> <gtest/gtest.h> <absl/status/statusor.h>
                       <absl/strings/str_cat.h> <absl/types/span.h> <memory> <string> <vector>)
  endif()
  add_executable(${NAME} ${ARG_SOURCES})
  halyard_compile_quickly(${NAME})
  if(HALYARD_PRECOMPILE)
    target_precompile_headers(${NAME} REUSE_FROM halyard_test_headers)
  endif()
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main
                                        halyard_warnings)
  target_compile_definitions(${NAME} PRIVATE
    HALYARD_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    HALYARD_TEST_PORTS_DIR="${PROJECT_BINARY_DIR}/lib/halyard/ports")
  gtest_discover_tests(${NAME} DISCOVERY_TIMEOUT 120
                       PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# halyard_add_port(NAME SOURCES... [DEPS...] [PLUGIN_ONLY|BUILTIN_ONLY]): a port of the tree. Built twice: linked into the
# programs under its own entry name, and as the plugin lib<NAME>.so that exports halyard_hal_get.
function(halyard_add_port NAME)
  cmake_parse_arguments(ARG "PLUGIN_ONLY;BUILTIN_ONLY" "" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_PLUGIN_ONLY)
    add_library(port_${NAME} STATIC ${ARG_SOURCES})
    target_compile_definitions(port_${NAME} PRIVATE HALYARD_PORT_ENTRY=halyard_hal_get_${NAME})
    target_link_libraries(port_${NAME} PRIVATE halyard_headers ${ARG_DEPS} halyard_warnings)
    set_property(GLOBAL APPEND PROPERTY HALYARD_BUILTIN_PORTS ${NAME})
  endif()
  if(NOT ARG_BUILTIN_ONLY)
    add_library(plugin_${NAME} MODULE ${ARG_SOURCES})
    target_link_libraries(plugin_${NAME} PRIVATE halyard_headers ${ARG_DEPS} halyard_warnings)
    # A plugin may link static libraries of the tree; none of their symbols may leave it.
    target_link_options(plugin_${NAME} PRIVATE "LINKER:--exclude-libs,ALL" "LINKER:--no-undefined"
                        "LINKER:--version-script,${PROJECT_SOURCE_DIR}/cmake/plugin.map")
    set_property(TARGET plugin_${NAME} PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/plugin.map")
    if(HALYARD_SANITIZE)
      target_link_options(plugin_${NAME} PRIVATE "LINKER:-z,undefs")
    endif()
    set_target_properties(plugin_${NAME} PROPERTIES
      OUTPUT_NAME ${NAME} C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/halyard/ports")
    set_property(GLOBAL APPEND PROPERTY HALYARD_PLUGIN_PORTS ${NAME})
    # The manifest lies beside the library, here as when installed. One that is also built in needs
    # none: its word names the built-in one.
    if(ARG_PLUGIN_ONLY AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${NAME}.port.yaml")
      configure_file("${NAME}.port.yaml" "${PROJECT_BINARY_DIR}/lib/halyard/ports/${NAME}.port.yaml" COPYONLY)
    endif()
  endif()
endfunction()

# halyard_add_kernel_plugin(NAME SOURCES... [DEFINES...]): a plugin of the tree that has kernels and no
# port. Not found by itself: it is named with --kernels.
function(halyard_add_kernel_plugin NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEFINES" ${ARGN})
  add_library(plugin_${NAME} MODULE ${ARG_SOURCES})
  target_include_directories(plugin_${NAME} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(plugin_${NAME} PRIVATE ${ARG_DEFINES})
  target_compile_options(plugin_${NAME} PRIVATE -O3 -ffp-contract=off)
  target_link_libraries(plugin_${NAME} PRIVATE halyard_headers halyard_warnings)
  target_link_options(plugin_${NAME} PRIVATE
                      "LINKER:--version-script,${PROJECT_SOURCE_DIR}/cmake/plugin.map")
  set_target_properties(plugin_${NAME} PROPERTIES
    OUTPUT_NAME ${NAME} C_VISIBILITY_PRESET hidden
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/plugin.map"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/halyard/example_kernels")
  set_property(GLOBAL APPEND PROPERTY HALYARD_KERNEL_PLUGINS ${NAME})
endfunction()

# halyard_builtin_library(TARGET): the composition root, generated from the names collected above.
function(halyard_builtin_library TARGET)
  get_property(ports GLOBAL PROPERTY HALYARD_BUILTIN_PORTS)
  set(declarations "")
  set(rows "")
  foreach(port IN LISTS ports)
    string(APPEND declarations
      "extern \"C\" const hy_hal_api* halyard_hal_get_${port}(uint32_t, uint32_t, const hy_host_services*, uint32_t*);\n")
    string(APPEND rows "    {\"${port}\", &halyard_hal_get_${port}},\n")
  endforeach()
  set(HALYARD_PORT_DECLARATIONS "${declarations}")
  set(HALYARD_PORT_ROWS "${rows}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/builtin_ports.cc.in"
                 "${CMAKE_CURRENT_BINARY_DIR}/builtin_ports.cc" @ONLY)
  add_library(${TARGET} STATIC "${CMAKE_CURRENT_BINARY_DIR}/builtin_ports.cc")
  list(TRANSFORM ports PREPEND "port_" OUTPUT_VARIABLE targets)
  target_link_libraries(${TARGET} PUBLIC halyard_hal PRIVATE ${targets} halyard_warnings)
endfunction()

# halyard_plugins_target(TARGET): builds every plugin of the tree.
function(halyard_plugins_target TARGET)
  get_property(ports GLOBAL PROPERTY HALYARD_PLUGIN_PORTS)
  get_property(kernels GLOBAL PROPERTY HALYARD_KERNEL_PLUGINS)
  list(APPEND ports ${kernels})
  list(TRANSFORM ports PREPEND "plugin_" OUTPUT_VARIABLE targets)
  add_custom_target(${TARGET} DEPENDS ${targets})
endfunction()
