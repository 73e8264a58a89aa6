#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the duties of hal.h with their conformance tests.

usage: tools/check_duties.py [--write] [--list] [ROOT]

Every duty of hal/include/halyard/hal.h has a test in conformance/hal, every id cited there is a
duty, ids are numbered without gaps, each test stands in a table of its file, and the titles in
conformance/hal/duty_titles.cc are those of the header (--write writes them).
Exit: 0 all hold, 1 something does not, 2 usage.
"""
import argparse
import pathlib
import re
import sys

HEADER = "hal/include/halyard/hal.h"
TESTS = "conformance/hal"
TITLES = "conformance/hal/duty_titles.cc"
DUTY = re.compile(r"\[(HAL-([A-Z]+)-(\d\d))\]\s+(.*)")
CITED = re.compile(r"HAL-[A-Z]+-\d\d")
TEST = re.compile(r'HY_DUTY\(\s*"([^"]+)",\s*(\w+)')
SCENARIO = re.compile(r'\{\s*"\w+",\s*"(HAL-[A-Z]+-\d\d)",\s*&?\w+\s*\}')
TABLE = re.compile(r"constexpr DutyTest kTests\[\] = \{(.*?)\};", re.S)


def read_duties(text):
    """[(id, title)] in the header's order."""
    duties = []
    open_title = None
    for line in text.splitlines():
        body = re.match(r"\s*///?(.*)", line)
        found = DUTY.search(line) if body else None
        if found:
            open_title = [found.group(1), found.group(4).strip()]
            duties.append(open_title)
        elif body and open_title and re.match(r"\s{10,}\S", body.group(1)):
            open_title[1] += " " + body.group(1).strip()
        else:
            open_title = None
    return [(duty, title) for duty, title in duties]


def check_numbers(duties):
    problems = []
    next_number = {}
    for duty, title in duties:
        area, number = duty.split("-")[1], int(duty.split("-")[2])
        expected = next_number.get(area, 1)
        if number != expected:
            problems.append(f"{HEADER}: {duty} where HAL-{area}-{expected:02} should follow")
        next_number[area] = number + 1
        if not title.endswith("."):
            problems.append(f"{HEADER}: {duty} does not end with a full stop")
    return problems


def check_tests(root, ids):
    problems, tested, names = [], {}, {}
    for path in sorted((root / TESTS).glob("*.cc")):
        if path.name == pathlib.Path(TITLES).name:
            continue
        text = path.read_text()
        where = path.relative_to(root)
        for cited in sorted(set(CITED.findall(text)) - set(ids)):
            problems.append(f"{where}: {cited} is no duty of {HEADER}")
        listed = set(re.findall(r"\w+", " ".join(TABLE.findall(text))))
        for duty, name in TEST.findall(text):
            tested.setdefault(duty, []).append(name)
            if name not in listed:
                problems.append(f"{where}: {name} is in no table: it would never run")
            if name in names:
                problems.append(f"{where}: {name} is also in {names[name]}")
            names[name] = where
        for duty in SCENARIO.findall(text):
            tested.setdefault(duty, []).append("a fault scenario")
    problems += [f"{HEADER}: {duty} has no test in {TESTS}" for duty in ids if duty not in tested]
    return problems, tested


def titles_file(duties):
    def quoted(text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    rows = "".join(f"    {{{quoted(d)}, {quoted(t)}}},\n" for d, t in duties)
    return (
        "// SPDX-License-Identifier: Apache-2.0\n"
        "//\n"
        "// The duties in words. Written by tools/check_duties.py --write from hal.h; do not edit.\n"
        '#include "conformance/hal/duty.h"\n\n'
        "namespace halyard::conformance {\n\n"
        "absl::string_view DutyTitle(absl::string_view duty) {\n"
        "  struct Title {\n    const char* duty;\n    const char* title;\n  };\n"
        "  // clang-format off\n"
        "  static constexpr Title kTitles[] = {\n" + rows + "  };\n"
        "  // clang-format on\n"
        "  for (const Title& one : kTitles) {\n"
        "    if (duty == one.duty) return one.title;\n"
        "  }\n"
        '  return "";\n'
        "}\n\n"
        "}  // namespace halyard::conformance\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent,
                        type=pathlib.Path, help="source tree")
    parser.add_argument("--write", action="store_true", help="write the titles")
    parser.add_argument("--list", action="store_true", help="print each duty with its tests")
    arguments = parser.parse_args()
    header = arguments.root / HEADER
    if not header.is_file():
        parser.error(f"no {HEADER} under {arguments.root}")
    duties = read_duties(header.read_text())
    ids = [duty for duty, _ in duties]
    problems = check_numbers(duties)
    test_problems, tested = check_tests(arguments.root, ids)
    problems += test_problems
    titles = arguments.root / TITLES
    if arguments.write:
        titles.write_text(titles_file(duties))
    elif not titles.is_file() or titles.read_text() != titles_file(duties):
        problems.append(f"{TITLES} is stale: run tools/check_duties.py --write")
    if arguments.list:
        for duty, title in duties:
            print(f"{duty}  {title}\n    {', '.join(tested.get(duty, ['no test']))}")
    for problem in problems:
        print(problem, file=sys.stderr)
    tests = sum(len(names) for names in tested.values())
    print(f"{len(ids)} duties, {tests} tests, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
