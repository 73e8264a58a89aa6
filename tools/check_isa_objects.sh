#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails if an object compiled with ISA flags holds a weak or unique symbol: the linker may keep such
# a copy for the whole program, which then dies on a processor without that ISA. $1: a build folder.
set -euo pipefail
build=${1:-build/release}
list=$build/isa_objects.txt
if [ ! -f "$list" ]; then
  echo "check_isa_objects: $list is not there: configure and build first" >&2
  exit 2
fi
checked=0
bad=0
while IFS= read -r object; do
  [ -n "$object" ] || continue
  checked=$((checked + 1))
  if symbols=$(nm --defined-only "$object" | grep -E ' [WVu] ' | grep -v ' DW\.ref\.'); then
    printf '%s holds weak symbols:\n%s\n' "$object" "$symbols" >&2
    bad=1
  fi
done <"$list"
echo "check_isa_objects: $checked objects looked at"
exit "$bad"
