# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after lib.sh: the emulated legs. A leg is ARCH:CPU, where CPU is what qemu calls the chip,
# with a few short forms. Each leg stands for chips that differ in what dispatch must choose.

# shellcheck disable=SC2034,SC2054  # Used by run.sh; the commas belong to the names.
DEFAULT_LEGS=(
  aarch64:cortex-a72      # v8.0, neither dotprod nor fp16: boards, first Graviton
  aarch64:neoverse-n1     # dotprod and fp16, no SVE: Altra, Graviton2
  aarch64:max,sve256      # SVE2 at 256 bits, i8mm, bf16: nearest to Graviton3 and later
  s390x:max               # big-endian
  ppc64le:power9          # VSX, 64 KiB pages on real machines
  riscv64:rv64            # no vector unit
  riscv64:v=true,vlen=256 # RVV 1.0
  armhf:cortex-a15        # 32-bit pointers and long
  x86_64:Nehalem          # x86-64-v2
  x86_64:Haswell          # x86-64-v3
)
# What a push can afford: one weakly-featured ARM server and the big-endian machine.
# shellcheck disable=SC2034
QUICK_LEGS=(aarch64:neoverse-n1 s390x:max)

default_cpu() {
  case $1 in
    aarch64) echo neoverse-n1 ;;
    riscv64) echo rv64 ;;
    ppc64le) echo power9 ;;
    s390x) echo max ;; # The named models need features that TCG lacks.
    armhf) echo cortex-a15 ;;
    x86_64) echo Haswell ;;
    *) die "$EXIT_USAGE" "unknown architecture '$1'; known: ${HALYARD_ARCHES[*]} x86_64" ;;
  esac
}

leg_arch() { echo "${1%%:*}"; }

# Value of QEMU_CPU for a leg.
leg_cpu() {
  local arch=${1%%:*} cpu=""
  [[ $1 != *:* ]] || cpu=${1#*:}
  [[ -n $cpu ]] || cpu=$(default_cpu "$arch")
  case $arch:$cpu in
    riscv64:rv64) cpu="rv64,v=false" ;;
    riscv64:v=*) cpu="rv64,$cpu" ;;
    # TCG has no TSX, and would say so on standard error for each new thread, which may not be
    # taken for words of the port.
    x86_64:Haswell) cpu="Haswell,hle=off,rtm=off" ;;
  esac
  # sve256 is short for sve256=on.
  sed -E 's/,(sve[0-9]+)(,|$)/,\1=on\2/g' <<<"$cpu"
}

# File-name form of a leg.
leg_slug() { tr -c 'A-Za-z0-9\n' '-' <<<"$1"; }

# Configured build folder of an architecture. The x86 legs emulate older chips on the native build.
leg_build() {
  if [[ $1 == x86_64 ]]; then echo "$SOURCE/build/release"; else echo "$SOURCE/build/cross-$1"; fi
}

# Command prefix that runs a program of an architecture.
leg_emulator() {
  local arch=$1 qemu
  qemu=$(find_qemu "$arch")
  [[ -n $qemu ]] || die "$EXIT_CANNOT" "no $(qemu_name "$arch"); run tools/cross/setup.sh $arch"
  if [[ $arch == x86_64 ]]; then echo "$qemu"; else echo "$qemu -L $(sysroot_dir "$arch")"; fi
}
