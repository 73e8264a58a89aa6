# SPDX-License-Identifier: Apache-2.0
"""Vectors of ops with weights: gguf decodes the weights, numpy quantises activations, torch multiplies in float64."""

import numpy as np
import torch

from format_vectors import FORMATS, dequantize, quantize_asymmetric, quantize_symmetric, random_blocks, sizes
from golden_writer import Raw, f32, f64, grid, i32

# Numbers of kernel.h.
QA_NONE, QA_BLOCK32, QA_BLOCK256, QA_TOKEN_SYM, QA_TOKEN_ASYM = 1, 2, 3, 4, 5

# Beyond the plain product, each class with a format or two.
CLASSES = {"q8_0": (QA_NONE, QA_BLOCK32), "q4_1": (QA_NONE, QA_BLOCK32), "q4_k": (QA_NONE, QA_BLOCK256),
           "q6_k": (QA_NONE, QA_BLOCK256), "w8a8": (QA_NONE, QA_TOKEN_SYM, QA_TOKEN_ASYM),
           "w4a8_g128": (QA_NONE, QA_BLOCK32, QA_TOKEN_ASYM)}


def t(array):
    return torch.tensor(np.asarray(array), dtype=torch.float64)


def weights(rng, name, rows, cols):
    """Bytes of a random matrix of a format, and its values."""
    if name == "f32":
        values = grid(rng, (rows, cols))
        return f32(values), values
    data, shape = random_blocks(rng, name, rows, cols // sizes(name)[0])
    return Raw(name, shape, data.tobytes()), dequantize(name, data).astype(np.float64)


def our_weights(rng, name, rows, cols):
    """The two formats that gguf does not have, packed by numpy from what tensor.h says."""
    scales = (2.0 ** rng.integers(-8, -4, (rows, max(1, cols // 128)))).astype("<f4")
    if name == "w8a8":
        codes = rng.integers(-127, 128, (rows, cols))
        data = np.concatenate([scales[:, :1].copy().view(np.uint8), codes.astype(np.int8).view(np.uint8)], axis=1)
        return Raw(name, (rows, cols), data.tobytes()), codes * scales[:, :1].astype(np.float64)
    codes = rng.integers(-8, 8, (rows, cols // 128, 4, 2, 16))
    stored = (codes + 8).astype(np.uint8)
    nibbles = (stored[:, :, :, 0] | stored[:, :, :, 1] << 4).reshape(rows, cols // 128, 64)
    data = np.concatenate([scales[:, :, None].copy().view(np.uint8), nibbles], axis=2)
    values = codes * scales.astype(np.float64)[:, :, None, None, None]
    return Raw(name, (rows, cols), data.tobytes()), values.reshape(rows, cols)


def any_weights(rng, name, rows, cols):
    return (our_weights if name.startswith("w") else weights)(rng, name, rows, cols)


def get_rows():
    rng = np.random.default_rng(301)
    for name in ("f32", *FORMATS, "w8a8", "w4a8_g128"):
        cols = 256 if name not in ("f32", "w8a8") else 13
        table, values = any_weights(rng, name, 3, cols)
        rows = np.array([2, 0])
        yield name, {"table": table, "rows": i32(rows), "y": f64(torch.index_select(t(values), 0, torch.tensor(rows)))}


def quantized(x, activation):
    """What the product sees of x in a class of activations."""
    if activation == QA_NONE:
        return x.astype(np.float64)
    out = []
    for row in x:
        block = {QA_BLOCK32: 32, QA_BLOCK256: 256}.get(activation, len(row))
        for part in row.reshape(-1, block):
            if activation == QA_TOKEN_ASYM:
                codes, scale, zero = quantize_asymmetric(part)
                out.append((codes - zero) * np.float64(scale))
            else:
                codes, scale = quantize_symmetric(part)
                out.append(codes * np.float64(scale))
    return np.concatenate(out).reshape(x.shape)


def matmul():
    rng = np.random.default_rng(302)
    for name in ("f32", *FORMATS, "w8a8", "w4a8_g128"):
        k = 256 if name not in ("f32", "w8a8") else 45
        w, values = any_weights(rng, name, 3, k)
        for activation in CLASSES.get(name, (QA_NONE,)):
            x, bias = grid(rng, (2, k)).astype(np.float32), grid(rng, (3,))
            y = torch.matmul(t(quantized(x, activation)), t(values).T) + t(bias)
            yield f"{name}_qa{activation}", {"activation": activation, "x": f32(x), "w": w, "bias": f32(bias), "y": f64(y)}
    x, w = grid(rng, (2, 3, 20)), grid(rng, (2, 4, 20))
    yield "batched", {"activation": QA_NONE, "x": f32(x), "w": f32(w), "y": f64(torch.matmul(t(x), t(w).transpose(1, 2)))}


def matmul_id():
    rng = np.random.default_rng(303)
    for name, used in (("f32", 1), ("f32", 2), ("q8_0", 2), ("q4_k", 1)):
        k = 32 if name != "q4_k" else 256
        experts, n, tokens = 4, 3, 3
        w, values = weights(rng, name, experts * n, k)
        values = values.reshape(experts, n, k)
        ids = np.array([rng.permutation(experts)[:used] for _ in range(tokens)])
        ids[1, 0] = -1
        shape = (tokens, k) if used == 1 else (tokens, used, k)
        x = grid(rng, shape)
        chosen = t(values)[torch.tensor(np.maximum(ids, 0))]
        y = torch.einsum("tuk,tunk->tun", t(x).reshape(tokens, -1, k).expand(tokens, used, k), chosen)
        y[torch.tensor(ids < 0)] = 0
        w = Raw(name, (experts, n, k), w.data) if isinstance(w, Raw) else f32(values)
        yield f"{name}_u{used}", {"activation": QA_NONE, "x": f32(x), "w": w, "ids": i32(ids), "y": f64(y)}
