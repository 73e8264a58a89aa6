# SPDX-License-Identifier: Apache-2.0
"""Vectors of ops without weights, by torch in float64. Options and operands are named as in ops/*/contract.h."""

import numpy as np
import torch
import torch.nn.functional as F

from golden_writer import f32, f64, grid, i32


def rng_of(seed):
    return np.random.default_rng(seed)


def t(array):
    return torch.tensor(np.asarray(array), dtype=torch.float64)


def rmsnorm():
    rng = rng_of(201)
    for rows, cols, eps in ((3, 1, 1e-5), (2, 17, 1e-6), (3, 96, 1e-5), (1, 33, 0.0)):
        x, w = grid(rng, (rows, cols)), grid(rng, (cols,))
        eps = float(np.float32(eps))
        y = F.rms_norm(t(x), (cols,), t(w), eps)
        yield f"r{rows}_c{cols}", {"eps": eps, "x": f32(x), "w": f32(w), "y": f64(y)}
    x, add, w = grid(rng, (2, 40)), grid(rng, (2, 40)), grid(rng, (40,))
    yield "residual", {"eps": 0.0009765625, "x": f32(x), "add": f32(add), "w": f32(w), "sum": f64(x + add),
                       "y": f64(F.rms_norm(t(x + add), (40,), t(w), 0.0009765625))}
    yield "no_weight", {"eps": 0.5, "x": f32(x), "y": f64(F.rms_norm(t(x), (40,), None, 0.5))}
    small = x * 2.0**-12
    yield "eps_matters", {"eps": 2.0**-24, "x": f32(small), "y": f64(F.rms_norm(t(small), (40,), None, 2.0**-24))}


def layernorm():
    rng = rng_of(202)
    for rows, cols in ((3, 1), (2, 17), (3, 96)):
        x, w, b = grid(rng, (rows, cols)), grid(rng, (cols,)), grid(rng, (cols,))
        eps = float(np.float32(1e-5))
        yield f"r{rows}_c{cols}", {"eps": eps, "x": f32(x), "w": f32(w), "b": f32(b),
                                   "y": f64(F.layer_norm(t(x), (cols,), t(w), t(b), eps))}
        yield f"r{rows}_c{cols}_no_b", {"eps": eps, "x": f32(x), "w": f32(w),
                                        "y": f64(F.layer_norm(t(x), (cols,), t(w), None, eps))}
    x = grid(rng, (2, 50)) + 1000
    yield "far_from_zero", {"eps": 2.0**-17, "x": f32(x), "w": f32(np.ones(50)),
                            "y": f64(F.layer_norm(t(x), (50,), None, None, 2.0**-17))}


def binary(seed, op):
    rng = rng_of(seed)
    for name, a, b in (("same", (3, 5), (3, 5)), ("row", (3, 5), (1, 5)), ("column", (3, 5), (3, 1)),
                       ("one", (2, 3), (1, 1)), ("rank3", (2, 3, 4), (1, 3, 1)), ("rank4", (2, 1, 2, 3), (1, 1, 2, 3))):
        x, y = grid(rng, a), grid(rng, b)
        yield name, {"a": f32(x), "b": f32(y), "y": f64(op(t(x), t(y)))}


def add():
    return binary(203, torch.add)


def mul():
    return binary(204, torch.mul)


def scale():
    rng = rng_of(205)
    for factor in (0.125, -1.5, float(np.float32(1 / 3)), 0.0):
        x = grid(rng, (2, 19))
        yield f"by_{factor:g}", {"factor": factor, "x": f32(x), "y": f64(torch.mul(t(x), factor))}


def rope_table(positions, half, base):
    angle = torch.outer(torch.arange(positions, dtype=torch.float64),
                        base ** (-torch.arange(half, dtype=torch.float64) / half))
    table = torch.polar(torch.ones_like(angle), angle)
    # The op is given the table in f32.
    return torch.complex(table.real.float().double(), table.imag.float().double())


def rope():
    rng = rng_of(206)
    for name, tokens, heads, dim, rotary in (("whole", 3, 2, 8, 8), ("part", 2, 3, 10, 6), ("one_pair", 4, 1, 2, 2)):
        table = rope_table(40, rotary // 2, 10000.0)
        x = t(grid(rng, (tokens, heads, dim)))
        positions = rng.permutation(40)[:tokens]
        turn = table[positions][:, None, :]
        head, rest = x[..., :rotary], x[..., rotary:]
        pairs = torch.view_as_complex(head.reshape(tokens, heads, rotary // 2, 2).contiguous()) * turn
        interleaved = torch.view_as_real(pairs).reshape(tokens, heads, rotary)
        split = torch.complex(head[..., :rotary // 2], head[..., rotary // 2:]) * turn
        split = torch.cat([split.real, split.imag], dim=-1)
        common = {"x": f32(x), "table": f32(torch.view_as_real(table)), "positions": i32(positions)}
        for mode, turned in ((0, interleaved), (1, split)):
            yield f"{name}_{'split' if mode else 'interleaved'}", {
                "mode": mode, **common, "y": f64(torch.cat([turned, rest], dim=-1))}


def softmax():
    rng = rng_of(207)
    for rows, cols, factor in ((2, 1, 1.0), (3, 7, 1.0), (2, 65, 0.125), (1, 300, 4.0)):
        x = grid(rng, (rows, cols), 8.0)
        yield f"r{rows}_c{cols}", {"scale": factor, "x": f32(x), "y": f64(torch.softmax(t(x) * factor, -1))}
    x, mask = grid(rng, (3, 9)), np.where(rng.random((3, 9)) < 0.4, -np.inf, 0.0)
    mask[:, 4] = 0.5
    yield "mask", {"scale": 0.5, "x": f32(x), "mask": f32(mask), "y": f64(torch.softmax(t(x) * 0.5 + t(mask), -1))}
    yield "mask_one_row", {"scale": 2.0, "x": f32(x), "mask": f32(mask[:1]),
                           "y": f64(torch.softmax(t(x) * 2 + t(mask[:1]), -1))}
    wide = np.array([[-80.0, 90.0, 89.0, -100.0], [1000.0, 0.0, -1000.0, 999.0]])
    yield "far_apart", {"scale": 1.0, "x": f32(wide), "y": f64(torch.softmax(t(wide), -1))}


def log_softmax():
    rng = rng_of(208)
    for rows, cols in ((2, 1), (3, 33), (1, 200)):
        x = grid(rng, (rows, cols), 8.0)
        y = torch.log_softmax(t(x), -1)
        ids = rng.integers(0, cols, (rows, 3))
        yield f"r{rows}_c{cols}", {"x": f32(x), "y": f64(y)}
        yield f"r{rows}_c{cols}_ids", {"x": f32(x), "ids": i32(ids), "y": f64(torch.gather(y, 1, torch.tensor(ids)))}


def gate_cases(seed, function):
    rng = rng_of(seed)
    gate, up = grid(rng, (3, 21), 8.0), grid(rng, (3, 21))
    yield "random", {"gate": f32(gate), "up": f32(up), "y": f64(function(t(gate)) * t(up))}
    ends = np.array([[-200.0, -100.0, -20.0, -1.0, -0.0, 0.0, 2.0**-20, 1.0, 20.0, 100.0, 200.0]])
    yield "ends", {"gate": f32(ends), "up": f32(np.ones_like(ends)), "y": f64(function(t(ends)))}


def silu_mul():
    return gate_cases(209, F.silu)


def gelu_mul():
    for approximation, name in enumerate(("none", "tanh")):
        for case, items in gate_cases(210, lambda x: F.gelu(x, approximate=name)):
            yield f"{case}_{name}", {"approximation": approximation, **items}


def visible(rows, keys, causal, window):
    """Which keys each of the last `rows` of `keys` positions sees."""
    query = torch.arange(keys - rows, keys)[:, None]
    key = torch.arange(keys)[None, :]
    seen = torch.ones(rows, keys, dtype=torch.bool)
    if causal:
        seen &= key <= query
    if window:
        seen &= key > query - window
    return seen


def attend(q, k, v, options):
    """One sequence: q [rows, heads, dim], k and v [keys, kv heads, dim]."""
    group = q.shape[1] // k.shape[1]
    q, k, v = q.transpose(0, 1), k.transpose(0, 1).repeat_interleave(group, 0), v.transpose(0, 1).repeat_interleave(group, 0)
    mask = visible(q.shape[1], k.shape[1], options["causal"], options["window"])
    if not options["soft_cap"]:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=options["scale"]).transpose(0, 1)
    cap = options["soft_cap"]
    score = cap * torch.tanh(q @ k.transpose(1, 2) * options["scale"] / cap)
    return (torch.softmax(score.masked_fill(~mask, -torch.inf), -1) @ v).transpose(0, 1)


def attention_case(rng, lengths, heads, kv_heads, dim, page, **options):
    options = {"causal": 1, "scale": float(np.float32(dim**-0.5)), "soft_cap": 0.0, "window": 0, **options}
    rows = [t(grid(rng, (new, heads, dim))) for new, _ in lengths]
    keys = [t(grid(rng, (total, kv_heads, dim))) for _, total in lengths]
    values = [t(grid(rng, (total, kv_heads, dim))) for _, total in lengths]
    need = [-(-total // page) for _, total in lengths]
    order = rng.permutation(sum(need) + 2)
    table = np.zeros((len(lengths), max(need) + 1), dtype=np.int64)
    k_pages = np.full((len(order), kv_heads, page, dim), 99.0)
    v_pages = np.full_like(k_pages, -99.0)
    at = 0
    for s, (_, total) in enumerate(lengths):
        for i in range(total):
            table[s, i // page] = order[at + i // page]
            k_pages[table[s, i // page], :, i % page] = keys[s][i]
            v_pages[table[s, i // page], :, i % page] = values[s][i]
        at += need[s]
    y = [attend(*parts, options) for parts in zip(rows, keys, values)]
    return {**options, "q": f32(torch.cat(rows)), "k_pages": f32(k_pages), "v_pages": f32(v_pages),
            "block_table": i32(table), "q_start": i32(np.cumsum([0] + [new for new, _ in lengths])),
            "kv_len": i32([total for _, total in lengths]), "y": f64(torch.cat(y))}


def attention():
    rng = rng_of(211)
    yield "decode", attention_case(rng, [(1, 9), (1, 4), (1, 1)], 2, 2, 4, 4)
    yield "grouped", attention_case(rng, [(1, 11)], 6, 2, 4, 4)
    yield "prefill", attention_case(rng, [(5, 5), (2, 7)], 2, 1, 8, 3)
    yield "not_causal", attention_case(rng, [(3, 6)], 2, 2, 4, 4, causal=0)
    yield "window", attention_case(rng, [(4, 10), (1, 12)], 2, 1, 4, 4, window=3)
    yield "soft_cap", attention_case(rng, [(2, 7)], 2, 1, 4, 16, soft_cap=1.5, scale=1.25)


def kv_append():
    rng = rng_of(212)
    pages, heads, page, dim = 3, 2, 4, 3
    slots = np.array([5, -1, 0, 11, 6])
    k, v = grid(rng, (5, heads, dim)), grid(rng, (5, heads, dim))
    before = {"k": grid(rng, (pages, heads, page, dim)), "v": grid(rng, (pages, heads, page, dim))}
    after = {}
    for name, new in (("k", k), ("v", v)):
        after[name] = t(before[name]).permute(0, 2, 1, 3).reshape(pages * page, heads, dim)
        used = torch.tensor(slots[slots >= 0])
        after[name] = torch.index_copy(after[name], 0, used, t(new)[torch.tensor(slots >= 0)])
        after[name] = after[name].reshape(pages, page, heads, dim).permute(0, 2, 1, 3)
    yield "scattered", {"k": f32(k), "v": f32(v), "slots": i32(slots), "k_pages": f32(before["k"]),
                        "v_pages": f32(before["v"]), "k_after": f64(after["k"]), "v_after": f64(after["v"])}


def distinct(rng, shape):
    """Numbers of which no two in a row are equal."""
    return np.stack([rng.permutation(4 * shape[1])[:shape[1]] for _ in range(shape[0])]) / 16 - shape[1] / 8


def argmax():
    rng = rng_of(213)
    for rows, cols in ((3, 1), (4, 37), (2, 300)):
        x = distinct(rng, (rows, cols))
        yield f"r{rows}_c{cols}", {"x": f32(x), "y": i32(torch.argmax(t(x), -1))}


def top_k():
    rng = rng_of(214)
    for rows, cols, k in ((3, 5, 5), (2, 64, 10), (1, 300, 40)):
        x = distinct(rng, (rows, cols))
        values, ids = torch.topk(t(x), k, sorted=True)
        yield f"r{rows}_c{cols}_k{k}", {"x": f32(x), "values": f64(values), "ids": i32(ids)}


def chosen(logits, temperature, top_k, top_p, min_p, u):
    """Order: top_k, top_p, min_p; then the inverse distribution of u over what is left."""
    if temperature == 0:
        return int(np.argmax(logits))
    order = np.argsort(-logits, kind="stable")
    scaled = logits[order] / temperature
    p = np.exp(scaled - scaled[0])
    if 0 < top_k < len(p):
        p = p[:top_k]
    p = p / p.sum()
    if 0 < top_p < 1:
        p = p[:int(np.searchsorted(np.cumsum(p), top_p)) + 1]
        p = p / p.sum()
    if min_p > 0:
        p = p[p >= min_p * p[0]]
        p = p / p.sum()
    return int(order[min(int(np.searchsorted(np.cumsum(p), u, side="right")), len(p) - 1)])


def sample():
    rng = rng_of(215)
    for cols in (5, 100):
        logits = distinct(rng, (16, cols))
        temperature = rng.choice([0.0, 0.5, 1.0, 2.0], 16)
        top_k, top_p = rng.choice([0, 1, 3, 50], 16), rng.choice([0.5, 0.75, 0.9375, 1.0], 16)
        min_p, u = rng.choice([0.0, 0.0625, 0.25], 16), rng.integers(0, 256, 16) / 256
        ids = [chosen(*row) for row in zip(logits, temperature, top_k, top_p, min_p, u)]
        yield f"c{cols}", {"logits": f32(logits), "temperature": f32(temperature), "top_k": i32(top_k),
                           "top_p": f32(top_p), "min_p": f32(min_p), "u": f32(u), "id": i32(ids)}
