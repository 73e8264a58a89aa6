# SPDX-License-Identifier: Apache-2.0
# Filled in with the package files (find_package, pkg-config, .deb).
