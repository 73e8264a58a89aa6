# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)

set(HALYARD_PLUGIN_MAP "${CMAKE_CURRENT_LIST_DIR}/plugin.map")

# A module lib<NAME>.so that exports its entry and nothing else.
function(_halyard_plugin_module NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${NAME} MODULE ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE Halyard::headers ${ARG_DEPS})
  set_target_properties(${NAME} PROPERTIES
    PREFIX lib C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
    LINK_DEPENDS "${HALYARD_PLUGIN_MAP}")
  target_link_options(${NAME} PRIVATE "LINKER:--exclude-libs,ALL"
                      "LINKER:--version-script,${HALYARD_PLUGIN_MAP}")
  # The runtime of a sanitizer is linked into the program, so a plugin leaves its symbols open.
  if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${NAME} PRIVATE "LINKER:--no-undefined")
  endif()
endfunction()

function(_halyard_check_plugin COMMAND NAME SOURCES UNPARSED)
  if(UNPARSED OR NOT SOURCES)
    message(FATAL_ERROR "${COMMAND}(${NAME} SOURCES file...) was called otherwise: ${UNPARSED}")
  endif()
  if(NOT NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "${COMMAND}: '${NAME}' cannot name a plugin; use lower-case letters,"
                        " digits and underscores, a letter first")
  endif()
endfunction()

# halyard_add_plugin(NAME SOURCES file... [DEPS target...]): a port outside Halyard's tree; it may
# have kernels, too. A <NAME>.port.yaml beside the CMakeLists.txt is its manifest; both are installed
# to lib/halyard/ports. Link what DEPS leaves out with target_link_libraries(NAME PRIVATE ...).
function(halyard_add_plugin NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  _halyard_check_plugin(halyard_add_plugin "${NAME}" "${ARG_SOURCES}" "${ARG_UNPARSED_ARGUMENTS}")
  _halyard_plugin_module(${NAME} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS})
  set(ports_dir "${CMAKE_INSTALL_LIBDIR}/halyard/ports")
  install(TARGETS ${NAME} LIBRARY DESTINATION "${ports_dir}")
  set(manifest "${CMAKE_CURRENT_SOURCE_DIR}/${NAME}.port.yaml")
  if(EXISTS "${manifest}")
    configure_file("${manifest}" "${CMAKE_CURRENT_BINARY_DIR}/${NAME}.port.yaml" COPYONLY)
    install(FILES "${manifest}" DESTINATION "${ports_dir}")
  endif()
endfunction()

# halyard_add_kernel_plugin(NAME SOURCES file... [DEPS target...] [DEFINES...]): a library of kernels
# and no port, compiled for speed and without contraction, so that it gives the same bits everywhere.
# Installed to lib/halyard/kernels, where programs find it by themselves. Give ISA flags by set_source_files_properties to files that
# hold static functions only.
function(halyard_add_kernel_plugin NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;DEFINES" ${ARGN})
  _halyard_check_plugin(halyard_add_kernel_plugin "${NAME}" "${ARG_SOURCES}"
                        "${ARG_UNPARSED_ARGUMENTS}")
  _halyard_plugin_module(${NAME} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS})
  target_compile_definitions(${NAME} PRIVATE ${ARG_DEFINES})
  target_compile_options(${NAME} PRIVATE -O3 -ffp-contract=off)
  install(TARGETS ${NAME} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/halyard/kernels")
endfunction()
