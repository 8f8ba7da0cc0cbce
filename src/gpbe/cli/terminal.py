"""What commands share: a console, JSON, a progress bar, numbers as people write them."""

import contextlib
import functools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpbe.errors import InputError
from gpbe.interrupts import Interrupted


class Stopped(Interrupted):
    """A command that was interrupted, and says how to go on."""

    def __init__(self, message: str, number: int):
        super().__init__(number)
        self.message = message


def console():
    """Prints to standard output. What is printed is text: names of states and files may look like markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)


def headed(title: str, rest: str) -> Any:
    """A line whose beginning is bold."""
    from rich.text import Text

    return Text.assemble((title, "bold"), f": {rest}")


def print_json(value: object) -> None:
    print(json.dumps(value, indent=2, allow_nan=False))


@contextlib.contextmanager
def progress(name: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """A bar with rate and time left, on a terminal; nothing elsewhere."""
    with _bar(name, total, unit, "rate") as (update, started):
        done = 0

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            update(advance=amount, rate=f"{done / (time.perf_counter() - started):,.0f}/s")

        yield advance


@contextlib.contextmanager
def training_progress(name: str, total: int) -> Iterator[Callable[[int, float], None]]:
    """The same for training: also the mean of the last returns. What was done in an earlier process is not its rate."""
    with _bar(name, total, "steps", "rate", "recent") as (update, started):
        done = 0

        def advance(amount: int, recent: float) -> None:
            nonlocal done
            if math.isnan(recent) and not done:  # nothing has been learned here yet
                update(advance=amount)
                return
            done += amount
            shown = f"return {recent:,.1f}" if not math.isnan(recent) else ""
            update(advance=amount, rate=f"{done / (time.perf_counter() - started):,.0f}/s", recent=shown)

        yield advance


@contextlib.contextmanager
def _bar(name: str, total: int, unit: str, *fields: str) -> Iterator[tuple[Callable[..., None], float]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} " + unit),
        *(TextColumn(f"{{task.fields[{field}]}}") for field in fields),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        empty: dict[str, Any] = dict.fromkeys(fields, "")
        task = bar.add_task(name, total=total, **empty)
        yield functools.partial(bar.update, task), time.perf_counter()


def check_writable(folder: Path) -> None:
    """Make the folder if need be, and complain before anything is computed if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}; name another place with --out") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write into {folder}: permission denied; name another place with --out")


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
