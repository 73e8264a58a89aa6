#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test of units.py: programs that pass, fail, crash, hang and skip, in one process with others."""

import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
# Stands for a GoogleTest program: what a test does is in its name.
PROGRAM = r"""#!/bin/sh
for word; do case $word in --gtest_filter=*) tests=${word#--gtest_filter=} ;; esac; done
IFS=:
for test in $tests; do
  echo "[ RUN      ] $test"
  case $test in
    *.Fails*) echo "[  FAILED  ] $test, where GetParam() = 3 (1 ms)"; bad=1; continue ;;
    *.Skips*) echo "[  SKIPPED ] $test (0 ms)"; continue ;;
    *.Crashes*) kill -SEGV $$ ;;
    *.Hangs*) sleep 60 ;;
  esac
  echo "[       OK ] $test (0 ms)"
done
exit ${bad:-0}
"""
TESTS = {"A.Passes": "run", "A.Fails/0": "fail", "A.Crashes": "fail", "A.Skips": "notrun", "A.Hangs": "fail",
         "A.PassesBehindThem": "run", "B.Disabled": "disabled", "script": "run"}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        lines = [f'add_test([=[{test}]=] "{program}" "--gtest_filter={test}")' for test in TESTS if test != "script"]
        lines += ['add_test(script "/bin/true")', 'set_tests_properties(B.Disabled PROPERTIES DISABLED TRUE)',
                  'add_test(slow_one "/bin/false")', 'set_tests_properties(slow_one PROPERTIES LABELS slow)']
        (folder / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
        done = subprocess.run([HERE / "units.py", folder, folder, "-j", "2", "--timeout", "2"], capture_output=True)
        found = {case.get("name"): case.get("status")
                 for case in ElementTree.parse(folder / "ctest.xml").getroot().findall("testcase")}
        log = (folder / "ctest.log").read_text()
    faults = [f"{test}: {found.get(test)} instead of {status}" for test, status in TESTS.items()
              if found.get(test) != status]
    faults += [f"{test}: should not be there" for test in found if test not in TESTS]
    faults += ["no time-out in the log"] if log.count("***Timeout") != 1 else []
    faults += [f"ended with {done.returncode} instead of 1"] if done.returncode != 1 else []
    print("\n".join(faults) or "units_test: all as expected")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
