"""Run a sweep into a results folder, or the rest of it."""

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any, Literal

from gpbe.errors import InputError
from gpbe.interrupts import interruptible, number_of, uninterrupted
from gpbe.runner.chunk import Chunk
from gpbe.runner.events import Counts, Display, Event, Report
from gpbe.runner.executor import Executor, Outcome, supervise
from gpbe.runner.local import Local
from gpbe.runner.queue import Queue
from gpbe.runner.worker import Job, check_runner
from gpbe.store import Results


def run(
    folder: Path | str,
    spec: dict[str, Any],
    chunks: Iterable[Chunk],
    runner: str,
    *,
    executor: Executor | None = None,
    display: Display | None = None,
    attempts: int = 3,
    patience: float = math.inf,
    verify: bool = True,
) -> Report:
    """Compute the chunks whose parts are not in the folder yet, and keep each as soon as it is there.

    Neither chunks nor results are held: memory does not grow with their number. After a crash, a kill, Ctrl-C or
    SIGTERM the same call goes on where it was.

    Args:
        folder: where results are kept (gpbe.store); made if it is not there
        spec: the declaration that the chunks came from, as JSON; kept with the results
        chunks: a list, or anything else that can be gone through twice
        runner: `package.module:function`, called in the workers with a chunk's payload. It returns a polars.DataFrame
            which depends on the payload alone, with the same columns for every chunk
        executor: `Local()` if left out, or `Ray()`
        display: told about every chunk; see `gpbe.runner.progress`
        attempts: how often a chunk may raise, kill its worker or take too long before it is recorded as failed
        patience: seconds that a chunk may take, with compiling, before its worker is ended
        verify: compare all parts in the folder with their checksums, also those that were found whole before
    """
    check_runner(runner)
    if attempts < 1:
        raise InputError(f"attempts is {attempts}; it should be at least 1")
    if not patience > 0:
        raise InputError(f"patience is {patience:g}; it should be more than 0 seconds")
    if isinstance(chunks, Iterator):
        raise InputError(
            "chunks can be gone through only once; give a list, or an object whose __iter__ starts at the beginning"
        )
    with interruptible(), Results(folder, spec, runner, chunks, verify=verify) as results:
        watch = _Watch(results, display)
        try:
            watch.begin()
            missing = results.index.height - int(results.have.sum())
            if missing:
                # A frame's booleans, not a set of ids: a byte a chunk.
                queue = Queue(compress(chunks, ~results.have))
                crew = (executor or Local()).start(Job(runner, results.manifest.spec_hash), missing)
                try:
                    for outcome in supervise(crew, queue, attempts, patience):
                        watch.workers = crew.size
                        with uninterrupted():
                            _keep(results, outcome, attempts)
                            watch.see(outcome)
                finally:
                    crew.close()
            return watch.report()
        except KeyboardInterrupt as interruption:
            return watch.report(number_of(interruption))
        finally:
            watch.end()


def _keep(results: Results, outcome: Outcome, attempts: int) -> None:
    chunk = outcome.chunk
    if outcome.kind == "done":
        results.put(chunk.id, outcome.part)
    elif outcome.kind == "failed":
        results.fail(chunk.id, chunk.group, outcome.error, attempts)


class _Watch:
    """Counts what happens and tells the display."""

    def __init__(self, results: Results, display: Display | None):
        self._display = display
        self._set_aside = results.set_aside
        self._total = results.index.height
        self._skipped = int(results.have.sum())
        self._steps_total = results.manifest.steps
        self._steps_done = int(results.index["steps"].filter(results.have).sum())
        self._steps_given_up = 0
        self._seen = {"done": 0, "failed": 0, "retried": 0}
        self._started = time.monotonic()
        self._lately: deque[tuple[float, int]] = deque(maxlen=200)  # (when, steps) of the last chunks
        self.workers = 0

    def begin(self) -> None:
        self._tell("begin")
        for file in self._set_aside:
            self._tell("set-aside", file.name, f"{file.reason}; moved to {file.where}")

    def see(self, outcome: Outcome) -> None:
        self._seen[outcome.kind] += 1
        if outcome.kind == "done":
            self._steps_done += outcome.chunk.cost
            self._lately.append((time.monotonic(), outcome.chunk.cost))
        elif outcome.kind == "failed":
            self._steps_given_up += outcome.chunk.cost
        lines = outcome.error.strip().splitlines()
        self._tell(outcome.kind, outcome.chunk.id, lines[-1] if lines else "")

    def end(self) -> None:
        self._tell("end")

    def report(self, signal: int = 0) -> Report:
        return Report(self._counts(), bool(signal), signal)

    def _tell(
        self,
        kind: Literal["begin", "set-aside", "done", "retried", "failed", "end"],
        chunk: str = "",
        message: str = "",
    ) -> None:
        if self._display is not None:
            self._display(Event(kind, self._counts(), chunk, message))

    def _counts(self) -> Counts:
        return Counts(
            total=self._total,
            skipped=self._skipped,
            **self._seen,
            set_aside=len(self._set_aside),
            steps_total=self._steps_total,
            steps_done=self._steps_done,
            steps_given_up=self._steps_given_up,
            rate=self._rate(),
            seconds=time.monotonic() - self._started,
            workers=self.workers,
        )

    def _rate(self) -> float:
        """Steps a second, over the last chunks only once there are many: a sweep's groups differ in speed."""
        if not self._lately:
            return 0.0
        full = len(self._lately) == self._lately.maxlen
        since = self._lately[0][0] if full else self._started
        steps = sum(steps for _, steps in self._lately) - (self._lately[0][1] if full else 0)
        return steps / max(time.monotonic() - since, 1e-9)
