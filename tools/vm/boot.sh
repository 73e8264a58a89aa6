# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2054  # The commas belong to qemu's arguments.
# Sourced after lib.sh: one virtual machine of four CPUs on two NUMA nodes.

NUMA_MB=512

# KVM may be listed and still fail (nested or partial), so a machine with no disk is started: its
# BIOS finds nothing to boot and resets, which ends qemu.
kvm_works() {
  [[ -w /dev/kvm && $(uname -m) == "$1" ]] || return 1
  (exec timeout 10 "qemu-system-$1" -machine q35 -accel kvm -cpu host -nodefaults -display none \
    -no-reboot -boot reboot-timeout=0) >/dev/null 2>&1
}

# What the report says of where a guest ran.
emulator_name() {
  local version
  version=$("qemu-system-$1" --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
  echo "virtual machine, qemu-system-$1 $version, $ACCEL"
}

# machine_args LEG: sets MACHINE, and ACCEL and GUEST_CPU for the report.
machine_args() {
  local leg=$1 size="size=${NUMA_MB}M"
  ACCEL=tcg
  case $leg in
    x86_64)
      GUEST_CPU=max
      if [[ ${HALYARD_VM_ACCEL:-} != tcg ]] && kvm_works x86_64 2>/dev/null; then
        ACCEL=kvm GUEST_CPU=host
      fi
      MACHINE=(-machine q35 -smp "4,sockets=2,cores=2")
      ;;
    *)
      GUEST_CPU=neoverse-n1
      MACHINE=(-machine virt,gic-version=3 -smp "4,sockets=1,clusters=2,cores=2")
      ;;
  esac
  if [[ $ACCEL == tcg ]]; then MACHINE+=(-accel tcg,thread=multi); else MACHINE+=(-accel kvm); fi
  MACHINE+=(-cpu "$GUEST_CPU" -m $((2 * NUMA_MB))
    -object "memory-backend-ram,id=m0,$size" -object "memory-backend-ram,id=m1,$size"
    -numa "node,nodeid=0,cpus=0-1,memdev=m0" -numa "node,nodeid=1,cpus=2-3,memdev=m1"
    -numa "dist,src=0,dst=1,val=21" -nodefaults -display none)
}

# big_little_tree OUT: the device tree of the same machine with a second cluster of weaker cores.
# The capacities are those of a Cortex-A72/A53 board.
big_little_tree() {
  local out=$1 cpu capacity
  qemu-system-aarch64 "${MACHINE[@]}" -machine "dumpdtb=$out" >/dev/null 2>&1
  for cpu in 0 1 2 3; do
    capacity=1024
    ((cpu < 2)) || capacity=446
    fdtput -t i "$out" "/cpus/cpu@$cpu" capacity-dmips-mhz "$capacity"
  done
}

# boot LEG KERNEL INITRD CONSOLE_LOG DEADLINE_S: returns the status of qemu, 124 at the deadline.
boot() {
  local leg=$1 kernel=$2 initrd=$3 log=$4 deadline=$5 console=ttyAMA0 system=aarch64 extra=()
  if [[ $leg == x86_64 ]]; then console=ttyS0 system=x86_64; fi
  if [[ $leg == biglittle ]]; then
    big_little_tree "$log.dtb"
    extra=(-dtb "$log.dtb")
  fi
  timeout -k 5 "$deadline" "qemu-system-$system" "${MACHINE[@]}" "${extra[@]}" \
    -kernel "$kernel" -initrd "$initrd" -append "console=$console quiet panic=-1 rdinit=/init" \
    -no-reboot -serial "file:$log" </dev/null 2>"$log.qemu"
}
