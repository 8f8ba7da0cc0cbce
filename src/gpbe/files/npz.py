"""Archives of arrays (.npz) that anybody may have written: bounded, and nothing in them is run.

NumPy's own reader evaluates headers, allocates what they declare, and raises a dozen kinds of errors. What it writes is
simple, so it is read here: an array is a header of one form, and exactly as many bytes as the header says.
"""

import math
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpbe.errors import InputError
from gpbe.files.reading import check_file, too_large
from gpbe.shapes import Array

MOST = 2**29
"""Bytes that a file may hold when unpacked, unless the caller allows more."""
_ENTRIES = 10_000
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_HEADER = re.compile(
    rb"\{'descr': '(?P<kind>[<>|=](?:[?]|b1|[iu][1248]|f[248]|c8|c16|U\d{1,7}))', "
    rb"'fortran_order': (?P<fortran>True|False), 'shape': \((?P<shape>[0-9, ]{0,400})\), ?\} *\n"
)


def read_npz(path: str | Path, check_names: Callable[[list[str]], Any], most: int = MOST) -> dict[str, Array]:
    """The arrays of an archive by name; `check_names` refuses names before anything is unpacked."""
    check_file(path, most)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive)
            check_names(list(entries))
            return {name: parse_npy(_unpacked(archive, entries[name]), name) for name in _checked(entries, most)}
    except InputError:
        raise
    except Exception as error:  # whatever a broken archive makes zipfile and zlib raise
        raise InputError(f"is not an .npz archive that can be read ({str(error) or type(error).__name__})") from None


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    entries = {info.filename.removesuffix(".npy"): info for info in infos}
    if len(infos) > _ENTRIES:
        raise InputError(f"has {len(infos):,} arrays; it should have a few")
    if len(entries) < len(infos):
        raise InputError("has two arrays of one name; each should have its own")
    return entries


def _checked(entries: Mapping[str, zipfile.ZipInfo], most: int) -> Mapping[str, zipfile.ZipInfo]:
    size = sum(info.file_size for info in entries.values())
    if size > most:
        raise too_large(size, most)
    for name, info in entries.items():
        if info.compress_type not in _PLAIN or info.flag_bits & _ENCRYPTED:
            raise InputError(f"has {name!r} packed in a way that NumPy does not use; numpy.savez_compressed is right")
    return entries


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Never more than the archive says; at its end, what was read is compared with the archive's own sum."""
    with archive.open(info) as file:
        data = file.read(info.file_size)
        if len(data) != info.file_size or file.read(1):
            raise InputError(f"has {info.filename!r} of another size than it says")
    return data


def parse_npy(data: bytes, name: str) -> Array:
    """An array as `numpy.save` writes it; read-only, since it is not copied.

    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> np.save(file, [1.5, 2.5])
    >>> parse_npy(file.getvalue(), "x")
    array([1.5, 2.5])
    """
    if data[:6] != b"\x93NUMPY" or data[6:8] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise InputError(f"has {name!r}, which is no array; numpy.savez writes arrays")
    start = 10 if data[6] == 1 else 12
    end = start + int.from_bytes(data[8:start], "little")
    header = _HEADER.fullmatch(data[start:end])
    if header is None:
        raise InputError(f"has {name!r}, which is not an array of plain numbers or text; save nothing else")
    kind = np.dtype(header["kind"].decode().replace("=", "<"))
    shape = _shape(header["shape"], name)
    if math.prod(shape) * kind.itemsize != len(data) - end:
        raise InputError(f"has {name!r} of shape {shape} in {len(data) - end} bytes; it should fill them")
    if kind.kind == "U":
        _check_text(data[end:], kind, name)
    flat = np.frombuffer(data, kind, offset=end) if math.prod(shape) else np.zeros(0, kind)
    array = flat.reshape(shape, order="F" if header["fortran"] == b"True" else "C")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _shape(text: bytes, name: str) -> tuple[int, ...]:
    sizes = [size.strip() for size in text.split(b",")]
    sizes = sizes[:-1] if sizes[-1] == b"" else sizes
    if len(sizes) > 32 or not all(size.isdigit() and len(size) < 19 for size in sizes):
        raise InputError(f"has {name!r} of a shape that cannot be read")
    shape = tuple(map(int, sizes))
    if any(size > 2**40 for size in shape):  # beside an axis of 0 nothing else would refuse it
        raise InputError(f"has {name!r} of shape {shape}, which is too large")
    return shape


def _check_text(data: bytes, kind: np.dtype, name: str) -> None:
    try:
        data.decode("utf-32-be" if kind.byteorder == ">" else "utf-32-le")
    except UnicodeDecodeError:
        raise InputError(f"has {name!r} with letters that do not exist") from None
