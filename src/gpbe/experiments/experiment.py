"""What an experiment is: a declaration that falls into chunks of work, whose tables are kept in a results folder."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import polars as pl

from gpbe import runner
from gpbe.figures import FigureSpec
from gpbe.runner import Chunk

Scale = Literal["smoke", "quick", "paper"]
"""Seconds, for tests; minutes on two cores; as large as in the paper."""


@runtime_checkable
class Experiment(Protocol):
    """An experiment at one scale. Equal declarations mean equal chunks, and equal chunks equal results."""

    @property
    def name(self) -> str:
        """The name that `gpbe run` knows it by."""
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
    """Run an experiment into a results folder, or the rest of it; `options` are those of `gpbe.runner.run`.

    >>> import tempfile
    >>> from gpbe import experiments, store
    >>> folder = tempfile.mkdtemp()
    >>> _ = store.unpack("results/tde-bias-paper.parquet", folder)  # in a clone of the repository
    >>> run(experiments.find("tde-bias", "paper"), folder).counts.skipped  # the one chunk there is has been run
    1
    """
    return runner.run(folder, experiment.spec(), experiment.chunks(), experiment.runner, **options)


@runtime_checkable
class Declared(Protocol):
    """An experiment at every scale, and the figures that show it: what a folder of `gpbe.experiments` declares.

    >>> from gpbe import experiments
    >>> experiments.DECLARED["kolter"].section, isinstance(experiments.DECLARED["kolter"], Declared)
    ('5.1', True)
    """

    @property
    def name(self) -> str:
        """The name that `gpbe run` knows it by."""
        ...

    @property
    def section(self) -> str:
        """Where in the paper it belongs, such as "5.1" or "A"; empty for what is not there."""
        ...

    @property
    def figures(self) -> tuple[FigureSpec, ...]:
        """What `gpbe figure` draws of it, first of all."""
        ...

    def at(self, scale: Scale) -> Experiment:
        """The experiment itself."""
        ...


class Stage(NamedTuple):
    """One of the experiments that follow from each other."""

    name: str
    """The name under which its results are kept."""
    after: tuple[str, ...]
    """The stages whose results it is made from."""
    build: Callable[[Sequence[pl.LazyFrame]], Experiment | None]
    """Make the experiment from their tables, in that order, or None if there is nothing to run. It depends on nothing
    else."""


@runtime_checkable
class Staged(Protocol):
    """Experiments that follow from each other: what one of them runs depends on what those before it found.

    >>> from gpbe import experiments
    >>> [stage.name for stage in experiments.STAGED["evidence"].stages("paper")][:2]
    ['evidence-screen', 'evidence-race']
    """

    @property
    def name(self) -> str:
        """The name that `gpbe run` knows it by."""
        ...

    @property
    def describe(self) -> str:
        """What it is about, in a line."""
        ...

    @property
    def figures(self) -> tuple[FigureSpec, ...]:
        """What `gpbe figure` draws of it."""
        ...

    def stages(self, scale: Scale) -> tuple[Stage, ...]:
        """The experiments, in the order in which they are run."""
        ...
