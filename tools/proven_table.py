#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table "what is proven where" of the READMEs, from docs/proven.json.

proven_table.py                  writes the table into README.md and README.zh.md
proven_table.py --check          fails if they are out of step
proven_table.py --take FILE...   takes the results of leg reports (tools/cross/run.sh, tools/vm/run.sh) or of
                                 `halyard certify` (report.json) into docs/proven.json, then writes the table
"""

import datetime
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/proven.json"
PAGES = {"README.md": ("Where", "How", "Unit tests passed", "HAL duties: passed / skipped", "Seen"),
         "README.zh.md": ("平台", "方式", "单元测试通过", "HAL 用例：通过 / 跳过", "日期")}
BEGIN, END = "<!-- proven:begin (tools/proven_table.py) -->", "<!-- proven:end -->"


def row_of_leg(record):
    """A row from a leg's record; None for a leg that did not pass: what failed proves nothing."""
    if not record.get("passed"):
        return None
    units, duties = record.get("units") or {}, record.get("l0") or record.get("conform") or {}
    return {"where": f"{record['leg']} ({record['cpu']})" if record.get("cpu") else record["leg"],
            "how": f"emulated ({record.get('emulator', 'qemu')})", "units": units.get("passed"),
            "passed": duties.get("passed"), "skipped": duties.get("skipped")}


def row_of_certificate(document):
    summary = document["conformance"]["summary"]
    return {"where": f"{document['device']['name']}, port {document['conformance']['port']}", "how": "hardware",
            "units": None, "passed": summary["passed"], "skipped": summary["skipped"]} if document["holds"] else None


def rows_of(path):
    document = json.loads(pathlib.Path(path).read_text())
    if isinstance(document, dict) and document.get("schema", "").startswith("halyard-certificate"):
        return [row_of_certificate(document)]
    records = document if isinstance(document, list) else document.get("legs", [document])
    return [row_of_leg(record) for record in records]


def take(paths):
    rows = json.loads(DATA.read_text()) if DATA.exists() else []
    today = datetime.date.today().isoformat()
    for path in paths:
        for row in rows_of(path):
            if row is None:
                print(f"proven_table: {path}: a result that does not hold was passed over")
                continue
            rows = [old for old in rows if (old["where"], old["how"]) != (row["where"], row["how"])]
            rows.append(row | {"seen": today})
    rows.sort(key=lambda row: (row["how"] != "hardware", row["where"]))
    DATA.write_text(json.dumps(rows, indent=1) + "\n")


def table(heads):
    rows = json.loads(DATA.read_text()) if DATA.exists() else []
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        duties = "-" if row["passed"] is None else f"{row['passed']} / {row['skipped']}"
        units = "-" if row["units"] is None else str(row["units"])
        lines.append(f"| {row['where']} | {row['how']} | {units} | {duties} | {row['seen']} |")
    return "\n".join(lines)


def main() -> int:
    if sys.argv[1:2] == ["--take"]:
        take(sys.argv[2:])
    out_of_step = []
    for name, heads in PAGES.items():
        text = (ROOT / name).read_text()
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        wanted = f"{before}{BEGIN}\n{table(heads)}\n{END}{after}"
        if wanted != text:
            out_of_step.append(name)
            if sys.argv[1:] != ["--check"]:
                (ROOT / name).write_text(wanted)
    if sys.argv[1:] == ["--check"] and out_of_step:
        print("proven_table: out of step:", ", ".join(out_of_step))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
