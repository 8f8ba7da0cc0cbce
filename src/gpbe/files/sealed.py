"""Tables that carry their own checksum: Parquet files whose key-value metadata say what they are, as JSON.

The last entry is the SHA-256 of the whole file, computed with that entry's 64 digits as zeros: Parquet itself has no
checksum over a file, and a second file could not be renamed together with the first.
"""

import hashlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
"""Version of what is written below; a reader refuses files of a later one."""

_MAGIC = b"PAR1"
_START = b'{"gpbe_part":'
_ZEROS = b"0" * 64
_NO_PARQUET = "it is cut short, or not a Parquet file"
_TAIL = 16384
"""Bytes read to find a footer: a few times what a table of some dozen columns needs."""
_BLOCK = 2**20


class Damaged(ValueError):
    """A file that cannot be used; the message says why."""


def seal(frame: "pl.DataFrame", about: dict[str, Any], level: int | None = None) -> bytes:
    """The bytes of a file: the table, what is known `about` it, and the checksum of both.

    `level` is how hard to compress; by default, as quick as it is good.

    >>> import polars as pl
    >>> data = seal(pl.DataFrame({"x": [1.0, 2.0]}), {"name": "mine"})
    >>> check(data)["name"], pl.read_parquet(data)["x"].sum()
    ('mine', 3.0)
    """
    described = {"gpbe_part": SCHEMA, **about, "sha256": _ZEROS.decode()}
    buffer = io.BytesIO()
    metadata = {"gpbe": json.dumps(described, separators=(",", ":"), allow_nan=False)}
    frame.write_parquet(buffer, compression_level=level, metadata=metadata)
    data = buffer.getvalue()
    _, place = _parse(data)
    return data[:place] + hashlib.sha256(data).hexdigest().encode() + data[place + 64 :]


def check(data: bytes) -> dict[str, Any]:
    """The description in a file's bytes, after comparing them with their checksum.

    >>> import polars as pl
    >>> data = bytearray(seal(pl.DataFrame({"x": [1.0, 2.0]}), {}))
    >>> data[20] ^= 1
    >>> check(bytes(data))
    Traceback (most recent call last):
    gpbe.files.sealed.Damaged: its checksum does not fit its content
    """
    if data[:4] != _MAGIC:
        raise Damaged(_NO_PARQUET)
    about, place = _parse(data)
    computed = hashlib.sha256(memoryview(data)[:place])
    computed.update(_ZEROS)
    computed.update(memoryview(data)[place + 64 :])
    if computed.hexdigest() != about["sha256"]:
        raise Damaged("its checksum does not fit its content")
    return about


def is_sealed(data: bytes) -> bool:
    """Does a Parquet file's end have what `seal` puts there? Whether it fits, `check` tells."""
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[-4:] == _MAGIC and footer >= 0 and data.rfind(_START, footer) >= 0


def peek(path: Path) -> dict[str, Any]:
    """What a file says about itself, from its last few kilobytes and without a look at its checksum."""
    with open(path, "rb", buffering=0) as file:
        return _parse(read_tail(file))[0]


def check_file(file: BinaryIO) -> dict[str, Any]:
    """The same as `check` of an open file, of which no more than a block is in memory."""
    tail = read_tail(file)
    about, place = _parse(tail)
    before, computed = os.fstat(file.fileno()).st_size - len(tail) + place, hashlib.sha256()
    file.seek(0)
    if file.read(4) != _MAGIC:
        raise Damaged(_NO_PARQUET)
    file.seek(0)
    while block := file.read(min(_BLOCK, before)):
        computed.update(block)
        before -= len(block)
    computed.update(_ZEROS)
    file.seek(64, os.SEEK_CUR)
    while block := file.read(_BLOCK):
        computed.update(block)
    if computed.hexdigest() != about["sha256"]:
        raise Damaged("its checksum does not fit its content")
    return about


def read_tail(file: BinaryIO) -> bytes:
    """The end of an open file, with all of its footer."""
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    footer = int.from_bytes(tail[-8:-4], "little") + 8
    if len(tail) < footer <= size and tail.endswith(_MAGIC):
        file.seek(size - footer)
        tail = file.read()
    return tail


def _parse(data: bytes) -> tuple[dict[str, Any], int]:
    """What the footer at the end of `data` says, and where in `data` the digits of the checksum begin."""
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    if data[-4:] != _MAGIC or footer < 0:
        raise Damaged(_NO_PARQUET)
    start = data.rfind(_START, footer)
    if start < 0:
        raise Damaged("it is a Parquet file that gpbe did not write")
    try:
        about, length = json.JSONDecoder().raw_decode(data[start:].decode("latin-1"))
    except (ValueError, RecursionError):
        raise Damaged("its description cannot be read") from None
    if not data.endswith(b'"}', start, start + length) or len(str(about.get("sha256"))) != 64:
        raise Damaged("it has no checksum")
    if about["gpbe_part"] != SCHEMA:
        raise Damaged(f"it has schema version {about['gpbe_part']}; this gpbe reads version {SCHEMA}")
    return about, start + length - 66
