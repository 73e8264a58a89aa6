# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced after lib.sh and apt.sh: the guest's kernel and its initramfs, unpacked from packages.

# fetch_guest ARCH DIR: DIR/vmlinuz and DIR/busybox of the host's Debian release. Cached.
# The cloud kernel has NUMA, huge pages and the serial console built in, so no module is needed.
fetch_guest() {
  local arch=$1 dir=$2 deb work=$2.apt image file
  if [[ -r $dir/vmlinuz && -x $dir/busybox ]]; then return; fi
  deb=$(deb_arch "$arch")
  say "$arch: fetching kernel and busybox"
  apt_private "$work" "$deb" "$(archive_suite "$arch")"
  image=$(apt-cache "${APT_OPTIONS[@]}" depends "linux-image-cloud-$deb" |
    sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n1)
  [[ -n $image ]] || die "$EXIT_CANNOT" "the suite has no cloud kernel for $deb"
  rm -rf "$dir.new"
  mkdir -p "$dir.new"
  file=$(apt_fetch_one "$work/deb" "$image") || die "$EXIT_CANNOT" "cannot download $image"
  dpkg-deb --fsys-tarfile "$file" | tar -x -C "$dir.new" ./boot
  mv "$dir.new"/boot/vmlinuz-* "$dir.new/vmlinuz"
  file=$(apt_fetch_one "$work/deb" busybox-static) || die "$EXIT_CANNOT" "no busybox-static"
  dpkg-deb -x "$file" "$dir.new/root"
  find "$dir.new/root" -type f -path '*/bin/busybox' -exec cp {} "$dir.new/busybox" \;
  rm -rf "$dir.new/root" "$dir.new/boot" "$dir" "$work"
  mv "$dir.new" "$dir"
}

# Prints the shared libraries that an ELF file names, and its loader.
elf_needs() {
  readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'
  readelf -l "$1" 2>/dev/null | sed -n 's|.*program interpreter: .*/\([^/]*\)\]$|\1|p'
}

find_library() {
  local root=$1 triple=$2 name=$3 dir
  for dir in "lib/$triple" "usr/lib/$triple" lib lib64 usr/lib; do
    if [[ -e $root/$dir/$name ]]; then
      echo "$root/$dir/$name"
      return
    fi
  done
  die "$EXIT_CANNOT" "library $name is not under ${root:-/}"
}

# copy_elf FILE TARGET_DIR GUEST ROOT TRIPLE: an ELF file without its debug part, and all libraries
# that it needs, into the guest's tree.
copy_elf() {
  local file=$1 target=$2 guest=$3 root=$4 triple=$5 name path
  [[ -r $file ]] || die "$EXIT_CANNOT" "no $file"
  mkdir -p "$target" "$guest/lib"
  "${triple}-strip" --strip-debug -o "$target/${file##*/}" "$file" 2>/dev/null ||
    cp -L "$file" "$target/"
  while read -r name; do
    [[ ! -e $guest/lib/$name ]] || continue
    path=$(find_library "$root" "$triple" "$name")
    cp -L "$path" "$guest/lib/$name"
    copy_elf "$path" "$guest/lib" "$guest" "$root" "$triple"
  done < <(elf_needs "$file")
}

# make_initramfs GUEST_DIR OUT: packs the tree that the caller has filled.
make_initramfs() {
  local guest=$1 out=$2
  (cd "$guest" && find . -print0 | cpio --null -o -H newc --quiet | gzip -1) >"$out"
}
