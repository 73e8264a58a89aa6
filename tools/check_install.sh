#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves that the installed tree is enough: a C11 port built with find_package and one built with
# pkg-config load into the installed program, so do kernels, a C++ program links the core both ways,
# and the .deb holds what it should. But for the example of kernels, which is copied, nothing of the
# source tree is used after `cmake --install`.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tools/check_install.sh [BUILD_DIR]
  BUILD_DIR  a complete build; default build/release
Exit: 0 all holds, 1 something does not, 2 usage.
TEXT
}

say() { printf 'check_install: %s\n' "$*" >&2; }
fail() {
  say "FAILED: $*"
  exit 1
}

[ $# -le 1 ] || { usage >&2; exit 2; }
[ "${1:-}" != --help ] || { usage; exit 0; }
build=${1:-$(dirname "$0")/../build/release}
source=$(cd "$(dirname "$0")/.." && pwd)
[ -f "$build/CMakeCache.txt" ] || { usage >&2; say "no build at $build"; exit 2; }
build=$(cd "$build" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
unset HALYARD_PORT_PATH HALYARD_DATA_DIR

# run LOG COMMAND...: shows the log only when the command fails.
run() {
  local log=$work/$1.log
  shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2; fail "$*"; }
}

# expect_port FILE NAME: the installed program loads it and says its name.
expect_port() {
  "$prefix/bin/halyard" info --port "$1" --json >"$work/info.json" 2>"$work/info.log" ||
    { cat "$work/info.log" >&2; fail "the installed program does not load $1"; }
  grep -q "\"$2\"" "$work/info.json" || fail "info of $1 does not name the port $2"
}

install_tree() {
  run install cmake --install "$build" --prefix "$prefix"
  libdir=$(cd "$prefix" && dirname "$(find . -name libhalyard_hal.a)")
  libdir=$prefix/${libdir#./}
  local file
  for file in "$prefix/bin/halyard" "$prefix/include/halyard/hal_port.h" \
    "$prefix/include/halyard-cxx/hal/device.h" "$libdir/libhalyard_base.a" \
    "$prefix/include/halyard/kernel.h" "$prefix/include/halyard-ops/ops/matmul/contract.h" \
    "$libdir/cmake/Halyard/HalyardConfig.cmake" "$libdir/pkgconfig/halyard.pc" \
    "$prefix/share/halyard/chips" "$prefix/share/halyard/port_template/port.c" \
    "$prefix/share/halyard/kernel_template/kernels.c" "$prefix/share/doc/halyard/docs/port_guide.md"; do
    [ -e "$file" ] || fail "not installed: $file"
  done
  ! grep -rIl -- "$build" "$prefix" >"$work/leaks" ||
    fail "files name the build folder: $(tr '\n' ' ' <"$work/leaks")"
  # In a moved tree every path must follow.
  mv "$prefix" "$work/moved"
  prefix=$work/moved
  libdir=${libdir/#"$work/prefix"/$prefix}
}

port_by_cmake() {
  run new_port "$prefix/bin/halyard" new-port acme_x1 --out "$work/acme_x1"
  run configure cmake -S "$work/acme_x1" -B "$work/acme_x1/build" "-DCMAKE_PREFIX_PATH=$prefix" \
    -DCMAKE_C_FLAGS="-std=c11 -Wall -Wextra -Wpedantic -Werror"
  run build cmake --build "$work/acme_x1/build"
  local library=$work/acme_x1/build/libacme_x1.so symbols
  symbols=$(nm -D --defined-only "$library" | awk '{ print $3 }')
  [ "$symbols" = halyard_hal_get ] || fail "the plugin exports: $symbols"
  expect_port "$library" acme_x1
  # Installed, it is found by its word.
  run plugin_install cmake --install "$work/acme_x1/build" --prefix "$prefix"
  expect_port acme_x1 acme_x1
}

port_by_pkg_config() {
  local flags
  export PKG_CONFIG_PATH=$libdir/pkgconfig
  flags=$(pkg-config --cflags halyard-headers) || fail "pkg-config halyard-headers"
  # shellcheck disable=SC2086  # flags are words
  run plain_port cc -std=c11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -shared $flags \
    "$work/acme_x1/port.c" -o "$work/libplain.so"
  expect_port "$work/libplain.so" acme_x1
}

# expect_kernel KERNEL ARGS...: the installed program picks that kernel for a product.
expect_kernel() {
  local kernel=$1
  shift
  "$prefix/bin/halyard" explain matmul --m 1 --n 64 --k 64 --types f32,q8_0,f32 --json "$@" \
    >"$work/explain.json" 2>"$work/explain.log" ||
    { cat "$work/explain.log" >&2; fail "the installed program does not explain"; }
  grep -q "\"chosen\": \"$kernel\"" "$work/explain.json" ||
    { cat "$work/explain.json" >&2; fail "$kernel was not picked"; }
}

kernels() {
  local kernel=matmul/f32.q8_0.f32/example@example library symbols flags
  cp -r "$source/ports/example_kernels" "$work/example_kernels"
  run kernels_configure cmake -S "$work/example_kernels" -B "$work/example_kernels/build" \
    "-DCMAKE_PREFIX_PATH=$prefix" -DCMAKE_C_FLAGS="-std=c11 -Wall -Wextra -Wpedantic -Werror"
  run kernels_build cmake --build "$work/example_kernels/build"
  library=$work/example_kernels/build/libexample_kernels.so
  symbols=$(nm -D --defined-only "$library" | awk '{ print $3 }')
  [ "$symbols" = halyard_kernels_get ] || fail "the kernels export: $symbols"
  expect_kernel "$kernel" --kernels "$library"
  flags=$(pkg-config --cflags halyard-headers)
  # shellcheck disable=SC2086
  run plain_kernels cc -std=c11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -shared $flags \
    "$work/example_kernels/kernels.c" -o "$work/libplain_kernels.so"
  expect_kernel "$kernel" --kernels "$work/libplain_kernels.so"
  # Installed, they are there without being named.
  run kernels_install cmake --install "$work/example_kernels/build" --prefix "$prefix"
  expect_kernel "$kernel"
  rm "$libdir/halyard/kernels/libexample_kernels.so"
}

write_program() {
  mkdir -p "$work/program"
  cat >"$work/program/main.cc" <<'CODE'
#include <cstdio>

#include "hal/device.h"
#include "hal/layers/layers.h"

int main(int, char** argv) {
  auto port = halyard::hal::LoadPort(argv[1], {});
  if (!port.ok()) return std::printf("%s\n", port.status().ToString().c_str()), 1;
  auto device = halyard::hal::Device::Open(*port);
  if (!device.ok()) return std::printf("%s\n", device.status().ToString().c_str()), 1;
  std::printf("opened %s of %s\n", device->info().id, (*port)->name().c_str());
  return 0;
}
CODE
  cat >"$work/program/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES CXX)
find_package(Halyard 0.1 REQUIRED COMPONENTS hal)
add_executable(program main.cc)
target_compile_features(program PRIVATE cxx_std_20)
target_link_libraries(program PRIVATE Halyard::hal)
CODE
}

programs() {
  local library=$work/acme_x1/build/libacme_x1.so flags
  write_program
  run program_configure cmake -S "$work/program" -B "$work/program/build" \
    "-DCMAKE_PREFIX_PATH=$prefix"
  run program_build cmake --build "$work/program/build"
  run program_run "$work/program/build/program" "$library"
  grep -q "opened .* of acme_x1" "$work/program_run.log" || fail "the program opened no device"
  flags=$(pkg-config --cflags --libs halyard) || fail "pkg-config halyard"
  # shellcheck disable=SC2086
  run plain_program c++ -std=c++20 "$work/program/main.cc" -o "$work/plain_program" $flags
  run plain_program_run "$work/plain_program" "$library"
}

package() {
  local deb root=$work/root
  run cpack cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/package"
  deb=$(find "$work/package" -maxdepth 1 -name '*.deb')
  [ -f "$deb" ] || fail "cpack made no .deb"
  local arch
  arch=$(dpkg-deb -f "$deb" Architecture)
  [ "$arch" = "$(dpkg --print-architecture)" ] || fail "the .deb is for $arch"
  dpkg-deb -f "$deb" Depends | grep -q 'libc6' || fail "the .deb names no dependencies"
  run unpack dpkg-deb -x "$deb" "$root"
  [ -f "$root/usr/share/doc/halyard/copyright" ] || fail "the .deb has no licence"
  prefix=$root/usr expect_port "$work/acme_x1/build/libacme_x1.so" acme_x1
  say "package $(basename "$deb"), $(du -k "$deb" | cut -f1) KB"
}

say "installing $build"
install_tree
say "a port by find_package"
port_by_cmake
say "a port by pkg-config"
port_by_pkg_config
say "kernels both ways"
kernels
say "programs with the core"
programs
if command -v dpkg-deb >/dev/null; then
  say "the .deb"
  package
fi
say "all holds"
