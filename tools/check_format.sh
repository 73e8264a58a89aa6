#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails if a C or C++ file is not as clang-format 14 writes it; --fix rewrites them. Other versions
# of clang-format differ in details, so they are refused rather than believed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

formatter=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$formatter" ] || ! "$formatter" --version | grep -q 'version 14\.'; then
  echo "check_format: skipped: needs clang-format 14 (Debian 12)"
  exit 0
fi
mapfile -t files < <(git ls-files '*.c' '*.cc' '*.h')
if [ "${1:-}" = --fix ]; then
  "$formatter" -i "${files[@]}"
else
  "$formatter" --dry-run -Werror "${files[@]}"
  echo "check_format: ${#files[@]} files are in form"
fi
