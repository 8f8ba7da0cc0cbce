"""One part of the results: a sealed table (gpbe.files.sealed) that says which chunk of which sweep it is."""

from typing import Any

import polars as pl

from gpbe.files import sealed
from gpbe.files.sealed import SCHEMA, Damaged, seal

__all__ = ["SCHEMA", "Damaged", "check", "described", "encode"]


def encode(frame: pl.DataFrame, about: dict[str, Any], level: int | None = None) -> bytes:
    """The bytes of a part: the table, what is known `about` it, and the checksum of both.

    >>> part = encode(pl.DataFrame({"x": [1.0, 2.0]}), {"chunk": "00c0ffee00c0ffee"})
    >>> check(part)["chunk"], pl.read_parquet(part)["x"].sum()
    ('00c0ffee00c0ffee', 3.0)
    """
    diverged = int((frame["diverged_at"] >= 0).sum()) if frame.schema.get("diverged_at", pl.Null).is_numeric() else 0
    columns = {name: str(kind) for name, kind in frame.schema.items()}
    return seal(frame, {**about, "rows": frame.height, "columns": columns, "diverged": diverged}, level)


def check(data: bytes) -> dict[str, Any]:
    """What a part's bytes say about it, after comparing them with their checksum.

    >>> part = bytearray(encode(pl.DataFrame({"x": [1.0, 2.0]}), {}))
    >>> part[20] ^= 1
    >>> check(bytes(part))
    Traceback (most recent call last):
    gpbe.files.sealed.Damaged: its checksum does not fit its content
    """
    return described(sealed.check(data))


def described(about: dict[str, Any]) -> dict[str, Any]:
    """What a part says about itself, if it says all that a part should."""
    columns = about.get("columns")
    whole = isinstance(columns, dict) and all(isinstance(kind, str) for kind in columns.values())
    counts = all(type(about.get(name)) is int and about[name] >= 0 for name in ("rows", "diverged"))
    seconds = about.get("seconds", 0.0)
    if not (whole and counts and isinstance(seconds, int | float)):
        raise Damaged("it does not say what is in it")
    return about
