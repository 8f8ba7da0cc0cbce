"""What commands share: a console, JSON, numbers as people write them."""

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpbe.errors import InputError
from gpbe.files.atomic import check_regular
from gpbe.interrupts import Interrupted


class Stopped(Interrupted):
    """A command that was interrupted, and says how to go on."""

    def __init__(self, message: str, number: int):
        super().__init__(number)
        self.message = message


def console():
    """Prints to standard output. What is printed is text: names of states and files may look like markup."""
    from rich.console import Console

    made = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)
    made.on_broken_pipe = _gone  # its own would end this process with another exit code
    return made


def _gone() -> None:
    raise BrokenPipeError


def headed(title: str, rest: str) -> Any:
    """A line whose beginning is bold."""
    from rich.text import Text

    return Text.assemble((title, "bold"), f": {rest}")


def print_json(value: object) -> None:
    print(json.dumps(value, indent=2, allow_nan=False))


def check_writable(folder: Path) -> None:
    """Make the folder if need be, and complain before anything is computed if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}; name another place") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write into {folder}: permission denied; name another place")


def check_file(path: Path) -> None:
    """Refuse a file that could not be written at the end: its folder must be writable, and no folder have its name."""
    check_writable(path.parent)
    check_regular(path)


@contextlib.contextmanager
def environment_errors(name: str) -> Iterator[None]:
    """Make one line of what an environment's own code raises; it names the place in that code."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if not any(Path(frame.filename).parts[-2:] == ("envs", "copies.py") for frame in frames):
            raise
        where = f"{frames[-1].filename}, line {frames[-1].lineno}"
        raise InputError(f"{name} raised {type(error).__name__}: {error} ({where})") from error


MOST_POWERS = 1000
"""How many powers of two a range may have."""


def numbers(texts: tuple[str, ...], option: str) -> list[float]:
    """Numbers as people write them: decimals, fractions, powers, and ranges of powers.

    >>> numbers(("0.1", "1/3", "2^-3", "inf"), "--rho-bar")
    [0.1, 0.3333333333333333, 0.125, inf]
    >>> numbers(("2^-3..2^0",), "--step-size")
    [0.125, 0.25, 0.5, 1.0]
    """
    try:
        return [value for text in texts for value in _expand(text)]
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(
            f"{option} {' '.join(texts)} cannot be read; give numbers such as 0.1, 1/3, 2^-3, or powers as 2^-8..2^0"
        ) from None


def _expand(text: str) -> list[float]:
    if ".." not in text:
        return [_number(text)]
    (base, low), (other, high) = (_power(end) for end in text.split("..", 1))
    if base != other or not 0 <= high - low < MOST_POWERS:
        raise ValueError(text)
    return [base**k for k in range(low, high + 1)]


def _number(text: str) -> float:
    if "^" in text:
        base, exponent = _power(text)
        return base**exponent
    above, _, below = text.partition("/")
    return float(above) / float(below) if below else float(text)


def _power(text: str) -> tuple[float, int]:
    base, _, exponent = text.partition("^")
    return float(base), int(exponent)
