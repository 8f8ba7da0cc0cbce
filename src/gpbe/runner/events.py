"""What a running sweep tells whoever wants to watch it."""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable


@dataclass(frozen=True)
class Counts:
    """How far a sweep is."""

    total: int
    """Chunks in the sweep."""
    skipped: int
    """Chunks that were done before this run."""
    done: int
    """Chunks that this run has done."""
    failed: int
    """Chunks that this run has given up."""
    retried: int
    """Attempts that went wrong and were repeated."""
    set_aside: int
    """Files found among the parts that were damaged or did not belong there."""
    steps_total: int
    """Learning steps in the sweep."""
    steps_done: int
    """Learning steps in the chunks that are done, before this run and in it."""
    steps_given_up: int
    """Learning steps in the chunks that failed."""
    rate: float
    """Learning steps a second of late, all workers together; 0 before the first chunk is done."""
    seconds: float
    """Since this run began."""
    workers: int
    """How many there are."""

    @property
    def seconds_left(self) -> float | None:
        """What the rest takes at this rate, if there is a rate yet."""
        left = self.steps_total - self.steps_done - self.steps_given_up
        return left / self.rate if self.rate > 0 else None


@dataclass(frozen=True)
class Event:
    """Something happened in a sweep. A sweep begins with `begin` and ends with `end`, whatever else goes wrong."""

    kind: Literal["begin", "set-aside", "done", "retried", "failed", "end"]
    counts: Counts
    chunk: str = ""
    """The chunk (or file) that this is about."""
    message: str = ""
    """What went wrong, in one line."""


@runtime_checkable
class Display(Protocol):
    """Whoever is told about a sweep."""

    def __call__(self, event: Event) -> None:
        """Called in the driver, between two chunks; it should be quick."""
        ...


@dataclass(frozen=True)
class Report:
    """How a run of a sweep ended."""

    counts: Counts
    """How far it came."""
    interrupted: bool
    """Whether Ctrl-C or SIGTERM ended it; the same call resumes."""
    signal: int = 0
    """Which of them: 2 or 15."""

    @property
    def complete(self) -> bool:
        """Whether every chunk of the sweep is done."""
        return self.counts.skipped + self.counts.done == self.counts.total
