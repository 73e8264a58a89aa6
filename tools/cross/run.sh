#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Halyard for other instruction sets, runs its tests and its HAL contract under emulation of
# named chips, and writes one table. What it shows is behaviour, never speed.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tools/cross/lib.sh
. "$here/lib.sh"
# shellcheck source=tools/cross/legs.sh
. "$here/legs.sh"
# shellcheck source=tools/cross/build.sh
. "$here/build.sh"

SOURCE=${HALYARD_SOURCE:-$HALYARD_ROOT}
JOBS=${HALYARD_JOBS:-$(nproc)}
TEST_TIMEOUT=${HALYARD_TEST_TIMEOUT:-900}
# The suite has a deadline for each case itself; this one is for a program that hangs as a whole.
CONTRACT_TIMEOUT=${HALYARD_CONTRACT_TIMEOUT:-1800}
# Which part of the operators' cases (level ops) each leg runs; "none" for no part.
OPS_SHARD=${HALYARD_OPS_SHARD:-1/16}
# More hangs of one leg tell nothing new, and each costs a whole time-out.
MAX_HANGS=3
# Unit tests that go over the lists of cases take every n-th.
export HALYARD_CASE_STEP=${HALYARD_CASE_STEP:-4}

usage() {
  cat <<'TEXT'
usage: tools/cross/run.sh [--quick | --list] [--repeat-team N] [--no-build] [LEG...]
  LEG              ARCH or ARCH:CPU, e.g. aarch64:cortex-a72, riscv64:v=true,vlen=128
  --quick          a subset for every push
  --list           print the default legs and the CPU each uses
  --repeat-team N  instead of all tests: those labelled 'team', N rounds a leg, counting hangs
  --no-build       use what is built already
Environment: HALYARD_SYSROOT_DIR, HALYARD_JOBS, HALYARD_TEST_TIMEOUT (seconds that a test may be silent, 900),
HALYARD_CONTRACT_TIMEOUT (1800), HALYARD_OPS_SHARD (part of level ops, 1/16, or none),
HALYARD_SOURCE (source folder, default this one).
With a native build in build/release, what kernels must give is computed by it.
Report: build/cross-report/report.{json,md}, logs beside it.
Exit: 0 all legs passed, 1 a leg failed, 2 usage, 3 cannot run here.
TEXT
}

list_legs() {
  local leg
  for leg in "${DEFAULT_LEGS[@]}"; do
    printf '%-26s QEMU_CPU=%s\n' "$leg" "$(leg_cpu "$leg")"
  done
}

report() { python3 "$here/report.py" "$@"; }

# Unit tests of a leg, but those of minutes (label slow): a JUnit file and console log under the
# leg's folder.
run_units() {
  local dir=$1 tests=$2
  shift 2
  "$here/units.py" "$tests" "$dir" -j "$JOBS" --timeout "$TEST_TIMEOUT" "$@" >"$dir/units.log" || true
}

# HAL contract of a leg. Its exit status goes to l0.rc: a crash may leave no JSON.
run_contract() {
  local arch=$1 dir=$2 rc=0 emulator
  read -r -a emulator <<<"$(leg_emulator "$arch")"
  timeout -k 5 "$CONTRACT_TIMEOUT" "${emulator[@]}" "$(leg_build "$arch")/bin/halyard" conform \
    --level hal --port linux --json >"$dir/l0.json" 2>"$dir/l0.log" </dev/null || rc=$?
  echo "$rc" >"$dir/l0.rc"
}

# What kernels must give, computed natively once: emulated references are some thirty times slower.
write_golden() {
  local native=$SOURCE/build/release/bin/halyard pack=$REPORT/golden.pack
  [[ $OPS_SHARD != none ]] && ((!REPEAT)) || return 0
  if [[ ! -x $native ]]; then
    say "no native build in $native, so that references are emulated"
  elif ! "$native" conform golden --out "$pack" >"$REPORT/golden.log" 2>&1; then
    say "no golden pack, so that references are emulated; see $REPORT/golden.log"
  else
    GOLDEN=(--golden "$pack")
  fi
}

# A shard of the operators' cases: all of them take hours under an emulator.
run_ops() {
  local arch=$1 dir=$2 rc=0 emulator
  [[ $OPS_SHARD != none ]] || return 0
  read -r -a emulator <<<"$(leg_emulator "$arch")"
  timeout -k 5 "$CONTRACT_TIMEOUT" "${emulator[@]}" "$(leg_build "$arch")/bin/halyard" conform \
    --level ops --port linux --shard "$OPS_SHARD" "${GOLDEN[@]}" --json >"$dir/l1.json" 2>"$dir/l1.log" \
    </dev/null || rc=$?
  echo "$rc" >"$dir/l1.rc"
}

# Rounds of the team tests; one line 'hangs failures tests' a round.
run_team_rounds() {
  local dir=$1 tests=$2 round hangs=0
  : >"$dir/rounds"
  for ((round = 1; round <= REPEAT; round++)); do
    run_units "$dir" "$tests" --label '^team$'
    report round "$dir" >>"$dir/rounds"
    hangs=$(awk '{ n += $1 } END { print n }' "$dir/rounds")
    ((hangs < MAX_HANGS)) || break
  done
}

run_leg() {
  local leg=$1 arch dir tests start=$SECONDS cpu
  arch=$(leg_arch "$leg")
  cpu=$(leg_cpu "$leg")
  dir=$REPORT/$(leg_slug "$leg")
  rm -rf "$dir"
  mkdir -p "$dir"
  if [[ ${BUILT[$arch]} == ok ]]; then
    say "$leg: testing with QEMU_CPU=$cpu"
    tests=$(leg_build "$arch")
    [[ $arch != x86_64 ]] || tests=$(x86_test_dir "$tests")
    export QEMU_CPU=$cpu
    if ((REPEAT)); then
      run_team_rounds "$dir" "$tests"
    else
      run_units "$dir" "$tests"
      run_contract "$arch" "$dir"
      run_ops "$arch" "$dir"
    fi
    unset QEMU_CPU
  fi
  report leg "$dir" --leg "$leg" --cpu "$cpu" --build "${BUILT[$arch]}" --rounds "$REPEAT" \
    --seconds $((SECONDS - start)) --emulator "$("$(find_qemu "$arch")" --version | sed '1!d;s/ (.*//')"
}

parse() {
  while (($#)); do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --list) list_legs; exit 0 ;;
      --quick) LEGS+=("${QUICK_LEGS[@]}") ;;
      --no-build) BUILD=0 ;;
      --repeat-team)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "$EXIT_USAGE" "--repeat-team needs a count"
        REPEAT=$2
        shift
        ;;
      -*) usage >&2; die "$EXIT_USAGE" "unknown option '$1'" ;;
      *) default_cpu "$(leg_arch "$1")" >/dev/null; LEGS+=("$1") ;;
    esac
    shift
  done
  ((${#LEGS[@]})) || LEGS=("${DEFAULT_LEGS[@]}")
}

main() {
  local leg arch
  LEGS=() GOLDEN=() REPEAT=0 BUILD=1 REPORT=$SOURCE/build/cross-report
  declare -gA BUILT=()
  parse "$@"
  mkdir -p "$REPORT"
  [[ -f $SOURCE/CMakeLists.txt ]] ||
    die "$EXIT_CANNOT" "nothing to build: no $SOURCE/CMakeLists.txt"
  for leg in "${LEGS[@]}"; do
    arch=$(leg_arch "$leg")
    [[ -z ${BUILT[$arch]:-} ]] || continue
    have_tools "$arch" ||
      die "$EXIT_CANNOT" "compiler or emulator missing; run tools/cross/setup.sh ${arch/x86_64/}"
    BUILT[$arch]=ok
    ((!BUILD)) || build_arch "$arch" "$REPORT/build-$arch.log" || BUILT[$arch]=failed
  done
  write_golden
  for leg in "${LEGS[@]}"; do run_leg "$leg"; done
  report render "$REPORT" "${LEGS[@]/#/--leg=}" || exit "$EXIT_FAILED"
}

main "$@"
