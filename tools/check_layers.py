#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a folder includes what it may not: the table of docs/design.md, as data."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ABSL = {"absl"}

# Folder -> (folders of the tree it may include, third-party prefixes it may include).
# The longest folder that a file lies in is its own. "public" is hal/include/halyard.
RULES = {
    "hal/include": ({"public"}, set()),
    "base": ({"public", "base"}, ABSL),
    # Proof of AVX-512 code on machines without it: SIMDe is compiled in instead of the intrinsics.
    "base/simd": ({"public", "base"}, ABSL | {"simde"}),
    "hal": ({"public", "base", "hal"}, ABSL | {"yaml-cpp", "sha2", "sha256"}),
    "ports/linux": ({"public", "base", "ports/kit", "ports/linux"}, {"numa", "numaif", "absl"}),
    # The simulator of other machines is made of the core's own reader of machine images.
    "ports/sim_topology": ({"public", "base", "hal", "ports/kit", "ports/sim_topology"}, ABSL),
    "ports/opencl": ({"public", "ports/kit", "ports/opencl"}, {"CL"}),
    "ports/example_kernels": ({"public", "ops/matmul/contract.h"}, set()),
    "ports": ({"public", "ports/linux/linux.h", "ports/kit"}, set()),
    "registry/include": ({"public"}, set()),
    "registry": ({"public", "base", "hal", "registry"}, ABSL),
    "ops": ({"public", "base", "ops", "reference/reference.h"}, ABSL),
    "reference": ({"public", "base", "ops", "reference"}, ABSL),
    "facts": ({"public", "base", "hal", "facts"}, ABSL | {"yaml-cpp"}),
    "facts/stream": ({"public", "base", "facts/stream"}, set()),
    "facts/peak": ({"public", "facts/peak"}, set()),
    # Ops' contracts and quantised formats; never a reference or the cases of an op.
    "engine": ({"public", "base", "hal", "ops", "registry", "engine"}, ABSL | {"tbb", "oneapi", "nlohmann"}),
    "engine/gguf": ({"public", "base", "engine/gguf"}, ABSL),
    # Files are tried as models and vocabularies, too.
    "engine/gguf/fuzz": ({"public", "base", "engine"}, ABSL),
    "engine/tokenizer": ({"public", "base", "engine/gguf", "engine/tokenizer"}, ABSL | {"utf8proc"}),
    "conformance": ({"public", "base", "hal", "facts", "ops", "reference", "registry", "engine", "conformance"}, ABSL | {"gtest", "nlohmann", "yaml-cpp", "sha2"}),
    "bench": ({"public", "base", "hal", "facts", "ops", "reference", "registry", "engine", "conformance", "bench"}, ABSL | {"benchmark", "nlohmann"}),
    "cli": ({"public", "base", "hal", "facts", "ops", "reference", "registry", "conformance", "bench", "engine", "cli"}, ABSL | {"CLI", "nlohmann"}),
}
# Tests may use GoogleTest and the layers that they test through.
TEST_EXTRA = {"gtest", "gmock", "absl"}
# C and C++ headers carry no slash, or are of the system.
SYSTEM_PREFIXES = {"sys", "linux", "asm"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')


def rule_of(path: str):
    best = max((f for f in RULES if path == f or path.startswith(f + "/")), key=len, default=None)
    return (best, *RULES[best]) if best else (None, None, None)


def folder_of(include: str) -> str:
    return "public" if include.startswith("halyard/") else include


def allowed(include: str, own: str, folders: set, third_party: set) -> bool:
    if "/" not in include:
        stem = include.removesuffix(".h")
        known_third_party = {p for _, extra in RULES.values() for p in extra}
        return stem not in known_third_party or stem in third_party
    head = include.split("/")[0]
    if head in SYSTEM_PREFIXES:
        return True
    target = folder_of(include)
    if target == "public":
        return "public" in folders
    if any(target == f or target.startswith(f + "/") for f in folders) or target.startswith(own + "/"):
        return True
    return head in third_party


def check(path: str, text: str):
    own, folders, third_party = rule_of(path)
    if own is None:
        yield f"{path}: no rule for its folder in tools/check_layers.py"
        return
    name = path.rsplit("/", 1)[1] if "/" in path else path
    is_test = (path.endswith("_test.cc") or "/testdata/" in path or "/fuzz/" in path or
               name.startswith(("test_", "fake_")))
    if is_test:
        third_party = third_party | TEST_EXTRA
        if own.startswith("ports"):
            folders = folders | {"hal", "base", own}
    if own == "ports":
        folders = folders | {"/".join(path.split("/")[:2])}
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match and not allowed(match.group(1), own, folders, third_party):
            yield f"{path}:{number}: {own} may not include {match.group(1)}"


def main() -> int:
    files = subprocess.run(["git", "ls-files", "*.c", "*.cc", "*.h", "*.cpp", "*.inc"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split()
    faults = [fault for path in files if (ROOT / path).exists()
              for fault in check(path, (ROOT / path).read_text())]
    print("\n".join(faults) or f"check_layers: {len(files)} files keep to their layers")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
