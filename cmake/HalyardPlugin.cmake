# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)

set(HALYARD_PLUGIN_MAP "${CMAKE_CURRENT_LIST_DIR}/plugin.map")

# halyard_add_plugin(NAME SOURCES file... [DEPS target...]): a port outside Halyard's tree, as the
# module lib<NAME>.so that exports its entry and nothing else. A <NAME>.port.yaml beside the
# CMakeLists.txt is its manifest; both are installed to lib/halyard/ports. Link what DEPS leaves out
# with target_link_libraries(NAME PRIVATE ...).
function(halyard_add_plugin NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "halyard_add_plugin(${NAME} SOURCES file... [DEPS target...])"
                        " was called otherwise: ${ARGN}")
  endif()
  if(NOT NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "halyard_add_plugin: '${NAME}' cannot name a port; use lower-case letters,"
                        " digits and underscores, a letter first")
  endif()
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
  set(ports_dir "${CMAKE_INSTALL_LIBDIR}/halyard/ports")
  install(TARGETS ${NAME} LIBRARY DESTINATION "${ports_dir}")
  set(manifest "${CMAKE_CURRENT_SOURCE_DIR}/${NAME}.port.yaml")
  if(EXISTS "${manifest}")
    configure_file("${manifest}" "${CMAKE_CURRENT_BINARY_DIR}/${NAME}.port.yaml" COPYONLY)
    install(FILES "${manifest}" DESTINATION "${ports_dir}")
  endif()
endfunction()
