#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a Markdown table of the chip sheets in ports/chips.

A document holds the table between two marker lines; --write puts it there, --check fails if what
stands there is not what the sheets say now.

Needs PyYAML (Debian: python3-yaml). Exit status: 0 good, 1 the table is stale, 2 wrong usage or no
PyYAML.

usage: chips_table.py [--check FILE | --write FILE]
"""

import difflib
import pathlib
import sys

try:
    import yaml
except ImportError:
    print("chips_table.py needs PyYAML: apt-get install python3-yaml", file=sys.stderr)
    sys.exit(2)

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN = "<!-- chips-table: made by tools/chips_table.py -->"
END = "<!-- chips-table: end -->"
UNKNOWN = "unknown"

# Words that kernels choose by, widest first; the rest of a sheet's list is for matching.
OF_NOTE = {
    "x86_64": "amx_int8 avx512_bf16 avx512_vnni avx512f avx_vnni avx2 sse4_2",
    "aarch64": "sme sve2 sve svei8mm i8mm bf16 asimddp asimdhp asimd",
    "riscv64": "v zvfh zvfbfwma zba zbb",
    "ppc64le": "mma arch_3_1 vsx",
    "s390x": "nnpa vxe2 vxe vx",
    "armv7l": "asimddp neon vfpv4",
    "loongarch64": "lasx lsx",
}
# What a better word brings with it need not be said too.
IMPLIED = {
    "avx512f": "avx2 sse4_2", "avx2": "sse4_2", "asimddp": "asimd", "asimdhp": "asimd", "sve2": "sve asimdhp asimddp",
    "svei8mm": "i8mm", "mma": "vsx", "vxe": "vx", "vxe2": "vxe vx", "lasx": "lsx", "zvfh": "zba zbb",
}
HOW = {"hardware": "measured on silicon", "none": "not checked"}


def cores(sheet):
    parts = []
    for one in sheet["core_classes"]:
        count = "" if one["count"] == UNKNOWN else f"{one['count']} x "
        threads = f", {one['smt']} threads a core" if one["smt"] > 1 else ""
        clock = "" if one["max_mhz"] == UNKNOWN else f", {one['max_mhz'] / 1000:g} GHz"
        parts.append(f"{count}{one['microarchitecture']}{clock}{threads}")
    return "<br>".join(parts) or "any"


def isa(sheet):
    present = [word for word in OF_NOTE[sheet["match"]["arch"]].split() if word in sheet["isa"]]
    implied = {word for one in present for word in IMPLIED.get(one, "").split()}
    words = []
    for word in present:
        if word in implied:
            continue
        bits = sheet["vector_bits"].get(word)
        words.append(f"{word} ({bits} bits)" if bits else word)
    absent = [item["word"] for item in sheet["isa_absent"] if item["word"] in OF_NOTE[sheet["match"]["arch"]].split()]
    text = ", ".join(words)
    return f"{text}; no {', '.join(absent)}" if absent else text


def bandwidth(sheet):
    parts = []
    for item in sheet["memory"]:
        rate = item["theoretical_gb_s"]
        about = item["type"]
        if UNKNOWN not in (item["channels"], item["mt_s"]):
            about = f"{item['channels']} x {item['type']}-{item['mt_s']}"
        if rate != UNKNOWN:
            parts.append(f"{rate:g} GB/s ({about})")
    return "<br>".join(parts) or "-"


def checked(sheet):
    how = sheet["checked"]
    return HOW.get(how["how"]) or f"emulated: `{how['model']}`"


def load():
    sheets = [yaml.safe_load(path.read_text(encoding="ascii")) for path in sorted((ROOT / "ports/chips").glob("*.yaml"))]
    order = list(OF_NOTE)
    kinds = ["generic", "family", "chip"]
    return sorted(sheets, key=lambda s: (order.index(s["match"]["arch"]), kinds.index(s["kind"]), s["id"]))


def table():
    rows = ["| Sheet | About | Architecture | Cores of a socket | ISA of note | Memory, by its makers | Checked |",
            "|---|---|---|---|---|---|---|"]
    for sheet in load():
        rows.append(f"| `{sheet['id']}` | {sheet['name']} | {sheet['match']['arch']} | {cores(sheet)} | {isa(sheet)} "
                    f"| {bandwidth(sheet)} | {checked(sheet)} |")
    return rows


def split(path):
    """The lines before, between and after the markers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines.count(BEGIN) != 1 or lines.count(END) != 1 or lines.index(BEGIN) > lines.index(END):
        sys.exit(f"chips_table: {path} needs one line '{BEGIN}' and, below it, one line '{END}'")
    begin, end = lines.index(BEGIN), lines.index(END)
    return lines[:begin + 1], lines[begin + 1:end], lines[end:]


def main():
    words = sys.argv[1:]
    if not words:
        print("\n".join(table()))
        return 0
    if len(words) != 2 or words[0] not in ("--check", "--write"):
        print(__doc__, file=sys.stderr)
        return 2
    path = pathlib.Path(words[1])
    before, there, after = split(path)
    want = ["", *table(), ""]
    if words[0] == "--write":
        path.write_text("\n".join([*before, *want, *after]) + "\n", encoding="utf-8")
        return 0
    if there == want:
        print(f"chips_table: {path.name} says what the sheets say")
        return 0
    print("\n".join(difflib.unified_diff(there, want, "in the document", "by the sheets", lineterm="", n=0)))
    print(f"chips_table: {path} is stale; run tools/chips_table.py --write {words[1]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
