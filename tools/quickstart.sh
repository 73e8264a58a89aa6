#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is needed, builds Halyard, and certifies the chip of this machine.
# Arguments go to `halyard certify`, such as --port sim_discrete or --levels hal,ops.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/install_packages.sh
echo "Building (about seven minutes on two cores, the first time) ..."
cmake --preset release >/dev/null
cmake --build --preset release --target halyard plugins
levels=(--levels hal)
[[ " $* " != *" --levels "* ]] || levels=()
status=0
build/release/bin/halyard certify --out build/report "${levels[@]}" "$@" || status=$?
[ "$status" -gt 1 ] || echo "Open build/report/report.html in a browser."
[ "${#levels[@]}" -eq 0 ] || echo "With operators and kernels, some two minutes more: build/release/bin/halyard certify --out build/report"
exit "$status"
