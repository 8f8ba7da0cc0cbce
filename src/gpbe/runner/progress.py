"""What people see of a running sweep: a bar on a terminal, a line now and then elsewhere."""

import contextlib
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from gpbe.runner.events import Counts, Display, Event

_PATIENCE = 10.0
"""Seconds between two lines, where there is no terminal."""
_COMPLAINTS = 10
"""Chunks that go wrong and are shown one by one above the bar; of others there is only a count."""


def progress(title: str, stream: TextIO | None = None, unit: str = "steps") -> Display:
    """A bar if the stream (standard error if left out) is a terminal, else lines; `unit` is what costs count."""
    console = Console(file=stream or sys.stderr, highlight=False, soft_wrap=True)
    return Bar(title, console, unit) if console.is_terminal else Lines(title, stream, unit)


@contextlib.contextmanager
def _if_it_can_be() -> Iterator[None]:
    """Ignore errors of writing here: a closed terminal or a full disk must not end a sweep that is only being shown."""
    with contextlib.suppress(OSError):
        yield


class Bar:
    """Chunks done, learning steps a second, time left and failures; on one line that is redrawn."""

    def __init__(self, title: str, console: Console, unit: str = "steps"):
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._title = title
        self._unit = unit
        self._complaints = 0

    @_if_it_can_be()
    def __call__(self, event: Event) -> None:
        """Redraw it."""
        counts = event.counts
        if event.kind == "begin":
            self._task = self._progress.add_task(self._title, total=max(counts.steps_total, 1), text="")
            self._progress.start()
        text = in_words(counts, self._unit)
        self._progress.update(self._task, completed=counts.steps_done + counts.steps_given_up, text=text)
        if event.kind == "end":
            self._progress.stop()
            self._progress.console.print(f"{self._title}: {text}", markup=False)
        elif event.message:
            self._complaints += 1
            if self._complaints <= _COMPLAINTS:
                self._progress.console.print(f"{event.kind} {event.chunk}: {event.message}", markup=False)


class Lines:
    """A line at the beginning, one at the end, and in between one every ten seconds at most."""

    def __init__(self, title: str, stream: TextIO | None = None, unit: str = "steps", patience: float = _PATIENCE):
        self._title = title
        self._stream = stream or sys.stderr
        self._unit = unit
        self._patience = patience
        self._last = -1e9
        self._complaint = ""

    @_if_it_can_be()
    def __call__(self, event: Event) -> None:
        """Write a line, if it is time for one."""
        if event.message:
            self._complaint = f"; {event.kind} {event.chunk}: {event.message}"
        if event.kind in ("begin", "end") or time.monotonic() - self._last >= self._patience:
            self._last = time.monotonic()
            print(
                f"{self._title}: {in_words(event.counts, self._unit)}{self._complaint}", file=self._stream, flush=True
            )
            self._complaint = ""


def in_words(counts: Counts, unit: str = "steps") -> str:
    """How far a sweep is, in one line.

    >>> in_words(Counts(400, 100, 20, 1, 3, 2, 8000, 2400, 20, 50.0, 40.0, 2))
    '120/400 chunks, 50 steps/s, 0:01:51 left, 1 failed, 3 retried, 2 set aside'
    """
    words = [f"{counts.skipped + counts.done:,}/{counts.total:,} chunks"]
    left = counts.seconds_left
    if left is not None:
        words.append(f"{counts.rate:,.0f} {unit}/s")
        if left > 0:
            words.append(f"{timedelta(seconds=int(left))} left")
    for number, what in ((counts.failed, "failed"), (counts.retried, "retried"), (counts.set_aside, "set aside")):
        if number:
            words.append(f"{number:,} {what}")
    return ", ".join(words)
