"""Odd values, and ways to spoil what is right."""

import io
import json
import lzma
import math
import pickle
import struct
import zipfile
from random import Random
from typing import Any

import numpy as np

TEXTS = (
    *(
        "",
        ".",
        "..",
        "/",
        "x" * 300,
        "[red]x[/nope]",
        "[bold]",
        ":smile:",
        "\x1b[2J",
        "\x00",
        "\n",
        "\u202e",
        "ä",
        "$x^",
    ),
    *("%s", "evilmod:X-v0", "evilmod:NAME", "evilmod", "../../x", "nan", "inf", "1e99999999999", "1/0", "1/3", "-1"),
    *("0x10", "qrc", "CartPole-v1", "td", "default", "9" * 5000, "1" + "0" * 400, "true", "{}", "\udcff"),
)
NUMBERS = (
    *(0, -1, 1, 2, 7, 0.5, -0.5, 1.5, 1e-320, 1e20, 1e200, 1e308, -1e308, math.inf, -math.inf, math.nan, 2**31, 2**32),
    *(2**53 + 1, 2**63 - 1, 2**63, 2**64, 2**70, 10**30, 10**4000, 0.1, 1 - 1e-9, 3.0000001),
)


def value(rng: Random, depth: int = 0) -> Any:
    """Anything."""
    kind = rng.randrange(12)
    if kind < 4:
        return rng.choice(NUMBERS)
    if kind < 8:
        return rng.choice(TEXTS)
    if kind < 9:
        return rng.choice((True, False))
    if depth > 3:
        return []
    if kind < 11:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(rng.choice(TEXTS)): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def nested(depth: int) -> Any:
    """Lists in lists."""
    inner: Any = 1
    for _ in range(depth):
        inner = [inner]
    return inner


def changed(tree: Any, rng: Random) -> Any:
    """A tree of tables and lists with something else somewhere, without something, or with something more."""
    if isinstance(tree, dict) and tree and rng.random() < 0.85:
        key = rng.choice(list(tree))
        act = rng.random()
        if act < 0.12:
            return {k: v for k, v in tree.items() if k != key}
        if act < 0.22:
            return tree | {rng.choice([*TEXTS, *tree]): value(rng)}
        if act < 0.27:
            return {(rng.choice(TEXTS) if k == key else k): v for k, v in tree.items()}
        return tree | {key: changed(tree[key], rng)}
    if isinstance(tree, list) and tree and rng.random() < 0.8:
        at = rng.randrange(len(tree))
        act = rng.random()
        if act < 0.15:
            return tree[:at] + tree[at + 1 :]
        if act < 0.3:
            return [*tree[:at], tree[at], *tree[at:]]
        return [changed(each, rng) if k == at else each for k, each in enumerate(tree)]
    return nested(rng.choice((3, 30, 300))) if rng.random() < 0.03 else value(rng)


def nudged(tree: Any, rng: Random) -> Any:
    """A tree with one number a little different, which may still be right."""
    if isinstance(tree, dict) and tree:
        key = rng.choice(list(tree))
        return tree | {key: nudged(tree[key], rng)}
    if isinstance(tree, list) and tree:
        at = rng.randrange(len(tree))
        return [nudged(each, rng) if k == at else each for k, each in enumerate(tree)]
    if isinstance(tree, bool) or not isinstance(tree, int | float) or not abs(tree) < 1e100:
        return tree
    return rng.choice((tree + 1, 2 * tree, tree / 2, -tree, 0 * tree, type(tree)(1e4 * tree), type(tree)(1e15 * tree)))


def spoiled(data: bytes, rng: Random) -> bytes:
    """Bytes with a flipped bit, a hole, a piece too many or too few, or a huge number in them."""
    if not data:
        return b"?"
    out, at = bytearray(data), rng.randrange(len(data))
    act = rng.randrange(7)
    if act < 3:
        out[at] ^= 1 << rng.randrange(8)
    elif act == 3:
        del out[at:]
    elif act == 4:
        out[at : at + rng.randrange(1, 40)] = bytes(rng.randrange(1, 40))
    elif act == 5:
        size = rng.choice((1, 2, 4, 8))
        out[at : at + size] = rng.choice((b"\xff", b"\x7f", b"\x00", b"\x80")) * size
    else:
        out[at:at] = out[rng.randrange(len(data)) :][: rng.randrange(1, 60)]
    return bytes(out)


def as_toml(value: Any, rng: Random) -> str:
    """A table as TOML; what TOML has no word for becomes something near it."""
    lines = [f"{_key(k)} = {_inline(v)}" for k, v in value.items()] if isinstance(value, dict) else [_inline(value)]
    text = "\n".join(lines) + "\n"
    if rng.random() < 0.1:  # and sometimes no TOML at all
        at = rng.randrange(len(text) + 1)
        text = (
            text[:at]
            + rng.choice(("[", "]", "{", '"', "'''", "=", "\x00", "\r", "#", "[[x]]\n", "a.b.c=1\n"))
            + text[at:]
        )
    return text


def _key(key: Any) -> str:
    return json.dumps(str(key), ensure_ascii=True).replace("\\ud", "\\u0d")


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, int) and value.bit_length() > 4000:
        return hex(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + "}"
    return _key(value)


HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 10000000000000000), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<U99999999', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 300 + ")" * 300 + ", }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f8', 'fortran_order': 1, 'shape': (1L,), }",
    "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,), }",
    "__import__('evilmod')",
    "{",
    "",
)


def npy(array: Any, rng: Random) -> bytes:
    """An array as NumPy writes it; or with another header, or something that is none."""
    file = io.BytesIO()
    if rng.random() < 0.06:
        return rng.choice((b"", b"\x93NUMPY", b"hello", pickle.dumps([1]), b"\x93NUMPY\x09\x00" + b"\xff" * 90))
    np.save(file, array, allow_pickle=True)
    data = file.getvalue()
    if rng.random() < 0.12:
        header = rng.choice(HEADERS).encode("latin-1") + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data[128:]
    return data


def array(rng: Random, like: np.ndarray) -> Any:
    """An array like another, but for its type, its shape or some of its numbers."""
    act = rng.randrange(9)
    if act == 0:
        numbers = ("f2", "f4", ">f8", "i8", "u1", "c16", "?") if like.dtype.kind != "U" else ()
        return like.astype(rng.choice((*numbers, "U8", "S4", "O")))
    if act == 1:
        return like[..., :-1] if like.ndim and like.shape[-1] else like[None]
    if act == 2:
        return like[None].repeat(rng.choice((1, 2, 3)), 0)
    if act == 3:
        return like.reshape(-1)
    if act == 4:
        return np.asarray(rng.choice([n for n in NUMBERS if n != 10**4000]), rng.choice((float, object)))
    if act == 5:
        return np.zeros(tuple(rng.choice((0, 1, 2, 3, 500)) for _ in range(rng.randrange(4))))
    if act == 6:
        return np.asarray([t for t in rng.sample(TEXTS, 2) if "\udcff" not in t])
    if like.size and like.dtype.kind in "fiu":
        out = np.array(like, like.dtype)
        out.reshape(-1)[rng.randrange(out.size)] = rng.choice(
            (0, 1, 2, 0.5) if like.dtype.kind != "f" else NUMBERS[:15]
        )
        return out
    return like


def npz(members: dict[str, bytes], rng: Random) -> bytes:
    """An archive; perhaps packed in other ways, with names twice, or with sizes that are not so."""
    file = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED,) * 8 + (zipfile.ZIP_DEFLATED,) * 3 + (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
        if rng.random() < 0.03:
            archive.writestr("bomb.npy", bytes(4 * 2**20), zipfile.ZIP_DEFLATED)
        if rng.random() < 0.03:
            archive.writestr("deep.npy", lzma.compress(b"[" * 10000))
    return file.getvalue()
