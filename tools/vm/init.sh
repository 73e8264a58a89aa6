#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# Process 1 of the guest. Mounts first and starts programs afterwards: libnuma reads /sys in a
# constructor, so a program that mounted by itself would see one node.

/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox --install -s /bin
export PATH=/opt/halyard/bin:/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
dmesg -n 1 # Kernel lines would land inside the documents.

# shellcheck source=/dev/null
. /etc/halyard/settings # HUGE_PAGES (2 MiB pages a node), PROGRAM_SECONDS

# With "always" an interleaved buffer alternates per 2 MiB, not per page.
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
for node in /sys/devices/system/node/node[0-9]*; do
  echo "$HUGE_PAGES" >"$node/hugepages/hugepages-2048kB/nr_hugepages"
done

fact() { echo "HALYARD-FACT $1 $2"; }
fact kernel "$(uname -r)"
fact cpus "$(cat /sys/devices/system/cpu/online)"
fact nodes "$(cat /sys/devices/system/node/online)"
fact distances "$(cat /sys/devices/system/node/node*/distance | tr '\n' ',')"
fact huge_pages "$(cat /sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages |
  tr '\n' ' ')"
fact capacities "$(cat /sys/devices/system/cpu/cpu*/cpu_capacity 2>/dev/null | tr '\n' ' ')"
fact uptime "$(cut -d' ' -f1 /proc/uptime)"

# show NAME STREAM FILE: the length lets the host tell a torn document from a short one.
show() {
  echo "HALYARD-BEGIN $1 $2 $(wc -c <"$3")"
  cat "$3"
  echo
  echo "HALYARD-END $1 $2"
}

while read -r name command; do
  started=$(cut -d' ' -f1 /proc/uptime)
  timeout "$PROGRAM_SECONDS" sh -c "$command" >/tmp/out 2>/tmp/err </dev/null
  rc=$?
  fact "program.$name" "$rc $started $(cut -d' ' -f1 /proc/uptime)"
  show "$name" out /tmp/out
  show "$name" err /tmp/err
done </etc/halyard/programs

echo "HALYARD-DONE"
poweroff -f
