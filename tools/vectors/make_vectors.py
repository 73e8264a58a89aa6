#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden vectors of reference/testdata: what packages that are not ours compute.

Block formats are decoded by `gguf`, conversions made by `numpy` and `ml_dtypes`, ops computed by `torch` in
float64. Building and testing need none of them; run this only to make or to check vectors:

  python3 -m venv VENV && VENV/bin/pip install gguf==0.19.0 ml_dtypes==0.6.0 numpy torch
  VENV/bin/python tools/vectors/make_vectors.py           # writes all files
  VENV/bin/python tools/vectors/make_vectors.py --check   # compares what is committed, numbers only

The format of the files is described in reference/golden.h.
"""

import argparse
import importlib.metadata
import pathlib
import platform
import sys

import format_vectors
import golden_writer
import op_vectors
import weight_op_vectors

OUT = pathlib.Path(__file__).resolve().parent.parent.parent / "reference" / "testdata"

# File -> what makes its cases, packages that do.
FILES = {
    "formats": (format_vectors.formats, ("gguf", "numpy")),
    "formats_any_bytes": (format_vectors.formats_any_bytes, ("gguf", "numpy")),
    "conversions": (format_vectors.conversions, ("ml_dtypes", "numpy")),
    "quantize": (format_vectors.activations, ("numpy",)),
    "get_rows": (weight_op_vectors.get_rows, ("gguf", "torch")),
    "matmul": (weight_op_vectors.matmul, ("gguf", "torch", "numpy")),
    "matmul_id": (weight_op_vectors.matmul_id, ("gguf", "torch", "numpy")),
    "rmsnorm": (op_vectors.rmsnorm, ("torch",)),
    "layernorm": (op_vectors.layernorm, ("torch",)),
    "add": (op_vectors.add, ("torch",)),
    "mul": (op_vectors.mul, ("torch",)),
    "scale": (op_vectors.scale, ("torch",)),
    "rope": (op_vectors.rope, ("torch",)),
    "softmax": (op_vectors.softmax, ("torch",)),
    "log_softmax": (op_vectors.log_softmax, ("torch",)),
    "silu_mul": (op_vectors.silu_mul, ("torch",)),
    "gelu_mul": (op_vectors.gelu_mul, ("torch",)),
    "attention": (op_vectors.attention, ("torch",)),
    "kv_append": (op_vectors.kv_append, ("torch",)),
    "argmax": (op_vectors.argmax, ("torch",)),
    "top_k": (op_vectors.top_k, ("torch",)),
    "sample": (op_vectors.sample, ("numpy",)),
}


def header(packages):
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    return ["# SPDX-License-Identifier: Apache-2.0",
            f"# Made by tools/vectors/make_vectors.py with {versions}, Python {platform.python_version()}.",
            "# Not to be edited; the format is described in reference/golden.h."]


def words(text):
    return [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if committed numbers differ")
    parser.add_argument("names", nargs="*", help="files to make; default: all")
    arguments = parser.parse_args()
    faults = 0
    for name in arguments.names or FILES:
        make, packages = FILES[name]
        text = golden_writer.render(header(packages), make())
        path = OUT / f"{name}.golden"
        if not arguments.check:
            path.write_text(text)
            print(f"{path.name}: {len(text)} bytes")
        elif words(path.read_text()) != words(text):
            print(f"{path.name}: differs")
            faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
