"""One file with a few arrays and a JSON header: safe to load (nothing in it is run), written whole or not at all."""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.shapes import Array

HEADER = "header"


def write(path: Path, kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    text = json.dumps({"format": kind, "version": version} | dict(header))
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{HEADER: np.frombuffer(text.encode(), np.uint8)}, **arrays)  # pyright: ignore
    write_atomic(path, file.getvalue())


def read(path: Path, kind: str, version: int, what: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a file of that kind; `what` a person calls it."""
    if not path.exists():
        raise InputError(f"there is no file {path}")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(bytes(arrays.pop(HEADER)))
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is not {what} saved by gpbe ({' '.join(str(error).split())[:80]})") from None
    if not isinstance(header, dict) or header.get("format") != kind:
        raise InputError(f"{path} is not {what} saved by gpbe, but holds {header.get('format', 'something else')!r}")
    if header["version"] > version:
        raise InputError(
            f"{path} has version {header['version']} of its format; this gpbe reads up to {version}: use a newer one"
        )
    return header, arrays
