# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after legs.sh: brings one architecture from nothing to built tests.

# The compiler or emulator may be missing on a new machine.
have_tools() {
  local arch=$1 compiler
  case $arch in
    x86_64) compiler=c++ ;;
    riscv64) compiler=clang++-19 ;;
    *) compiler=$(gnu_triple "$arch")-g++ ;;
  esac
  [[ -n $(find_qemu "$arch") ]] && command -v "$compiler" >/dev/null &&
    command -v ninja >/dev/null && command -v cmake >/dev/null
}

configure_arch() {
  local arch=$1 build=$2 preset="cross-$1" args=()
  [[ $arch != x86_64 ]] || preset=release
  if grep -q "\"name\": *\"$preset\"" "$SOURCE/CMakePresets.json" 2>/dev/null; then
    args=(--preset "$preset")
  else
    args=(-G Ninja -DCMAKE_BUILD_TYPE=Release)
    [[ $arch == x86_64 ]] ||
      args+=("-DCMAKE_TOOLCHAIN_FILE=$HALYARD_ROOT/cmake/toolchains/$arch-linux.cmake")
  fi
  (cd "$SOURCE" && cmake -S . -B "$build" "${args[@]}")
}

# The native build's tests name their programs directly; this folder holds the same tests with the
# emulator put in front of every program of the build; scripts, which would run natively, are
# disabled, so that they count as skipped. Prints the folder that ctest shall use.
x86_test_dir() {
  local build=$1 dir=$SOURCE/build/cross-x86_64
  mkdir -p "$dir"
  cat >"$dir/CTestTestfile.cmake" <<CMAKE
macro(add_test name program)
  string(FIND "\${program}" "$build/" _at)
  if(_at EQUAL 0)
    _add_test("\${name}" "$(find_qemu x86_64)" "\${program}" \${ARGN})
  else()
    _add_test("\${name}" "\${program}" \${ARGN})
    set_tests_properties("\${name}" PROPERTIES DISABLED TRUE)
  endif()
endmacro()
subdirs("$build")
CMAKE
  echo "$dir"
}

# build_arch ARCH LOG: sysroot, configure, build. Fails with the log's tail on the terminal.
build_arch() {
  local arch=$1 log=$2 build
  build=$(leg_build "$arch")
  say "$arch: building in $build"
  if ! {
    { [[ $arch == x86_64 ]] || "$HALYARD_ROOT/tools/cross/mksysroot.sh" "$arch"; } &&
      configure_arch "$arch" "$build" && nice cmake --build "$build" -j "$JOBS"
  } >"$log" 2>&1; then
    say "$arch: build failed, see $log"
    grep -E 'error:|FAILED|Error' "$log" | head -n 5 >&2 || tail -n 5 "$log" >&2
    return 1
  fi
}
