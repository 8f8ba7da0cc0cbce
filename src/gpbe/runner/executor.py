"""What executors share: the interface of a crew of workers, and the loop that keeps it at work."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from gpbe.runner.chunk import Chunk
from gpbe.runner.queue import Queue
from gpbe.runner.worker import Job


class Reply(NamedTuple):
    """News of a worker. One that died has been replaced by another with another number, or will be."""

    worker: int
    kind: Literal["ready", "part", "raised", "died"]
    part: bytes = b""
    error: str = ""
    blame: float = 1.0
    """How much it counts against the chunk that it went wrong: little when a whole machine went away."""


@runtime_checkable
class Crew(Protocol):
    """Workers of a running sweep. Each has at most one chunk at a time."""

    @property
    def size(self) -> int:
        """How many workers there are, those that are just starting included."""
        ...

    def send(self, worker: int, chunk: Chunk) -> None:
        """Give a chunk to a worker that is ready."""
        ...

    def wait(self) -> list[Reply]:
        """News, as soon as there are any; after a while, an empty list."""
        ...

    def dismiss(self, worker: int, why: str) -> None:
        """End a worker. That it died, and why, is news like any other."""
        ...

    def close(self) -> None:
        """End the workers and drop what they are at."""
        ...


@runtime_checkable
class Executor(Protocol):
    """Where a sweep runs."""

    def start(self, job: Job, at_most: int) -> Crew:
        """Start workers, not more than there are chunks."""
        ...


@dataclass(frozen=True)
class Outcome:
    """A chunk that is done, is tried again, or has failed for good."""

    kind: Literal["done", "retried", "failed"]
    chunk: Chunk
    part: bytes = field(default=b"", repr=False)
    error: str = ""


class _Task(NamedTuple):
    chunk: Chunk
    since: float


def supervise(crew: Crew, queue: Queue, attempts: int, patience: float = math.inf) -> Iterator[Outcome]:
    """Keep all workers at work until every chunk is done or has failed `attempts` times.

    A worker gets its next chunk before the outcome of its last one is yielded, so it works while the driver writes. One
    that is at a chunk for longer than `patience` seconds is replaced.
    """
    idle: dict[int, str | None] = {}  # worker -> the group it was at last
    at_work: dict[int, _Task] = {}
    dismissed: set[int] = set()
    blamed: dict[str, float] = {}
    while at_work or queue:
        _assign(crew, queue, idle, at_work)
        for reply in crew.wait():
            task = at_work.pop(reply.worker, None)
            if reply.kind == "died":
                idle.pop(reply.worker, None)
                dismissed.discard(reply.worker)
            elif reply.worker not in dismissed:
                idle[reply.worker] = task.chunk.group if task else None
            if task is None:
                continue
            chunk = task.chunk
            blame = blamed.pop(chunk.id, 0.0) + reply.blame
            if reply.kind == "part":
                queue.took(chunk, time.monotonic() - task.since)
                outcome = Outcome("done", chunk, reply.part)
            elif blame < attempts:
                blamed[chunk.id] = blame
                queue.put_back(chunk)
                outcome = Outcome("retried", chunk, error=reply.error)
            else:
                outcome = Outcome("failed", chunk, error=reply.error)
            _assign(crew, queue, idle, at_work)
            yield outcome
        for worker, task in at_work.items():
            if worker not in dismissed and time.monotonic() - task.since > patience:
                dismissed.add(worker)
                crew.dismiss(worker, f"it took longer than {patience:g} seconds")


def _assign(crew: Crew, queue: Queue, idle: dict[int, str | None], at_work: dict[int, _Task]) -> None:
    for worker in list(idle):
        chunk = queue.take(idle[worker], {task.chunk.group for task in at_work.values()}, crew.size)
        if chunk is None:
            return
        del idle[worker]
        at_work[worker] = _Task(chunk, time.monotonic())
        crew.send(worker, chunk)
