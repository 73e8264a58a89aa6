#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build folder under emulation: those of one program in one process.

units.py BUILD OUT [-j N] [--timeout S] [--label L]   writes OUT/ctest.xml, as ctest would, and OUT/ctest.log

ctest starts a process for each test, and an emulator needs longer to start than most tests take. A test that crashes
or is silent for S seconds fails, and those behind it are run again in a new process. Tests labelled 'slow' are left out, and
with --label those that have no label that this regular expression finds.
"""

import argparse
import concurrent.futures
import copy
import json
import os
import pathlib
import re
import selectors
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

FILTER = "--gtest_filter="
LINE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,]+)(?:,| \(|$)")


class Group:
    """Tests that differ in the filter alone. `names` is from gtest's name to ctest's."""

    def __init__(self, test):
        properties = {one["name"]: one["value"] for one in test["properties"]}
        self.command = [word for word in test["command"] if not word.startswith(FILTER)]
        self.folder = properties.get("WORKING_DIRECTORY", ".")
        self.env = properties.get("ENVIRONMENT", [])
        self.key = (tuple(self.command), self.folder, tuple(self.env))
        self.names = {}


def groups_of(build, label):
    """Groups, and the names of tests that are disabled."""
    command = ["ctest", "--test-dir", str(build), "-LE", "slow", "--show-only=json-v1"] + (["-L", label] if label else [])
    listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    groups, disabled = {}, []
    for test in listed["tests"]:
        if any(one["name"] == "DISABLED" and one["value"] for one in test["properties"]):
            disabled.append(test["name"])
            continue
        group = Group({"command": [test["name"]]} | test)
        group = groups.setdefault(group.key, group)
        filters = [word[len(FILTER):] for word in test.get("command", []) if word.startswith(FILTER)]
        group.names[filters[0] if filters else ""] = test["name"]
    return list(groups.values()), disabled


def lines_of(process, silence_s):
    """Lines as they come; None when there was none for so long."""
    chosen, rest = selectors.DefaultSelector(), b""
    chosen.register(process.stdout, selectors.EVENT_READ)
    deadline = time.monotonic() + silence_s
    while chosen.select(max(0, deadline - time.monotonic())):
        more = os.read(process.stdout.fileno(), 1 << 16)
        if not more:
            return
        *whole, rest = (rest + more).split(b"\n")
        if whole:
            deadline = time.monotonic() + silence_s
        for line in whole:
            yield line.decode(errors="replace")
    yield None


def run_process(group, names, silence_s, log):
    """Runs some tests of a group. Returns verdicts by gtest's name; a test without one was not reached."""
    command = group.command + ([FILTER + ":".join(names)] if "" not in names else [])
    env = os.environ | dict(pair.split("=", 1) for pair in group.env)
    verdicts, running, timed_out = {}, None, False
    with subprocess.Popen(command, cwd=group.folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        for line in lines_of(process, silence_s):
            if line is None:
                timed_out = True
                os.killpg(process.pid, 9)
                break
            log.append(line)
            match = LINE.match(line)
            if match and match[1] == "RUN":
                running = match[2]
            elif match and match[2] == running:
                verdicts[running], running = {"OK": "pass", "SKIPPED": "skip", "FAILED": "fail"}[match[1]], None
        code = process.wait()
    if "" in names:
        return {"": "hang" if timed_out else "pass" if code == 0 else "fail"}
    if running is not None:
        verdicts[running] = "hang" if timed_out else "fail"
        log.append(f"{running}: {'***Timeout' if timed_out else f'the program ended with {code}'}")
    elif code != 0 and "fail" not in verdicts.values():  # Behind its tests, such as a sanitizer at exit.
        log.append(f"{' '.join(group.command)}: ended with {code}")
        verdicts[names[-1]] = "fail"
    return verdicts


def run_group(group, silence_s):
    left, verdicts, log = list(group.names), {}, []
    while left:
        found = run_process(group, left, silence_s, log)
        if not found:  # It did not come to its first test.
            found = {left[0]: "fail"}
        verdicts |= found
        left = [name for name in left if name not in verdicts]
    return {group.names[name]: verdict for name, verdict in verdicts.items() if name in group.names}, log


def pieces(groups, count):
    """The same, with large groups cut in pieces, so that none alone keeps one process busy at the end."""
    for group in groups:
        names = list(group.names.items())
        parts = count if len(names) >= 8 else 1
        for i in range(parts):
            piece = copy.copy(group)
            piece.names = dict(names[i::parts])
            yield piece


def write(out, verdicts, disabled, logs):
    root = ElementTree.Element("testsuite")
    for name, verdict in sorted(verdicts.items()):
        case = ElementTree.SubElement(root, "testcase", name=name,
                                      status={"pass": "run", "skip": "notrun"}.get(verdict, "fail"))
        if verdict == "skip":
            ElementTree.SubElement(case, "skipped", message="SKIP_REGULAR_EXPRESSION")
    for name in disabled:
        ElementTree.SubElement(root, "testcase", name=name, status="disabled")
    ElementTree.ElementTree(root).write(out / "ctest.xml")
    (out / "ctest.log").write_text("\n".join(line for log in logs for line in log) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--label")
    parser.add_argument("--timeout", type=float, default=300)
    args = parser.parse_args()
    groups, disabled = groups_of(args.build, args.label)
    groups = sorted(pieces(groups, args.j), key=lambda group: -len(group.names))
    verdicts, logs = {}, []
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for found, log in pool.map(lambda group: run_group(group, args.timeout), groups):
            verdicts |= found
            logs.append(log)
    write(args.out, verdicts, disabled, logs)
    bad = sorted(name for name, verdict in verdicts.items() if verdict in ("fail", "hang"))
    print(f"{len(verdicts) - len(bad)} of {len(verdicts)} tests passed or were skipped"
          + (f"; failed: {', '.join(bad)}" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
