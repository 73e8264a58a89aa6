#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what tools/vm/run.sh needs on the host. Kernels and the guest's shell are not installed:
# run.sh downloads and unpacks them.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tools/cross/lib.sh
. "$here/../cross/lib.sh"

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  echo "usage: tools/vm/setup.sh    installs qemu-system, dtc and cpio with apt (root or sudo)"
  exit 0
fi
(($# == 0)) || die "$EXIT_USAGE" "no arguments expected"
command -v apt-get >/dev/null || die "$EXIT_CANNOT" "this needs apt (Debian or Ubuntu)"
install_missing qemu-system-x86 qemu-system-arm device-tree-compiler cpio gzip binutils python3
say "VM tools are ready; the ARM legs also need: tools/cross/setup.sh aarch64"
