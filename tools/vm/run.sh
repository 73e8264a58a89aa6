#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves memory placement, huge pages, thread binding and topology in virtual machines with two
# NUMA nodes (and, for biglittle, two kinds of cores). User-mode emulation answers ENOSYS to all of
# these, and few build machines have two nodes.
set -euo pipefail

# What runs in the guest: NAME=COMMAND. A command that prints a conformance document is counted.
# The deadlines assume a real machine; the guest's four CPUs may be interpreted on two.
PROGRAMS=(
  "info=halyard info --json"
  "conform=halyard conform --level hal --port linux --json --deadline-scale 20 \
    --filter 'HAL-MEM-*:HAL-TEAM-*:HAL-TOP-*'"
)
HUGE_PAGES=32 # of 2 MiB, on each node

here=$(dirname "${BASH_SOURCE[0]}")
for part in ../cross/lib ../cross/apt ../cross/legs ../cross/build image boot; do
  # shellcheck disable=SC1090
  . "$here/$part.sh"
done

SOURCE=${HALYARD_SOURCE:-$HALYARD_ROOT}
# shellcheck disable=SC2034  # Used by build.sh.
JOBS=${HALYARD_JOBS:-$(nproc)}
DEADLINE=${HALYARD_VM_DEADLINE:-240}
CACHE=$HALYARD_ROOT/build/vm
REPORT=$SOURCE/build/vm-report

usage() {
  cat <<'TEXT'
usage: tools/vm/run.sh [OPTIONS] [x86_64 | arm64 | biglittle | all]...
  --program NAME=COMMAND  run this in the guest instead of the default list (repeatable)
  --extra FILE            put one more program into the guest's PATH (repeatable)
  --no-build              use what is built already
  --keep-console          print the guest's console when a leg fails
Environment: HALYARD_VM_DEADLINE (seconds a boot, 240), HALYARD_VM_ACCEL=tcg (no KVM),
HALYARD_SOURCE, HALYARD_JOBS, HALYARD_SYSROOT_DIR.
Report: build/vm-report/LEG.json, console log and report.md beside it.
Exit: 0 all legs passed, 1 a leg failed, 2 usage, 3 cannot run here.
TEXT
}

guest_arch() { if [[ $1 == x86_64 ]]; then echo x86_64; else echo aarch64; fi; }

check_host() {
  local leg=$1 arch tool
  arch=$(guest_arch "$leg")
  for tool in "qemu-system-$arch" cpio gzip readelf python3 apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || die "$EXIT_CANNOT" "no $tool; run tools/vm/setup.sh"
  done
  if [[ $leg == biglittle ]]; then
    command -v fdtput >/dev/null || die "$EXIT_CANNOT" "no fdtput; run tools/vm/setup.sh"
  fi
  [[ $arch == aarch64 || $(uname -m) == x86_64 ]] ||
    die "$EXIT_CANNOT" "the x86_64 leg runs the native build, so it needs an x86-64 host"
}

# Fills the guest's tree: busybox, init, the programs and all libraries they need.
fill_guest() {
  local arch=$1 guest=$2 build root="" triple program extra plugin
  build=$(leg_build "$arch")
  triple=$(gnu_triple "$arch")
  [[ $arch == x86_64 ]] || root=$(sysroot_dir "$arch")
  mkdir -p "$guest"/{bin,lib,etc/halyard}
  ln -s lib "$guest/lib64"
  cp "$CACHE/$arch/busybox" "$guest/bin/busybox"
  install -m 755 "$here/init.sh" "$guest/init"
  for extra in "$build/bin/halyard" "${EXTRA[@]}"; do
    copy_elf "$extra" "$guest/opt/halyard/bin" "$guest" "$root" "$triple"
  done
  for plugin in "$build"/lib/halyard/ports/*.so; do
    [[ ! -e $plugin ]] || copy_elf "$plugin" "$guest/opt/halyard/lib/halyard/ports" "$guest" \
      "$root" "$triple"
  done
  echo "HUGE_PAGES=$HUGE_PAGES PROGRAM_SECONDS=$((DEADLINE / 2))" >"$guest/etc/halyard/settings"
  for program in "${PROGRAMS[@]}"; do
    echo "${program%%=*} ${program#*=}"
  done >"$guest/etc/halyard/programs"
}

# boot_and_judge LEG ARCH INITRD: writes LEG.json; returns its verdict.
boot_and_judge() {
  local leg=$1 arch=$2 initrd=$3 rc=0 started deadline=$DEADLINE
  machine_args "$leg"
  # A guest that KVM runs is through in seconds; one that hangs must not cost a whole deadline.
  [[ $ACCEL != kvm ]] || deadline=$(((DEADLINE + 3) / 4))
  say "$leg: booting ($ACCEL, cpu $GUEST_CPU, initramfs $(du -h "$initrd" | cut -f1))"
  started=$(date +%s.%N)
  boot "$leg" "$CACHE/$arch/vmlinuz" "$initrd" "$REPORT/$leg.console" "$deadline" || rc=$?
  if [[ $ACCEL == kvm ]] && ! grep -q '^HALYARD-FACT' "$REPORT/$leg.console"; then
    say "$leg: the guest does not come up under KVM, trying again without"
    HALYARD_VM_ACCEL=tcg boot_and_judge "$leg" "$arch" "$initrd"
    return
  fi
  python3 "$here/verdict.py" leg "$REPORT/$leg.console" "$REPORT/$leg.json" --leg "$leg" \
    --accel "$ACCEL" --cpu "$GUEST_CPU" --emulator "$(emulator_name "$arch")" \
    --qemu-rc "$rc" --started "$started" --huge-pages "$HUGE_PAGES" "${PROGRAMS[@]/#/--program=}"
}

# Runs in a subshell of its own, so that any error ends this leg only.
run_leg() {
  local leg=$1 arch
  arch=$(guest_arch "$leg")
  WORK=$(mktemp -d)
  trap 'rm -rf "$WORK"' EXIT
  fetch_guest "$arch" "$CACHE/$arch"
  fill_guest "$arch" "$WORK/guest"
  make_initramfs "$WORK/guest" "$WORK/initrd"
  boot_and_judge "$leg" "$arch" "$WORK/initrd"
}

parse() {
  local custom=()
  while (($#)); do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --no-build) BUILD=0 ;;
      --keep-console) KEEP=1 ;;
      --program | --extra)
        (($# > 1)) || die "$EXIT_USAGE" "$1 needs a value"
        if [[ $1 == --extra ]]; then EXTRA+=("$2"); else custom+=("$2"); fi
        shift
        ;;
      x86_64 | arm64 | biglittle) LEGS+=("$1") ;;
      all) LEGS+=(x86_64 arm64 biglittle) ;;
      *) usage >&2; die "$EXIT_USAGE" "unknown argument '$1'" ;;
    esac
    shift
  done
  ((${#LEGS[@]})) || LEGS=(x86_64 arm64 biglittle)
  ((!${#custom[@]})) || PROGRAMS=("${custom[@]}")
}

main() {
  local leg arch rc failed=0
  LEGS=() EXTRA=() BUILD=1 KEEP=0
  declare -A seen=()
  parse "$@"
  mkdir -p "$REPORT" "$CACHE"
  for leg in "${LEGS[@]}"; do
    check_host "$leg"
    arch=$(guest_arch "$leg")
    if ((BUILD)) && [[ -z ${seen[$arch]:-} ]]; then
      seen[$arch]=1
      have_tools "$arch" || die "$EXIT_CANNOT" "no compiler; run tools/cross/setup.sh $arch"
      build_arch "$arch" "$REPORT/build-$arch.log" || exit "$EXIT_FAILED"
    fi
  done
  for leg in "${LEGS[@]}"; do
    rm -f "$REPORT/$leg".*
    # Not in a condition: that would switch off errexit inside.
    set +e
    (set -e && run_leg "$leg")
    rc=$?
    set -e
    ((rc)) || continue
    failed=1
    ((!KEEP)) || cat "$REPORT/$leg.console" >&2
  done
  python3 "$here/verdict.py" render "$REPORT" "${LEGS[@]}"
  exit "$failed"
}

main "$@"
