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

# Files above the first limit, each with its reason.
WAIVERS = {}

# Lines of code without tests and data; above 120 % an ADR must raise it.
FOLDER_BUDGETS = {"base": 1500, "hal": 6500, "ports": 6000, "facts": 1500, "conformance": 9000, "cli": 2000}


def kind_of(path: str) -> str:
    if path.startswith("tools/") or path.endswith((".sh", ".py")):
        return "script"
    if "/include/halyard/" in path:
        return "public"
    if path.endswith("_test.cc") or "_duties" in path:
        return "test"
    return "header" if path.endswith(".h") else "source"


def main() -> int:
    files = subprocess.run(["git", "ls-files", "*.c", "*.cc", "*.h", "*.sh", "*.py", "*.cmake"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split()
    faults, notes, totals = [], [], {}
    for path in files:
        if not (ROOT / path).exists():
            continue
        lines = len((ROOT / path).read_text().splitlines())
        kind = kind_of(path)
        ask, refuse = LIMITS[kind]
        if lines > refuse:
            faults.append(f"{path}: {lines} lines; a {kind} of more than {refuse} is refused")
        elif lines > ask and path not in WAIVERS:
            notes.append(f"{path}: {lines} lines; above {ask} a {kind} wants a reason in WAIVERS")
        if kind in ("header", "source", "public"):
            totals[path.split("/")[0]] = totals.get(path.split("/")[0], 0) + lines
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
