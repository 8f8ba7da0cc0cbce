"""What an experiment is: a declaration that falls into chunks of work, whose tables are kept in a results folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from gpbe import runner
from gpbe.runner import Chunk

Scale = Literal["smoke", "quick", "paper"]
"""Seconds, for tests; minutes on two cores; as large as in the paper."""


@runtime_checkable
class Experiment(Protocol):
    """Equal declarations mean equal chunks, and equal chunks equal results."""

    @property
    def name(self) -> str:
        """By which `gpbe run` knows it."""
        ...

    @property
    def describe(self) -> str:
        """What it is about, in a line."""
        ...

    @property
    def unit(self) -> str:
        """What `work` counts."""
        ...

    @property
    def work(self) -> int:
        """How much there is to do."""
        ...

    @property
    def runner(self) -> str:
        """`package.module:function`, from a chunk's payload to rows of the table."""
        ...

    def spec(self) -> dict[str, Any]:
        """All that decides the results, as JSON."""
        ...

    def chunks(self) -> Iterable[Chunk]:
        """The work, in pieces; can be gone through again."""
        ...


def run(experiment: Experiment, folder: Path | str, **options: Any) -> runner.Report:
    """Run it into a results folder, or the rest of it; `options` are those of `gpbe.runner.run`."""
    return runner.run(folder, experiment.spec(), experiment.chunks(), experiment.runner, **options)
