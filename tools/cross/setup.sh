#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what tools/cross needs: cross compilers, qemu-user, build tools, and a newer qemu-user
# beside the system's where the distribution offers one.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tools/cross/lib.sh
. "$here/lib.sh"
# shellcheck source=tools/cross/apt.sh
. "$here/apt.sh"

usage() {
  cat <<'TEXT'
usage: tools/cross/setup.sh [ARCH...]
  ARCH  aarch64 riscv64 ppc64le s390x armhf; default: all
Installs compilers and emulators with apt (root or sudo), and fetches qemu-user 10 from Debian 12's
backports into build/sysroots/qemu10. Running it again installs only what is missing.
TEXT
}

# Packages that carry the compiler of one architecture.
compiler_packages() {
  case $1 in
    # GCC 12 has no RVV intrinsics, and binutils 2.40 crashes on clang's RISC-V objects.
    riscv64) echo "clang-19 lld-19 llvm-19" ;;
    *) echo "g++-$(gnu_triple "$1" | tr _ -)" ;;
  esac
}

# Version 7.2 of Debian 12 computes some SME and RVV instructions wrongly, and lacks newer CPUs.
fetch_qemu10() {
  local dest="$HALYARD_SYSROOTS/qemu10" work file version arch
  if [[ -x $dest/usr/bin/qemu-aarch64 ]]; then
    say "qemu-user: $("$dest/usr/bin/qemu-aarch64" --version | head -n1), cached"
    return
  fi
  version=$(qemu-aarch64 --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\).*/\1/p')
  if ((${version:-0} >= 10)); then
    say "qemu-user: the system's is version $version, nothing to fetch"
    return
  fi
  if [[ $(host_codename) != bookworm ]]; then
    say "qemu-user: only version ${version:-unknown} here, and no backport is known for this system"
    return
  fi
  say "qemu-user: fetching version 10 from backports (63 MB)"
  work="$HALYARD_SYSROOTS/qemu10.apt"
  apt_private "$work" "$(dpkg --print-architecture)" bookworm-backports
  file=$(apt_fetch_one "$work/deb" qemu-user) || return 1
  rm -rf "$dest.new"
  mkdir -p "$dest.new/usr/bin"
  for arch in "${HALYARD_ARCHES[@]}" x86_64; do
    dpkg-deb --fsys-tarfile "$file" | tar -x -C "$dest.new" "./usr/bin/$(qemu_name "$arch")" ||
      return 1
  done
  rm -rf "$dest" "$work"
  mv "$dest.new" "$dest"
  say "qemu-user: $("$dest/usr/bin/qemu-aarch64" --version | head -n1)"
}

main() {
  local arch arches=("$@") packages=(qemu-user cmake ninja-build python3 binutils)
  [[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
  ((${#arches[@]})) || arches=("${HALYARD_ARCHES[@]}")
  for arch in "${arches[@]}"; do
    deb_arch "$arch" >/dev/null
    # shellcheck disable=SC2207  # Package names hold no blanks.
    packages+=($(compiler_packages "$arch"))
  done
  command -v apt-get >/dev/null || die "$EXIT_CANNOT" "this needs apt (Debian or Ubuntu)"
  install_missing "${packages[@]}"
  # The emulator works without it, so a mirror without backports is no failure.
  (fetch_qemu10) || say "warning: no newer qemu-user; the system's will be used"
  say "cross tools are ready for: ${arches[*]}"
}

main "$@"
