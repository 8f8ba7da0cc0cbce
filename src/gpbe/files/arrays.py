"""One file with a few arrays and a JSON header: safe to load (nothing in it is run), written whole or not at all.

Its header has the checksum of the header itself and of every array with its name, type and shape. So a file that was
cut, retyped or edited is refused, and not only one with a flipped bit, which an archive notices by itself.
"""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.files.npz import read_npz
from gpbe.files.reading import check_file, parse_json
from gpbe.shapes import Array

HEADER = "header"
CHECKED = 2
"""The version from which files of all kinds carry a checksum."""


def write(path: Path, kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a file of that kind."""
    text = json.dumps({"format": kind, "version": version} | dict(header))
    whole = json.dumps(json.loads(text) | {"sha256": checksum(json.loads(text), arrays)})
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{HEADER: np.frombuffer(whole.encode(), np.uint8)}, **arrays)  # pyright: ignore
    write_atomic(path, file.getvalue())


def checksum(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """The SHA-256 of all that a file holds."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(json.dumps([name, array.dtype.str, arrays[name].shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def read(
    path: Path, kind: str, version: int, what: str, oldest: int = CHECKED
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a file of that kind, compared with their checksum; `what` a person calls it."""
    if not os.path.exists(path):
        raise InputError(f"there is no file {path}")
    try:
        arrays = read_npz(path, lambda names: None, most=check_file(path))  # nothing in it is compressed
        if HEADER not in arrays:
            raise InputError("has no header")
        header = parse_json(arrays.pop(HEADER).tobytes())
    except InputError as error:
        raise InputError(f"{path} is not {what} saved by gpbe: it {error}") from None
    if not isinstance(header, dict) or header.get("format") != kind:
        held = header.get("format", "something else") if isinstance(header, dict) else "something else"
        raise InputError(f"{path} is not {what} saved by gpbe, but holds {held!r}")
    found = header.get("version")
    if not isinstance(found, int) or not oldest <= found <= version:
        raise InputError(
            f"{path} has version {found} of its format; this gpbe reads {what} of version {oldest} to {version}"
        )
    said = header.pop("sha256", None)
    if found >= CHECKED and said != checksum(header, arrays):
        raise InputError(f"{path}: its checksum does not fit its content; it was damaged or edited")
    return header, arrays
