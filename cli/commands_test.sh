#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program as its users meet it: exit codes, messages, JSON that parses. $1: the program.
set -uo pipefail
halyard=$1
work=$(mktemp -d)
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
failures=0

# expect CODE PATTERN ARGS...: runs, compares the exit code, and looks for the pattern in the output.
expect() {
  local code=$1 pattern=$2
  shift 2
  local text status
  text=$("$halyard" "$@" 2>&1)
  status=$?
  if [ "$status" -ne "$code" ] || ! grep -qE -- "$pattern" <<<"$text"; then
    printf 'FAILED: halyard %s\n  exit %s, expected %s; expected text: %s\n%s\n' "$*" "$status" "$code" \
      "$pattern" "$(head -n 20 <<<"$text")"
    failures=$((failures + 1))
  fi
}

# expect_json FILTER ARGS...: standard output is one JSON document for which the Python test holds.
expect_json() {
  local filter=$1
  shift
  "$halyard" "$@" >"$work/out" 2>"$work/err"
  if ! python3 <"$work/out" -c "import json,sys; d=json.load(sys.stdin); sys.exit(0 if ($filter) else 1)"; then
    printf 'FAILED: halyard %s: JSON does not satisfy %s\n' "$*" "$filter"
    failures=$((failures + 1))
  fi
}

expect 0 'conform' --help
for command in info doctor conform certify explain new-port; do
  expect 0 '--json' "$command" --help
done
expect 0 '^halyard [0-9]' --version
expect 2 'See .halyard --help' # no command at all
expect 2 'did you mean conform' cnform
expect 2 'did you mean --port' info --prot linux
expect 2 'unknown flag --frobnicate' doctor --frobnicate
expect 2 'key=value' info --option novalue
expect 2 'i/n' conform --shard 5/2
expect 2 'level' conform --level bogus

expect 0 'Topology' info
expect_json "d['topology']['budget_millicpus'] >= 1 and d['ports']" info --json
expect 0 'sim_discrete' info --ports
expect 0 'Captured' info --capture "$work/here.topo"
expect 0 'Topology' info --system "$work/here.topo"
expect 2 'no_such_file' info --system "$work/no_such_file"

# Ports that cannot be.
expect 2 'no_such_port' info --port no_such_port
expect 2 'no_such.so' info --port "$work/no_such.so"
echo 'this is text' >"$work/text.so"
expect 2 'text.so' info --port "$work/text.so"
expect 2 'text.so' conform --port "$work/text.so"
expect_json "d['error']['exit_code'] == 2" info --json --port "$work/text.so"
expect 2 'no_such_device' info --device no_such_device

expect 0 'Findings' doctor --quick
expect_json "'findings' in d and d['summary']['error'] == 0" doctor --quick --json
expect 0 'GB/s' doctor --mib-per-thread 1 --runs 1
expect 0 'z14: IBM z14, chip sheet, named by you' doctor --quick --chip z14
expect 2 'no chip sheet .z15.; there are: a64fx ' doctor --quick --chip z15
expect 2 'no chip sheet .z15.; there are: a64fx ' certify --out "$work/report" --chip z15
expect 2 'no_such_chips' doctor --quick --chips "$work/no_such_chips"
mkdir "$work/chips"
printf 'schema: 1\nid: bad\nnames: Bad\n' >"$work/chips/bad.yaml"
expect 2 'bad.yaml: line 3: unknown key .names.' doctor --quick --chips "$work/chips"

expect 0 'HAL-MEM-03' conform --list
expect 0 'passed' conform --filter 'HAL-MEM-01:HAL-MEM-03'
expect_json "d['summary']['failed'] == 0 and d['summary']['passed'] > 0 and d['cases'][0]['id']" \
  conform --filter 'HAL-DEV-*' --json
expect 2 'no case fits' conform --filter 'NOTHING-*'

# What would be ignored is refused.
expect 2 '--op: of levels ops and graph' conform --op scale
expect 2 '--kernels: of levels ops and graph' conform --kernels "$work/no_such.so"
expect 2 '--modes: of level hal' conform --level ops --modes bare
expect 2 '--edge: of level ops' conform --level graph --edge X01
expect 2 'give one of them' conform --level ops --quick --full
expect 2 'nan is no number from' conform --deadline-scale nan
expect 2 'is no number from' conform --deadline-scale 1e300
expect 2 'nan is no number from' bench ops --op scale --seconds nan
expect 2 'there is no such edge' conform --level ops --op scale --edge X99
expect 2 'not in range 0 to' explain matmul --m -1
expect 2 'no deliberate fault fits' conform selftest --filter 'NOTHING*'
expect 0 'L1/selftest/K01.1' conform selftest --filter K01
expect 2 '--levels hal leaves out' certify --levels hal --kernels "$work/no_such.so"
expect 2 'no_such.so' certify --kernels "$work/no_such.so" --out "$work/report"
expect 2 'has the type f33' bench ops --types f33

# An id that is no case is wrong input, not a kernel that fails.
scale=/dist=uniform/lay=dense/seed=1/thr=1/kern=scale/any/reference@halyard
expect 0 'pass' conform replay "L1/scale/f32.f32/rows=2,cols=3,factor=0$scale"
expect 2 'scale has no size row' conform replay "L1/scale/f32.f32/row=2,cols=3,factor=0$scale"
expect 2 'name that with --kernels' conform replay "L1/scale/f32.f32/rows=2,cols=3,factor=0${scale/halyard/nobody}"
expect 2 'is negative' conform replay "L1/scale/f32.f32/rows=-2,cols=3,factor=0$scale"

# Level ops: reports, what changed, waivers, bundles.
expect 0 'L1 linux: [0-9]+ passed, 0 failed' conform --level ops --op scale --json-file "$work/scale.json" --html "$work/scale.html"
grep -q 'class="heat"' "$work/scale.html" || { echo 'FAILED: no matrix in the page'; failures=$((failures + 1)); }
expect 0 'Since the run of .*: 0 worse, 0 better' conform --level ops --op scale --diff "$work/scale.json"
expect 0 ': 0 worse, 0 better, 0 changed otherwise, 0 new, 0 gone' conform --level ops --op scale --jobs 1 --diff "$work/scale.json"
expect 0 'shard 1 of 2' conform --level ops --op scale --jobs 3 --shard 1/2 --json-file "$work/1.json"
expect 0 'shard 2 of 2' conform --level ops --op scale --jobs 1 --shard 2/2 --json-file "$work/2.json"
expect 0 ': 0 worse, 0 better, 0 changed otherwise, 0 new, 0 gone' conform merge "$work/1.json" "$work/2.json" --diff "$work/scale.json"
expect 2 'a shard is missing' conform merge "$work/1.json"
expect_json "d['diff']['worse'] == [] and d['coverage']['unshown'] == [] and d['summary']['holds']" \
  conform --level ops --op scale --diff "$work/scale.json" --json
expect 2 'no_such.json' conform --level ops --op scale --diff "$work/no_such.json"

# Golden packs.
pack=$work/scale.pack
expect 0 'Golden pack: .* sets of inputs, digest [0-9a-f]{64}' conform golden --op scale --jobs 3 --out "$pack"
expect 0 'Golden pack' conform golden --op scale --jobs 1 --out "$work/again.pack"
cmp -s "$pack" "$work/again.pack" || { echo 'FAILED: one process writes another pack than three'; failures=$((failures + 1)); }
expect 0 '[1-9][0-9]* the same bits, 0 within .*, 0 differ, 0 are not in the pack' conform golden --op scale --check "$pack"
expect 1 '[1-9][0-9]* are not in the pack' conform golden --op mul --check "$pack"
expect 0 ': [1-9][0-9]* cases were held against it, 0 against what was computed' conform --level ops --op scale --golden "$pack"
expect_json "int(d['facts']['golden_cases']) > 0 and d['facts']['golden_computed_cases'] == '0' and d['summary']['holds']" \
  conform --level ops --op scale --golden "$pack" --diff "$work/scale.json" --json
expect 0 ': 0 cases were held against it, [1-9]' conform --level ops --op mul --golden "$pack"
case_id=$(python3 -c "import json,sys; print(next(c['id'] for c in json.load(open(sys.argv[1]))['cases'] if c['facts'].get('mode') == 'E' and 'any/reference' in c['id']))" "$work/scale.json")
expect 0 'expected_by = pack' conform replay "$case_id" --golden "$pack"
head -c 5000 "$pack" >"$work/cut.pack"
expect 2 'cut.pack: the golden pack is cut or damaged' conform --level ops --op scale --golden "$work/cut.pack"
expect 2 'this is no golden pack' conform --level ops --op scale --golden "$work/scale.json"
expect 2 'cannot read the golden pack' conform --level ops --op scale --golden "$work/no_such.pack"
expect 2 'of level ops' conform --golden "$pack"
expect 2 '--out FILE .*or --check' conform golden
expect 2 'leave --shard out' conform golden --shard 1/2 --out "$pack"

waiver() { # waiver DAYS CASES: a file with one waiver that ends in so many days
  printf 'waivers:\n- {id: W-1, cases: "%s", kernel: "scale/*", reason: known, issue: "https://example.com/1", expires: %s, max_err_T: 2, approved_by: Jo}\n' \
    "$2" "$(date -u -d "$1 days" +%F)" >"$work/waivers.yaml"
}
waiver 30 'L1/scale/f32.f32/*'
expect 4 'waiver  W-1 speaks of cases that pass' conform --level ops --op scale --waivers "$work/waivers.yaml"
expect 2 'level ops' conform --waivers "$work/waivers.yaml"
waiver -1 'L1/scale/none/*'
expect 4 'waiver  W-1 is over' conform --level ops --op scale --waivers "$work/waivers.yaml"
waiver 200 'L1/scale/none/*'
expect 2 '180 days' conform --level ops --op scale --waivers "$work/waivers.yaml"
expect 2 'no file of waivers' conform --level ops --op scale --waivers "$work/no_such.yaml"
expect 1 'level: none' conform pack "$work/scale.json" --out "$work/bundle" --product P --contact jo@example.com
expect 1 'not of the whole list' conform verify "$work/bundle"
expect 1 'Spot check of [0-9]+ exact cases, seed 5' conform verify "$work/bundle" --spot-check --seed 5
expect 1 'L1 linux: [0-9]+ passed, 0 failed' conform verify "$work/bundle" --spot-check --seed 5
expect 2 'not an empty folder' conform pack "$work/scale.json" --out "$work/bundle" --product P --contact jo@example.com
(cd "$work/bundle" && sha256sum --quiet -c MANIFEST) || { echo 'FAILED: sha256sum on a manifest'; failures=$((failures + 1)); }
echo >>"$work/bundle/STATEMENT"
expect 1 'STATEMENT has another digest' conform verify "$work/bundle"
echo '[]' >"$work/list.json"
expect 2 'list.json: the document is no object' conform pack "$work/list.json" --out "$work/no" --product P --contact jo@example.com
expect 2 'there is no MANIFEST' conform verify "$work"
expect 2 'no bundle' conform verify "$work/acme_none"
expect 2 "'hal' and 'hal,ops'" certify --levels serve --out "$work/report"

# explain.
expect 0 'matmul' explain
expect 0 'chosen  rmsnorm/' explain rmsnorm --types f32 --dims rows=4,cols=64
expect 0 'the team lacks' explain rmsnorm --types f32 --isa none --workers 3
expect_json "d['case'].startswith('matmul/f32.q4_k.f32/M=1,N=512,K=1024') and len(d['candidates']) > 1 and all(c['reason'] for c in d['candidates'])" \
  explain matmul --m 1 --n 512 --k 1024 --types f32,q4_K --json
expect 0 'kept on the host, copied once' explain matmul --types f32,q8_0 --port sim_discrete --placement
expect 0 'host view' explain matmul --types f32,q8_0 --placement
expect 2 'leave --isa out' explain matmul --isa none --placement
expect 2 'did you mean matmul' explain matmull
expect 2 'no size bogus' explain matmul --dims bogus=3
expect 2 'there is no type' explain matmul --types f33
expect 2 'is no extension of' explain matmul --isa bogus
expect 2 'no_such.so' explain matmul --kernels "$work/no_such.so"

# new-port.
expect 0 'Made the port acme_x1' new-port acme_x1 --out "$work/acme_x1"
[ -f "$work/acme_x1/CMakeLists.txt" ] || { echo 'FAILED: no CMakeLists.txt in the new port'; failures=$((failures + 1)); }
if grep -rqi example "$work/acme_x1"; then echo 'FAILED: the word example is left in the new port'; failures=$((failures + 1)); fi
expect 2 'not an empty folder' new-port acme_x1 --out "$work/acme_x1"
expect 2 'lower-case' new-port 'Acme X1' --out "$work/bad"
expect 2 'built in' new-port linux --out "$work/bad"

# Model files.
printf 'GGUF\003\000\000\000' >"$work/cut.gguf"
expect 2 'the file ends in the number of tensors' inspect "$work/cut.gguf"
expect 2 'begins with' inspect "$0"
expect 2 'No such file' inspect "$work/none.gguf"
expect 2 'cut.gguf: not a valid GGUF file' tokenize --model "$work/cut.gguf" --text x
expect 2 '.model is required' tokenize --text x
expect 0 'qwen3, 0.1125 M' synth --arch qwen3 --vocab 300 --seed 3 --out "$work/m.gguf"
expect 2 "architecture 'mamba' cannot be run" synth --arch mamba --out "$work/x.gguf"
expect 2 'there is no such type of weights' synth --type q9 --out "$work/x.gguf"
expect 2 'there is no preset' synth --preset gpt --out "$work/x.gguf"
expect 2 'heads is 0' synth --heads 0 --out "$work/x.gguf"
expect 0 'blk.1.attn_q_norm.weight' inspect "$work/m.gguf"
expect_json "d['parameters'] > 1e5 and d['metadata']['general.architecture'] == 'qwen3'" inspect "$work/m.gguf" --json
expect 0 '256 72 73' tokenize --model "$work/m.gguf" --text 'hi'
expect_json "len(d['ids']) == 5 and d['prompt_tokens'] == 3 and d['share_of_roof'] >= 0" \
  run --model "$work/m.gguf" -p hi -n 5 --ignore-end --json
expect_json "len(d['ids']) == 7 and 'context' in d['end']" run --model "$work/m.gguf" -p hi -n 50 --context 9 --ignore-end --json
expect 2 'tokens do not fit: the context has 2' run --model "$work/m.gguf" -p hello --context 2
expect 2 'temperature is -1' run --model "$work/m.gguf" -p hi --temperature -1
expect 2 'there are f32, f16, bf16 and q8' run --model "$work/m.gguf" -p hi --kv-type q3
expect 2 'there is no chat format' chat --model "$work/m.gguf" --chat-template none

# A report folder that cannot be written to; root writes everywhere but here.
expect 3 'cannot' certify --quick --out /proc/halyard-report

[ "$failures" -eq 0 ] && echo 'all commands behave'
exit "$((failures > 0))"
