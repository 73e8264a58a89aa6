#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that building Halyard needs, with the system's own package manager. Does
# nothing, and needs no rights, when all are there. --dev adds what the checks of the project use.
set -euo pipefail

build_packages=(g++ cmake ninja-build pkg-config libabsl-dev libyaml-cpp-dev libnuma-dev
  libgtest-dev libgmock-dev libbenchmark-dev nlohmann-json3-dev libcli11-dev libmd-dev libzstd-dev
  libutf8proc-dev ocl-icd-opencl-dev opencl-headers pocl-opencl-icd python3)
dev_packages=(clang clang-format clang-tidy ccache shellcheck python3-yaml file binutils)

packages=("${build_packages[@]}")
[ "${1:-}" != --dev ] || packages+=("${dev_packages[@]}")

if ! command -v dpkg-query >/dev/null; then
  echo "install_packages: this system has no dpkg. Install the like of: ${packages[*]}" >&2
  exit 3
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_packages: as root, run: apt-get install ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "install_packages: apt-get failed; see above" >&2
  exit 3
fi
