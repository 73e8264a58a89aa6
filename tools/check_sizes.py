#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a file outgrows its kind, or a folder its budget. Aims are in CONTRIBUTING.md."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Kind -> lines at which a reason is asked for, lines that are refused.
LIMITS = {"public": (500, 900), "header": (250, 400), "test": (500, 800), "source": (400, 600),
          "script": (300, 500)}

# Files above a limit, each with its reason.
WAIVERS = {
    "base/simd/a8.h": "quantised activations of one ISA after the other, so that they can be compared",
    "base/simd/blocks.h": "the block formats' decoders for vectors, a format after the other",
    "base/simd/tile_neon.h": "all primitives of one ISA, with and without matrix products",
    "ops/matmul/packed_formats.h": "one struct a format; what they share is in packed_blocks_*.h",
    "conformance/child.cc": "one child process, from its fork to its verdict",
    "conformance/hal/error_duties.cc": "one test a duty of one area; splitting would hide the list",
    "hal/device.h": "the whole C++ interface in one sitting",
    "hal/pages_test.cc": "one fixture that reserves and restores huge pages serves all cases",
    "tools/check_chips.py": "the schema of the sheets, as data",
    "tools/check_fixtures.py": "an oracle on purpose apart from the reader: parser and rules of its own",
}

# Lines of code, without blank lines, comments, tests and data. Above 120 % an ADR must raise it
# (docs/adr/0008, 0009, 0017 and 0018 set these).
FOLDER_BUDGETS = {"base": 2900, "hal": 10500, "ports": 3100, "facts": 2600, "ops": 9500, "reference": 3000,
                  "registry": 3700, "bench": 800, "engine": 9000, "conformance": 18000, "cli": 3600}


def kind_of(path: str) -> str:
    if path.startswith("tools/") or path.endswith((".sh", ".py")):
        return "script"
    if "/include/halyard/" in path:
        return "public"
    if path.endswith("_test.cc") or "_duties" in path:
        return "test"
    return "header" if path.endswith(".h") else "source"


def is_test(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return path.endswith("_test.cc") or "/testdata/" in path or name.startswith(("test_", "fake_"))


def code_lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith(("//", "/*", "*")))


def main() -> int:
    files = subprocess.run(["git", "ls-files", "*.c", "*.cc", "*.h", "*.sh", "*.py", "*.cmake"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split()
    faults, notes, totals = [], [], {}
    for path in files:
        if not (ROOT / path).exists():
            continue
        text = (ROOT / path).read_text()
        lines = len(text.splitlines())
        kind = kind_of(path)
        ask, refuse = LIMITS[kind]
        if lines > refuse and path not in WAIVERS:
            faults.append(f"{path}: {lines} lines; a {kind} of more than {refuse} is refused")
        elif lines > ask and path not in WAIVERS:
            notes.append(f"{path}: {lines} lines; above {ask} a {kind} wants a reason in WAIVERS")
        if not is_test(path) and kind != "script":
            folder = path.split("/")[0]
            totals[folder] = totals.get(folder, 0) + code_lines(text)
    for folder, budget in FOLDER_BUDGETS.items():
        if totals.get(folder, 0) > budget * 1.2:
            faults.append(f"{folder}: {totals[folder]} lines; its budget is {budget} (+20 %)")
    for line in notes:
        print("note:", line)
    print("\n".join(faults) or f"check_sizes: {len(files)} files, " +
          ", ".join(f"{k} {v}" for k, v in sorted(totals.items())))
    return 1 if faults or notes else 0


if __name__ == "__main__":
    sys.exit(main())
