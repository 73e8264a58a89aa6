#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the README: its two commands, from a clone, in a bare Debian made with debootstrap.
# Usage: tools/newcomer.sh [SUITE]   SUITE: bookworm (Debian 12, the default) or trixie (Debian 13).
# Needs root. The system is made anew each time in a temporary folder and removed at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite=${1:-bookworm}
if [ "$(id -u)" -ne 0 ]; then
  echo "newcomer: needs root (debootstrap and chroot)" >&2
  exit 3
fi
command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -y -q debootstrap; } >/dev/null

# The mirror that this machine uses, whatever it is called here.
# shellcheck disable=SC2016  # apt expands these, not the shell
mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
  awk '$2 == "main" && $1 !~ /security/ {print $1; exit}')
[ -n "$mirror" ] || { echo "newcomer: apt has no Debian mirror configured" >&2; exit 3; }

root=$(mktemp -d "${TMPDIR:-/var/tmp}/newcomer.XXXXXX")
cleanup() {
  umount -l "$root/proc" "$root/sys" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT

echo "Making a bare $suite ..."
debootstrap --variant=minbase --include=ca-certificates,git "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
  { tail "$root.log" >&2; exit 3; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
# How this machine's apt reaches its mirror (a proxy, certificates) is no part of what is proven.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
cp -r /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null || true
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true
printf 'deb %s %s main\n' "$mirror" "$suite" >"$root/etc/apt/sources.list"

git clone -q "file://$PWD" "$root/root/halyard"
for command in "tools/quickstart.sh" "tools/test.sh"; do
  began=$SECONDS
  echo "--- $command"
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$root" sh -c "cd /root/halyard && $command"
  echo "--- $command: $((SECONDS - began)) s on a bare $suite"
done
