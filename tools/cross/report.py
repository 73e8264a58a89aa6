#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the results of emulated legs and renders them as a table, JSON and Markdown."""

import argparse
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# Verdicts that neither prove nor disprove. Any other than these and "pass" is a failure, "weak"
# too: the case ran and could not have seen the fault.
SKIP = {"skip", "waived"}
# Of kernels, a weak case counts for nothing, and others of its types do.
SKIP_OPS = SKIP | {"weak", "not_supported", "emulator_suspect"}


def slug(leg):
    return re.sub(r"[^A-Za-z0-9]", "-", leg)


def skipped_itself(case):
    """Whether the test said so; a program that was not built is 'notrun' as well."""
    mark = case.find("skipped")
    return mark is not None and mark.get("message", "").startswith("SKIP_")


def count_units(folder):
    """Counts of ctest's JUnit file, and time-outs, which only its console log names."""
    try:
        cases = ElementTree.parse(folder / "ctest.xml").getroot().findall("testcase")
    except (OSError, ElementTree.ParseError):
        return None
    counts = {"passed": 0, "failed": 0, "skipped": 0, "failures": []}
    for case in cases:
        if case.get("status") == "fail":
            counts["failed"] += 1
            counts["failures"].append(case.get("name"))
        elif case.get("status") == "disabled" or skipped_itself(case):
            counts["skipped"] += 1
        elif case.get("status") == "notrun":
            counts["failed"] += 1
            counts["failures"].append(f"{case.get('name')} (did not start)")
        else:
            counts["passed"] += 1
    log = (folder / "ctest.log").read_text(errors="replace")
    counts["hangs"] = len(re.findall(r"\*\*\*Timeout", log))
    return counts


def count_contract(text, skip=frozenset(SKIP)):
    """Counts of a conformance document; None when it is not one."""
    try:
        cases = json.loads(text)["cases"]
    except (ValueError, KeyError, TypeError):
        return None
    counts = {"passed": 0, "failed": 0, "skipped": 0, "failures": []}
    for case in cases:
        verdict = case["verdict"]
        kind = "passed" if verdict in ("pass", "pass_fallback") else "skipped" if verdict in skip else "failed"
        counts[kind] += 1
        if kind == "failed":
            counts["failures"].append(f"{case['id']} ({verdict})")
    return counts if cases else None


def judge(record):
    """Why a leg failed, or an empty text."""
    if record["build"] != "ok":
        return "build failed"
    if record["rounds_asked"]:
        if not record["rounds"] or record["round_tests"] == 0:
            return "no test has the label 'team'"
        bad = record["hangs"] + record["failures"]
        return f"{record['hangs']} hangs, {record['failures']} failures" if bad else ""
    units, contract = record["units"], record["l0"]
    if units is None or units["passed"] + units["failed"] == 0:
        return "no unit test ran"
    if units["failed"]:
        return f"{units['failed']} unit tests failed, of them {units['hangs']} by time-out"
    if contract is None:
        return f"no contract results, exit status {record['l0_rc']}"
    if contract["failed"]:
        return "contract failed"
    if contract["passed"] == 0:
        return "no contract case ran"
    if record["l0_rc"] != 0:
        return f"contract exit status {record['l0_rc']}"
    return judge_ops(record)


def judge_ops(record):
    """The same for level ops, which a leg may leave out."""
    if record["l1_rc"] is None:
        return ""
    counts = record["l1"]
    if counts is None:
        return f"no results of level ops, exit status {record['l1_rc']}"
    if counts["failed"]:
        return "level ops failed"
    return "" if counts["passed"] else "no case of level ops passed"


def command_round(args):
    counts = count_units(args.folder) or {"hangs": 0, "failed": 0, "passed": 0}
    print(counts["hangs"], counts["failed"] - counts["hangs"], counts["passed"] + counts["failed"])


def command_leg(args):
    record = {"leg": args.leg, "cpu": args.cpu, "label": "emulated", "emulator": args.emulator,
              "build": args.build, "seconds": args.seconds, "rounds_asked": args.rounds}
    if args.rounds:
        path = args.folder / "rounds"
        rows = [[int(x) for x in line.split()] for line in path.read_text().splitlines()] \
            if path.exists() else []
        record |= {"rounds": len(rows), "hangs": sum(r[0] for r in rows),
                   "failures": sum(r[1] for r in rows), "round_tests": sum(r[2] for r in rows)}
    else:
        rc_file, json_file = args.folder / "l0.rc", args.folder / "l0.json"
        record["units"] = count_units(args.folder)
        record["l0"] = count_contract(json_file.read_text()) if json_file.exists() else None
        record["l0_rc"] = int(rc_file.read_text()) if rc_file.exists() else None
        ops_rc, ops_json = args.folder / "l1.rc", args.folder / "l1.json"
        record["l1"] = count_contract(ops_json.read_text(), SKIP_OPS) if ops_json.exists() else None
        record["l1_rc"] = int(ops_rc.read_text()) if ops_rc.exists() else None
    record["reason"] = judge(record)
    record["passed"] = not record["reason"]
    (args.folder / "leg.json").write_text(json.dumps(record, indent=2) + "\n")


def counts_cell(counts):
    return "-" if counts is None else f"{counts['passed']}/{counts['failed']}/{counts['skipped']}"


def table(records):
    if records[0]["rounds_asked"]:
        rows = [["leg", "cpu", "rounds", "hangs", "failures", "s", "label", "verdict"]]
        middle = [[str(r.get(k, "-")) for k in ("rounds", "hangs", "failures")] for r in records]
    else:
        rows = [["leg", "cpu", "unit p/f/s", "L0 p/f/s", "L1 p/f/s", "s", "label", "verdict"]]
        middle = [[counts_cell(r["units"]), counts_cell(r["l0"]), counts_cell(r.get("l1"))] for r in records]
    for record, cells in zip(records, middle):
        verdict = "ok" if record["passed"] else f"FAILED: {record['reason']}"
        rows.append([record["leg"], record["cpu"], *cells, str(record["seconds"]),
                     record["label"], verdict])
    return rows


def print_table(rows, path):
    """Prints rows as a Markdown table and writes the same text to a file."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    path.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def command_render(args):
    records = [json.loads((args.folder / slug(leg) / "leg.json").read_text()) for leg in args.leg]
    passed = all(record["passed"] for record in records)
    document = {"schema": "halyard-cross/1", "passed": passed, "legs": records}
    (args.folder / "report.json").write_text(json.dumps(document, indent=2) + "\n")
    print_table(table(records), args.folder / "report.md")
    for record in records:
        counts = [record.get(key) or {} for key in ("units", "l0")]
        failures = [name for one in counts for name in one.get("failures", [])]
        if failures:
            print(f"{record['leg']}: {', '.join(failures[:8])}{' ...' if failures[8:] else ''}")
    good = sum(record["passed"] for record in records)
    print(f"legs: {good} passed, {len(records) - good} failed")
    return 0 if passed else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("round", help="print 'hangs failures tests' of the last ctest run")
    one.set_defaults(run=command_round)
    leg = commands.add_parser("leg", help="write leg.json from the logs of a leg")
    leg.set_defaults(run=command_leg)
    for name in ("--leg", "--cpu", "--build", "--emulator"):
        leg.add_argument(name, required=True)
    for name in ("--rounds", "--seconds"):
        leg.add_argument(name, type=int, required=True)
    render = commands.add_parser("render", help="write report.json and report.md")
    render.set_defaults(run=command_render)
    render.add_argument("--leg", action="append", required=True)
    for command in (one, leg, render):
        command.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    return args.run(args) or 0


if __name__ == "__main__":
    sys.exit(main())
