"""Reading what others have written: limits on size, depth and digits, and one kind of error.

Whatever is in a file, it is read in bounded time and memory, and what is wrong with it is an `InputError`. Messages
here do not name the file: whoever opens it does.
"""

import json
import os
import re
import stat
import tomllib
from datetime import date, time
from pathlib import Path
from typing import Any

from gpbe.errors import InputError

TEXT = 4 * 2**20
"""Bytes of a text that people write."""
DEPTH = 24
"""Lists and tables within each other."""
KEY = 64
"""Parts of a dotted key. The time that `tomllib` takes is quadratic in them."""

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{KEY}}}")


def check_file(path: str | Path, most: int | None = None) -> int:
    """The size of a file in bytes, if it is one and has no more than so many."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:  # ValueError: a null byte in its name
        raise unreadable(error) from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError("is a folder; it should be a file")
    if not stat.S_ISREG(found.st_mode):  # a pipe could be waited for without end
        raise InputError("is not a regular file")
    if most is not None and found.st_size > most:
        raise too_large(found.st_size, most)
    return found.st_size


def read_bytes(path: str | Path, most: int) -> bytes:
    """The content of a file, if it is one and has no more than so many bytes."""
    check_file(path, most)
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        raise unreadable(error) from None


def unreadable(error: Exception) -> InputError:
    """The refusal of what the operating system does not open."""
    return InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}")


def too_large(size: int, most: int) -> InputError:
    """The refusal of what has too many bytes.

    >>> print(too_large(5 * 2**30, 2**29))
    has 5,120 MiB; it should have 512 MiB at most
    """
    return InputError(f"has {size / 2**20:,.0f} MiB; it should have {most / 2**20:,.0f} MiB at most")


def parse_json(data: bytes, most: int = TEXT) -> Any:
    """What a JSON text says.

    >>> parse_json(b'{"runs": 3}'), parse_json(b'"' + b"[" * 9 + b'"')
    ({'runs': 3}, '[[[[[[[[[')
    """
    if len(data) > most:
        raise too_large(len(data), most)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON that can be read: {_reason(error)}") from None
    return _bounded(value)


def parse_toml(data: bytes, most: int = TEXT) -> dict[str, Any]:
    """What a TOML text says.

    >>> parse_toml(b"runs = 3"), parse_toml(b"name = 'a'")
    ({'runs': 3}, {'name': 'a'})
    >>> parse_toml(b"runs = ")
    Traceback (most recent call last):
    gpbe.errors.InputError: is not TOML: Invalid value (at end of document)
    """
    if len(data) > most:
        raise too_large(len(data), most)
    try:
        text = data.decode("utf-8")
        if _LONG_KEY.search(text):
            raise InputError(f"has a key of more than {KEY} parts; no key here has more than a few")
        value = tomllib.loads(text)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not TOML: {_reason(error)}") from None
    return _bounded(value)


def _reason(error: Exception) -> str:
    return "its lists or tables are nested too deep" if isinstance(error, RecursionError) else str(error)


def _bounded(value: Any) -> Any:
    """The value itself, if it is not nested too deep and its whole numbers have 64 bits, as other programs' have."""
    level = [value]
    for _ in range(DEPTH):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return value
    raise InputError(f"has lists or tables nested more than {DEPTH} deep")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise InputError(f"has a whole number of {value.bit_length()} bits; the largest has 64")
    if isinstance(value, date | time):
        raise InputError(f"has the date or time {value}; there are none here")
    return []
