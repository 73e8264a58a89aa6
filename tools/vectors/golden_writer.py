# SPDX-License-Identifier: Apache-2.0
"""Golden cases as text, and the inputs that all of them are made of."""

import textwrap

import numpy as np

WIDTH = 100


class Raw:
    """Bytes of a tensor: any type, `shape` in elements."""

    def __init__(self, kind, shape, data):
        self.kind, self.shape, self.data = kind, shape, bytes(data)


class Values:
    """Numbers of a tensor, written in decimal so that they are read back exactly."""

    def __init__(self, kind, array):
        self.kind, self.array = kind, np.asarray(array)


def f32(array):
    return Values("f32", array)


def f64(array):
    return Values("f64", array)


def i32(array):
    return Values("i32", array)


def number_text(value):
    value = float(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e9 and str(value)[0] != "-" else repr(value)


def value_text(kind, value):
    if kind == "i32":
        return str(int(value))
    value = float(value)
    if not np.isfinite(value) or value != int(value) or value == 0 or abs(value) > 1e9:
        return repr(value)
    return str(int(value))


def tensor_lines(name, item):
    if isinstance(item, Raw):
        shape, kind = item.shape, item.kind
        hexes = item.data.hex()
        body = ["hex"] + [hexes[i:i + 96] for i in range(0, len(hexes), 96)]
    else:
        shape, kind = item.array.shape, item.kind
        body = [value_text(kind, value) for value in item.array.reshape(-1)]
    text = " ".join([name, ":", kind, "["] + [str(size) for size in shape] + ["]"] + body)
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False,
                         break_on_hyphens=False)


def render(header, cases):
    lines = list(header)
    for name, items in cases:
        lines.append(f"case {name}")
        for key, item in items.items():
            if isinstance(item, (Raw, Values)):
                lines += tensor_lines(key, item)
            else:
                lines.append(f"  {key} = {number_text(item)}")
    return "\n".join(lines) + "\n"


def grid(rng, shape, limit=2.0, step=1 / 64):
    """Multiples of `step` within +-limit: exact in f32, f16 and bf16 alike."""
    steps = int(limit / step)
    return rng.integers(-steps, steps, shape, endpoint=True).astype(np.float64) * step
