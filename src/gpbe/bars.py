"""A progress bar on a terminal, and nothing where there is none: for commands, and for `progress=True` from Python."""

import contextlib
import functools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def progress(name: str, total: int, unit: str, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """A bar with rate and time left, on a terminal; nothing elsewhere, or if it is not to be `shown`.

    >>> with progress("reading", 200, "rows") as advance:
    ...     advance(200)
    """
    with _bar(name, total, unit, shown, "rate") as (update, started):
        done = 0

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            update(advance=amount, rate=f"{done / (time.perf_counter() - started):,.0f}/s")

        yield advance


@contextlib.contextmanager
def training_progress(name: str, total: int, shown: bool = True) -> Iterator[Callable[[int, float], None]]:
    """The same for training: also the mean of the last returns. What was done in an earlier process is not its rate."""
    with _bar(name, total, "steps", shown, "rate", "recent") as (update, started):
        done = 0

        def advance(amount: int, recent: float) -> None:
            nonlocal done
            if math.isnan(recent) and not done:  # nothing has been learned here yet
                update(advance=amount)
                return
            done += amount
            last = f"return {recent:,.1f}" if not math.isnan(recent) else ""
            update(advance=amount, rate=f"{done / (time.perf_counter() - started):,.0f}/s", recent=last)

        yield advance


def both(one: Callable[..., None], other: Callable[..., None]) -> Callable[..., None]:
    """A function that tells two others what it is told."""

    def tell(*arguments: Any) -> None:
        one(*arguments)
        other(*arguments)

    return tell


@contextlib.contextmanager
def _bar(name: str, total: int, unit: str, shown: bool, *fields: str) -> Iterator[tuple[Callable[..., None], float]]:
    if not shown:
        yield lambda **_: None, time.perf_counter()
        return
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
