#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/kernels.md, "ops x types x kernels x where proven", from docs/kernels.json.

kernel_table.py                  writes the page
kernel_table.py --check          fails if it is out of step
kernel_table.py --take FILE...   takes what JSON documents of `halyard conform --level ops` show into
                                 docs/kernels.json, in place of what their machines showed before, then writes the page

A kernel is proven for types where a case of them passed that is exact or not weak, and none failed.
"""

import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/kernels.json"
PAGE = ROOT / "docs/kernels.md"
FAILED = {"fail", "crash", "timeout", "xpass", "fail_nondeterministic", "memory_violation", "abi_violation",
          "toolchain_fault"}
# Cases of no kernel: checks of the op itself, and runs by the registry of whatever it selects.
NOT_KERNELS = {"none", "auto", "device"}
HEAD = """# Kernels, and where each is proven

Written by `tools/kernel_table.py` from `docs/kernels.json`; do not edit. A letter stands for a machine on which a
case of those types passed at level ops, exactly or within a bound that would have shown one lost term, and none
failed. Emulated is never "measured".

| | Machine | How | Compiler | Cases passed | Seen |
|---|---|---|---|---|---|
"""


def machine_of(document):
    """The name that a run's results go by: one machine, or one emulated processor."""
    facts = document["facts"]
    emulated = facts["emulated"] != "no"
    name = facts.get("emulated_cpu", facts["machine"]) if emulated else facts["machine"]
    return {"name": f"{facts['arch']}, {name}", "how": "emulated (qemu-user)" if emulated else "hardware", "compiler": facts["compiler"],
            "seen": document["started_utc"][:10], "passed": document["summary"]["passed"]}


def proven_in(document):
    """{(op, kernel): {types}} of one run."""
    good, bad = collections.defaultdict(set), collections.defaultdict(set)
    for case in document["cases"]:
        if case["mode"] in NOT_KERNELS or "/check=" in case["id"]:
            continue
        key = (case["duty"], case["mode"])
        if case["verdict"] in FAILED:
            bad[key].add(case["title"])
        elif case["verdict"] == "pass" and case["facts"].get("mode") in ("E", "B"):
            good[key].add(case["title"])
    return {key: types - bad[key] for key, types in good.items()}


def take(data, paths):
    fresh = {}
    for path in paths:
        document = json.loads(pathlib.Path(path).read_text())
        if document.get("level") != "L1":
            sys.exit(f"{path}: not a document of `halyard conform --level ops`")
        machine = machine_of(document)
        name = f"{machine['name']} / {machine['how']}"
        if name not in fresh:
            fresh[name] = machine | {"passed": 0, "proven": collections.defaultdict(set)}
        fresh[name]["passed"] += machine["passed"]
        for (op, kernel), types in proven_in(document).items():
            fresh[name]["proven"][f"{op} {kernel}"] |= types
    for name, machine in fresh.items():
        machine["proven"] = {key: sorted(types) for key, types in sorted(machine["proven"].items()) if types}
        data[name] = machine
    return data


def letter(index):
    return chr(ord("A") + index) if index < 26 else f"A{chr(ord('A') + index - 26)}"


def page_of(data):
    letters = {name: letter(i) for i, name in enumerate(sorted(data))}
    text = HEAD
    rows = collections.defaultdict(lambda: collections.defaultdict(set))  # op -> (kernel, types) -> letters
    for name in sorted(data):
        machine = data[name]
        text += (f"| {letters[name]} | {machine['name']} | {machine['how']} | {machine['compiler']} | "
                 f"{machine['passed']} | {machine['seen']} |\n")
        for key, types in machine["proven"].items():
            op, kernel = key.split(" ", 1)
            for one in types:
                rows[op][(kernel, one)].add(letters[name])
    for op in sorted(rows):
        text += f"\n## {op}\n\n| Kernel | Types, and where they are proven |\n|---|---|\n"
        kernels = collections.defaultdict(lambda: collections.defaultdict(list))
        for (kernel, types), where in rows[op].items():
            kernels[kernel][" ".join(sorted(where, key=lambda one: (len(one), one)))].append(types)
        for kernel in sorted(kernels):
            cells = [f"**{where}** " + ", ".join(f"`{one}`" for one in sorted(types))
                     for where, types in sorted(kernels[kernel].items())]
            text += f"| `{kernel}` | {'<br>'.join(cells)} |\n"
    return text


def main():
    data = json.loads(DATA.read_text()) if DATA.exists() else {}
    if sys.argv[1:2] == ["--take"]:
        data = take(data, sys.argv[2:])
        DATA.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    page = page_of(data)
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page:
            sys.exit("docs/kernels.md is out of step: run tools/kernel_table.py")
        return
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
