# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB` in the build folder: one package of the architecture that was built for.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME halyard)
set(CPACK_PACKAGE_VENDOR Halyard)
set(CPACK_PACKAGE_CONTACT "Halyard maintainers <maintainers@halyard.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"The halyard command, its ports as plugins, and all that a port of another
chip is built with: C headers, static libraries, package files.")
# What the static libraries are linked with; a port in C needs none of it.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libabsl-dev, libyaml-cpp-dev, libmd-dev, cmake, pkg-config")
# dpkg-shlibdeps looks at the libraries of the system that it runs on.
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

set(debian_x86_64 amd64)
set(debian_aarch64 arm64)
set(debian_armhf armhf)
set(debian_armv7l armhf)
set(debian_riscv64 riscv64)
set(debian_ppc64le ppc64el)
set(debian_s390x s390x)
set(debian_loongarch64 loong64)
if(DEFINED debian_${HALYARD_ARCH})
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${debian_${HALYARD_ARCH}}")
endif()
include(CPack)
