# SPDX-License-Identifier: Apache-2.0
"""Vectors of block formats, conversions and quantised activations."""

import struct

import gguf
import ml_dtypes
import numpy as np

from golden_writer import Raw, f32

FORMATS = {
    "q8_0": gguf.GGMLQuantizationType.Q8_0, "q4_0": gguf.GGMLQuantizationType.Q4_0,
    "q4_1": gguf.GGMLQuantizationType.Q4_1, "q5_0": gguf.GGMLQuantizationType.Q5_0,
    "q5_1": gguf.GGMLQuantizationType.Q5_1, "q2_k": gguf.GGMLQuantizationType.Q2_K,
    "q3_k": gguf.GGMLQuantizationType.Q3_K, "q4_k": gguf.GGMLQuantizationType.Q4_K,
    "q5_k": gguf.GGMLQuantizationType.Q5_K, "q6_k": gguf.GGMLQuantizationType.Q6_K,
}
# Where a block keeps its f16 scale, and its f16 offset or scale of minimums.
HALVES = {"q8_0": [0], "q4_0": [0], "q4_1": [0, 2], "q5_0": [0], "q5_1": [0, 2], "q2_k": [80, 82], "q3_k": [108],
          "q4_k": [0, 2], "q5_k": [0, 2], "q6_k": [208]}


def sizes(name):
    return gguf.GGML_QUANT_SIZES[FORMATS[name]]


def dequantize(name, blocks):
    """f32 values of an array of whole rows of bytes, by gguf's own code."""
    with np.errstate(all="ignore"):
        return gguf.quants.dequantize(blocks, FORMATS[name]).astype(np.float32)


def random_blocks(rng, name, rows, blocks, scale=2.0**-6):
    """Random codes, with scales of a sensible size."""
    block, size = sizes(name)
    data = rng.integers(0, 256, (rows, blocks, size), dtype=np.uint8)
    for at in HALVES[name]:
        halves = (rng.uniform(0.25, 1.0, (rows, blocks)) * scale).astype("<f2")
        data[:, :, at:at + 2] = halves.view(np.uint8).reshape(rows, blocks, 2)
    return data.reshape(rows, blocks * size), (rows, blocks * block)


def row_of(name, rng, count, sensible):
    data, shape = random_blocks(rng, name, 1, count)
    if not sensible:
        data = rng.integers(0, 256, data.shape, dtype=np.uint8)
    values = dequantize(name, data)
    return {"bytes": Raw(name, shape, data.tobytes()), "values": Raw("f32", shape, values.astype("<f4").tobytes())}


def formats():
    rng = np.random.default_rng(101)
    for name in FORMATS:
        count = 3 if sizes(name)[0] == 256 else 8
        yield name, row_of(name, rng, count, True)


def formats_any_bytes():
    """Scales of any bits: subnormal, huge, NaN, infinite."""
    rng = np.random.default_rng(102)
    for name in FORMATS:
        count = 3 if sizes(name)[0] == 256 else 12
        yield name, row_of(name, rng, count, False)


def f32_samples(rng):
    """Bit patterns that matter: ties of both narrow types, neighbours of ties, ends of ranges."""
    bits = list(rng.integers(0, 2**32, 200, dtype=np.uint64))
    for exponent in (0, 1, 60, 88, 101, 102, 103, 111, 112, 113, 120, 127, 134, 141, 142, 143, 254):
        for mantissa in (0, 1, 0x0fff, 0x1000, 0x1001, 0x3000, 0x7fff, 0x8000, 0x8001, 0x18000, 0x7fefff, 0x7ff000,
                         0x7f8000, 0x7fffff):
            bits.append(exponent << 23 | mantissa)
    bits += [bit | 1 << 31 for bit in bits[200::3]]
    bits += [0x7f800000, 0xff800000, 0x7fc00000, 0x80000000, 0x477fefff, 0x477ff000, 0x38800000, 0x387fffff]
    return np.array(bits, dtype=np.uint32)


def conversions():
    bits = f32_samples(np.random.default_rng(103))
    numbers = bits.view(np.float32)
    numbers = numbers[~np.isnan(numbers)]
    with np.errstate(all="ignore"):
        half = numbers.astype(np.float16)
        brain = numbers.astype(ml_dtypes.bfloat16)
    shape = (1, len(numbers))
    yield "f32_to_16_bits", {"x": Raw("f32", shape, numbers.astype("<f4").tobytes()),
                             "f16": Raw("f16", shape, half.astype("<f2").tobytes()),
                             "bf16": Raw("bf16", shape, brain.view(np.uint16).astype("<u2").tobytes())}
    every = np.arange(0, 65536, 61, dtype=np.uint16)
    for name, narrow in (("f16", every.view(np.float16)), ("bf16", every.view(ml_dtypes.bfloat16))):
        wide = narrow.astype(np.float32)
        keep = ~np.isnan(wide)
        shape = (1, int(keep.sum()))
        yield f"{name}_to_f32", {"x": Raw(name, shape, every[keep].astype("<u2").tobytes()),
                                 "f32": Raw("f32", shape, wide[keep].astype("<f4").tobytes())}


def quantize_symmetric(x):
    """Codes and scale of one block, all steps in f32."""
    a = np.float32(np.max(np.abs(x))) if x.size else np.float32(0)
    if a < np.float32(2.0**-120):
        return np.zeros(x.shape, np.int64), np.float32(0)
    codes = np.rint(x * (np.float32(127) / a)).astype(np.int64)
    return codes, a / np.float32(127)


def quantize_asymmetric(x):
    low, high = np.float32(min(0, x.min())), np.float32(max(0, x.max()))
    width = high - low
    inverse = np.float32(255) / width
    zero = int(np.clip(-128 - int(np.rint(low * inverse)), -128, 127))
    codes = np.clip(np.rint(x * inverse).astype(np.int64) + zero, -128, 127)
    return codes, width / np.float32(255), zero


def record(kind, x):
    """Fields of a row record of activations, as tensors."""
    k = x.shape[-1]
    block = {"a8_b32": 32, "a8_b256": 256}.get(kind, k)
    parts = [quantize_symmetric(part) for part in x.reshape(-1, block)]
    codes = np.concatenate([part[0] for part in parts])
    group = {"a8_b32": 32, "a8_b256": 16}.get(kind, k)
    return codes, np.array([part[1] for part in parts], np.float32), codes.reshape(-1, group).sum(axis=1)


def fields(x, codes, scales, sums):
    raw = lambda kind, array, code: Raw(kind, (1, array.size), array.reshape(-1).astype(code).tobytes())
    return {"x": raw("f32", x, "<f4"), "codes": raw("i8", codes, "<i1"), "scales": raw("f32", scales, "<f4"),
            "sums": raw("i32", sums, "<i4")}


def activations():
    rng = np.random.default_rng(104)
    for kind, k in (("a8_b32", 96), ("a8_b256", 512), ("a8_token", 77)):
        for size in (1.0, 1e-5, 3e20):
            x = (rng.standard_normal(k) * size).astype(np.float32)
            yield f"{kind}_{size:g}", fields(x, *record(kind, x))
    ties = np.concatenate([np.arange(-126.5, 127.5, 1.0)[:95], [127.0]]).astype(np.float32)
    yield "a8_b32_ties", fields(ties, *record("a8_b32", ties))
    for name, x in (("both", rng.standard_normal(61)), ("positive", rng.uniform(1, 3, 40)),
                    ("negative", rng.uniform(-3, -1, 40)), ("ties", np.arange(-50.0, 78.0, 0.5)[:255] - 0.25)):
        x = x.astype(np.float32)
        codes, scale, zero = quantize_asymmetric(x)
        yield f"a8_token_asymmetric_{name}", {**fields(x, codes, np.array([scale]), codes.sum()), "zero": zero}
