# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and `cpack` give: programs, headers, static libraries, plugins with their
# manifests, and the package files for find_package and pkg-config.
include(CMakePackageConfigHelpers)

set(HALYARD_INSTALL_CXX_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}/halyard-cxx")
set(HALYARD_INSTALL_PORTSDIR "${CMAKE_INSTALL_LIBDIR}/halyard/ports")
set(HALYARD_INSTALL_KERNELSDIR "${CMAKE_INSTALL_LIBDIR}/halyard/kernels")
set(HALYARD_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/Halyard")
set(HALYARD_INSTALL_DATADIR "${CMAKE_INSTALL_DATADIR}/halyard")

# Headers. Those of C++ begin at base/ and hal/, and contracts of ops at ops/: names too plain for the
# system's include folder.
install(DIRECTORY hal/include/halyard registry/include/halyard
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
get_property(ops GLOBAL PROPERTY HALYARD_OPS)
foreach(op IN LISTS ops)
  install(FILES ops/${op}/contract.h
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/halyard-ops/ops/${op}")
endforeach()
file(GLOB base_headers "${PROJECT_SOURCE_DIR}/base/*.h")
list(FILTER base_headers EXCLUDE REGEX "cpu_detect")
install(FILES ${base_headers} DESTINATION "${HALYARD_INSTALL_CXX_INCLUDEDIR}/base")
set(hal_headers barrier bind device host_services loader pages system_view timeline topology
                worker_team)
list(TRANSFORM hal_headers REPLACE "(.+)" "hal/\\1.h")
install(FILES ${hal_headers} DESTINATION "${HALYARD_INSTALL_CXX_INCLUDEDIR}/hal")
install(FILES hal/layers/layers.h DESTINATION "${HALYARD_INSTALL_CXX_INCLUDEDIR}/hal/layers")

# Targets. The headers are a package of their own: a port in C needs no C++ library to be found.
set_target_properties(halyard_headers PROPERTIES EXPORT_NAME headers)
set_target_properties(halyard_base PROPERTIES EXPORT_NAME base)
set_target_properties(halyard_hal PROPERTIES EXPORT_NAME hal)
install(TARGETS halyard_headers EXPORT HalyardHeadersTargets)
install(TARGETS halyard_base halyard_hal EXPORT HalyardLibraryTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(set HalyardHeadersTargets HalyardLibraryTargets)
  install(EXPORT ${set} NAMESPACE Halyard:: DESTINATION "${HALYARD_INSTALL_CMAKEDIR}")
endforeach()

# Programs, plugins, data.
install(TARGETS halyard RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
get_property(plugins GLOBAL PROPERTY HALYARD_PLUGIN_PORTS)
foreach(port IN LISTS plugins)
  install(TARGETS plugin_${port} LIBRARY DESTINATION "${HALYARD_INSTALL_PORTSDIR}")
  set(manifest "${PROJECT_BINARY_DIR}/lib/halyard/ports/${port}.port.yaml")
  if(EXISTS "${manifest}")
    install(FILES "${manifest}" DESTINATION "${HALYARD_INSTALL_PORTSDIR}")
  endif()
endforeach()
install(DIRECTORY ports/chips DESTINATION "${HALYARD_INSTALL_DATADIR}"
        FILES_MATCHING PATTERN "*.yaml" PATTERN "README.md")
# What new-port, explain and reports point at must be there without the sources.
install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/halyard")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/halyard"
        FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ports/example_kernels/ DESTINATION "${HALYARD_INSTALL_DATADIR}/kernel_template")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/halyard" RENAME copyright)

# find_package(Halyard).
configure_package_config_file(
  cmake/HalyardConfig.cmake.in "${PROJECT_BINARY_DIR}/HalyardConfig.cmake"
  INSTALL_DESTINATION "${HALYARD_INSTALL_CMAKEDIR}"
  PATH_VARS HALYARD_INSTALL_PORTSDIR HALYARD_INSTALL_KERNELSDIR HALYARD_INSTALL_DATADIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/HalyardConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/HalyardConfig.cmake"
              "${PROJECT_BINARY_DIR}/HalyardConfigVersion.cmake" cmake/HalyardPlugin.cmake
              cmake/plugin.map
        DESTINATION "${HALYARD_INSTALL_CMAKEDIR}")

# pkg-config. Paths are relative to the file, so that the tree can be moved.
file(RELATIVE_PATH HALYARD_PC_PREFIX "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
foreach(name halyard halyard-headers)
  configure_file(cmake/${name}.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

include(cmake/cpack.cmake)
