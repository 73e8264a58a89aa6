#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the console log of a guest into a verdict, and verdicts into a table."""

import argparse
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cross"))
from report import count_contract, print_table  # noqa: E402

FACT = re.compile(r"^HALYARD-FACT (\S+) ?(.*)$", re.M)
DOCUMENT = re.compile(r"^HALYARD-BEGIN (\S+) (out|err) (\d+)\n(.*?)\nHALYARD-END \1 \2$",
                      re.M | re.S)


def read_console(path):
    """Facts and documents of a console log; a document of the wrong length is torn."""
    text = path.read_bytes().decode(errors="replace").replace("\r", "") if path.exists() else ""
    documents = {}
    for name, stream, size, body in DOCUMENT.findall(text):
        torn = len(body.encode()) != int(size)
        documents[name, stream] = {"text": body, "torn": torn}
    return dict(FACT.findall(text)), documents, "HALYARD-DONE" in text


def check_machine(facts, leg, huge_pages):
    """What the guest must have before its tests mean anything."""
    if facts.get("nodes") != "0-1":
        return f"the guest has NUMA nodes '{facts.get('nodes', 'none')}', not 0-1"
    if facts.get("huge_pages", "").split() != [str(huge_pages)] * 2:
        return f"huge pages granted: '{facts.get('huge_pages')}', wanted {huge_pages} a node"
    if leg == "biglittle" and len(set(facts.get("capacities", "").split())) != 2:
        return f"one kind of core only: capacities '{facts.get('capacities')}'"
    return ""


def read_program(name, command, facts, documents):
    record = {"name": name, "command": command, "rc": None, "reason": ""}
    out, err = documents.get((name, "out")), documents.get((name, "err"))
    if f"program.{name}" not in facts or out is None:
        return record | {"reason": "did not finish"}
    rc, start, end = facts[f"program.{name}"].split()
    record |= {"rc": int(rc), "seconds": round(float(end) - float(start), 2),
               "stderr": err["text"] if err else ""}
    try:
        record["document"] = json.loads(out["text"])
    except ValueError:
        record["text"] = out["text"]
    record["counts"] = count_contract(out["text"])
    if out["torn"]:
        record["reason"] = "output torn on the console"
    elif record["counts"] and record["counts"]["failed"]:
        record["reason"] = "failed: " + ", ".join(record["counts"]["failures"][:8])
    elif record["counts"] and not record["counts"]["passed"]:
        record["reason"] = "no case ran"
    elif record["rc"]:
        record["reason"] = f"exit status {record['rc']}"
    return record


def command_leg(args):
    facts, documents, done = read_console(args.console)
    programs = [read_program(*p.split("=", 1), facts, documents) for p in args.program]
    reason = check_machine(facts, args.leg, args.huge_pages)
    if args.qemu_rc == 124:
        reason = "deadline passed" + (" before the guest was up" if not facts else "")
    elif not done:
        reason = f"the guest stopped early (qemu exit status {args.qemu_rc})"
    bad = [f"{p['name']}: {p['reason']}" for p in programs if p["reason"]]
    reason = "; ".join(([reason] if reason else []) + bad)
    counts = [p["counts"] for p in programs if p.get("counts")]
    record = {"schema": "halyard-vm/1", "leg": f"vm:{args.leg}", "label": "virtual machine",
              "emulator": args.emulator, "accel": args.accel, "cpu": args.cpu,
              "conform": counts[0] if counts else None, "facts": facts,
              "seconds": round(time.time() - args.started, 1), "programs": programs,
              "passed": not reason, "reason": reason}
    args.json.write_text(json.dumps(record, indent=2) + "\n")
    return 0 if record["passed"] else 1


def program_cell(program):
    counts = program.get("counts")
    if counts:
        return f"{program['name']} {counts['passed']}/{counts['failed']}/{counts['skipped']}"
    return f"{program['name']} rc={program['rc']}"


def command_render(args):
    rows = [["leg", "accel", "cpu", "nodes", "programs p/f/s", "s", "label", "verdict"]]
    for leg in args.legs:
        path = args.folder / f"{leg}.json"
        if not path.exists():
            rows.append([leg, "-", "-", "-", "-", "-", "virtual machine", "FAILED: did not start"])
            continue
        record = json.loads(path.read_text())
        rows.append([leg, record["accel"], record["cpu"], record["facts"].get("nodes", "-"),
                     ", ".join(program_cell(p) for p in record["programs"]),
                     str(record["seconds"]), record["label"],
                     "ok" if record["passed"] else f"FAILED: {record['reason']}"])
    print_table(rows, args.folder / "report.md")
    good = sum(row[-1] == "ok" for row in rows)
    print(f"VM legs: {good} passed, {len(args.legs) - good} failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    leg = commands.add_parser("leg", help="write the verdict of one boot")
    leg.set_defaults(run=command_leg)
    leg.add_argument("console", type=pathlib.Path)
    leg.add_argument("json", type=pathlib.Path)
    for name in ("--leg", "--accel", "--cpu", "--emulator"):
        leg.add_argument(name, required=True)
    leg.add_argument("--qemu-rc", type=int, required=True)
    leg.add_argument("--huge-pages", type=int, required=True)
    leg.add_argument("--started", type=float, required=True)
    leg.add_argument("--program", action="append", required=True)
    render = commands.add_parser("render", help="print the table and write report.md")
    render.set_defaults(run=command_render)
    render.add_argument("folder", type=pathlib.Path)
    render.add_argument("legs", nargs="+")
    args = parser.parse_args()
    return args.run(args) or 0


if __name__ == "__main__":
    sys.exit(main())
