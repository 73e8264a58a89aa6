#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a sysroot of one architecture from Debian packages: no root, no change to the host's package
# state, no execution of foreign code.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tools/cross/lib.sh
. "$here/lib.sh"
# shellcheck source=tools/cross/apt.sh
. "$here/apt.sh"

# Bump when the content changes for the same suite and packages.
RECIPE=2
PACKAGES=(libc6-dev libabsl-dev libtbb-dev libyaml-cpp-dev libnuma-dev libmd-dev libzstd-dev libutf8proc-dev
  libbenchmark-dev libgtest-dev libgmock-dev libcli11-dev nlohmann-json3-dev)

usage() {
  cat <<'TEXT'
usage: tools/cross/mksysroot.sh ARCH [DEST]
  ARCH  aarch64 riscv64 ppc64le s390x armhf
  DEST  default: $HALYARD_SYSROOT_DIR/ARCH, or build/sysroots/ARCH
Does nothing when DEST is up to date. HALYARD_EXTRA_PACKAGES adds packages.
HALYARD_APT_URI and HALYARD_APT_SUITE override where packages come from.
TEXT
}

# A merged-/usr suite ships no /lib; programs still name their loader there.
link_merged_usr() {
  local root=$1 name
  for name in lib lib64; do
    mkdir -p "$root/usr/$name"
    ln -sfn "usr/$name" "$root/$name"
  done
  # Compilers name headers as lib/gcc/../../include; ninja takes that by its letters, and would find them
  # missing, and everything out of date, each time.
  ln -sfn usr/include "$root/include"
}

# Absolute links would lead out of the sysroot.
relativise_links() {
  local root=$1 link target
  while IFS= read -r -d '' link; do
    target=$(readlink "$link")
    [[ $target == /* && -e $root$target ]] || continue
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$root$target")" "$link"
  done < <(find "$root" -type l -print0)
}

# lld refuses the distribution's GCC-built static gtest of riscv64 (relocations into discarded
# sections), so the same sources are built again with the compiler that links the tests.
rebuild_gtest() {
  local root=$1 triple=$2 work=$1/.gtest name part source
  local cxx=(nice clang++-19 "--target=$triple" "--sysroot=$root" -O2 -w)
  command -v clang++-19 >/dev/null ||
    die "$EXIT_CANNOT" "clang++-19 is missing; run tools/cross/setup.sh riscv64"
  say "  building gtest with clang"
  mkdir -p "$work"
  for name in gtest gtest_main gmock gmock_main; do
    part=googletest
    [[ $name == gtest* ]] || part=googlemock
    source=$part/src/$name.cc
    [[ $name == *_main ]] || source=$part/src/$name-all.cc
    "${cxx[@]}" "-I$root/usr/src/googletest/$part" -c "$root/usr/src/googletest/$source" \
      -o "$work/$name.o"
    rm -f "$root/usr/lib/$triple/lib$name.a"
    llvm-ar-19 rcs "$root/usr/lib/$triple/lib$name.a" "$work/$name.o"
  done
  rm -rf "$work"
}

unpack() {
  local cache=$1 root=$2 suite=$3 deb count=0
  [[ $suite == bookworm ]] || link_merged_usr "$root"
  for deb in "$cache"/*.deb; do
    dpkg-deb -x "$deb" "$root"
    count=$((count + 1))
  done
  say "  unpacked $count packages"
  relativise_links "$root"
}

build_sysroot() {
  local arch=$1 dest=$2 suite=$3 stamp=$4 work="$2.apt" extra
  read -r -a extra <<<"${HALYARD_EXTRA_PACKAGES:-}"
  say "sysroot $arch: Debian suite $suite into $dest"
  apt_private "$work" "$(deb_arch "$arch")" "$suite"
  say "  downloading packages"
  apt_fetch_closure "${PACKAGES[@]}" "libstdc++-$(apt_gcc_version)-dev" "${extra[@]}"
  rm -rf "$dest.new"
  mkdir -p "$dest.new"
  unpack "$work/cache/archives" "$dest.new" "$suite"
  [[ $arch != riscv64 ]] || rebuild_gtest "$dest.new" "$(gnu_triple "$arch")"
  echo "$stamp" >"$dest.new/.halyard-sysroot"
  rm -rf "$dest"
  mv "$dest.new" "$dest"
  # The packages are the bulk of the download and are not needed again.
  rm -rf "$work"
  say "  ready: $(du -sh "$dest" | cut -f1)"
}

main() {
  local arch=${1:-} dest suite stamp
  [[ $arch != -h && $arch != --help ]] || { usage; exit 0; }
  (($# == 1 || $# == 2)) || { usage >&2; exit "$EXIT_USAGE"; }
  deb_arch "$arch" >/dev/null
  command -v apt-get >/dev/null || die "$EXIT_CANNOT" "this needs apt and dpkg (Debian or Ubuntu)"
  dest=${2:-$(sysroot_dir "$arch")}
  suite=$(archive_suite "$arch")
  stamp="recipe $RECIPE suite $suite packages ${PACKAGES[*]} ${HALYARD_EXTRA_PACKAGES:-}"
  mkdir -p "$(dirname "$dest")"
  # Two runs at once would write the same folder.
  exec 9>"$dest.lock"
  flock 9
  if [[ -r $dest/.halyard-sysroot && $(<"$dest/.halyard-sysroot") == "$stamp" ]]; then
    say "sysroot $arch: up to date"
    return
  fi
  build_sysroot "$arch" "$dest" "$suite" "$stamp"
}

main "$@"
