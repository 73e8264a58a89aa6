# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the cross-ISA and VM tools: folders, messages, names of each architecture.

HALYARD_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034  # Used by the scripts that source this file.
HALYARD_SYSROOTS="$HALYARD_ROOT/build/sysroots"
# shellcheck disable=SC2034
HALYARD_ARCHES=(aarch64 riscv64 ppc64le s390x armhf)

# Exit codes of all tools here.
# shellcheck disable=SC2034
EXIT_FAILED=1 EXIT_USAGE=2 EXIT_CANNOT=3

say() { printf '%s\n' "$*" >&2; }

# die CODE MESSAGE...
die() {
  local code=$1
  shift
  say "error: $*"
  exit "$code"
}

# Debian's name of an architecture, as apt spells it.
deb_arch() {
  case $1 in
    aarch64) echo arm64 ;;
    ppc64le) echo ppc64el ;;
    x86_64) echo amd64 ;;
    riscv64 | s390x | armhf) echo "$1" ;;
    *) die 2 "unknown architecture '$1'; known: ${HALYARD_ARCHES[*]}" ;;
  esac
}

# GNU triple of an architecture: prefix of its compiler, name of its library folder.
gnu_triple() {
  case $1 in
    ppc64le) echo powerpc64le-linux-gnu ;;
    armhf) echo arm-linux-gnueabihf ;;
    *) echo "$1-linux-gnu" ;;
  esac
}

# Program of qemu-user for an architecture.
qemu_name() {
  case $1 in
    armhf) echo qemu-arm ;;
    *) echo "qemu-$1" ;;
  esac
}

# Full path of the emulator: the fetched qemu 10 first (7.2 has known wrong instructions), else
# the system's. Prints nothing when there is none.
find_qemu() {
  local name
  name=$(qemu_name "$1")
  if [[ -x $HALYARD_SYSROOTS/qemu10/usr/bin/$name ]]; then
    echo "$HALYARD_SYSROOTS/qemu10/usr/bin/$name"
  else
    command -v "$name" || true
  fi
}

# Sysroot folder of an architecture, by the same rule as cmake/toolchains/cross.cmake.
sysroot_dir() {
  local base=${HALYARD_SYSROOT_DIR:-$HALYARD_SYSROOTS}
  if [[ -d $base/usr/include ]]; then echo "$base"; else echo "$base/$1"; fi
}

# Root is needed for apt-get install only; an ordinary user goes through sudo.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die 3 "'$*' needs root, and there is no sudo"
  fi
}

# Installs the packages that are missing; asks for no privilege when all are there.
install_missing() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "installing: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=600 "${missing[@]}" >/dev/null
}
