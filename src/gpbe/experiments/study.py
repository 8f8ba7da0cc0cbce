"""Experiments that are not sweeps of control: fixed points, examples, prediction. Each is a list of function calls."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from gpbe.experiments.experiment import Scale
from gpbe.figures import FigureSpec
from gpbe.lazy import named
from gpbe.runner import Chunk

Seconds = tuple[float, float]
"""What a call takes on one core, compiling included, and what each unit of its work adds to that."""


@dataclass(frozen=True)
class Piece:
    """A call that makes rows of the study's table."""

    call: str
    """`package.module:function`"""
    arguments: tuple[Any, ...]
    """Its arguments, as JSON has them."""
    work: int


@dataclass(frozen=True)
class Study:
    """A study at one scale.

    >>> from gpbe import experiments
    >>> s = experiments.find("tde-bias", "quick")
    >>> s.work, s.unit, s.rows().height > 5
    (5, 'states', True)
    """

    name: str
    describe: str
    unit: str
    scale: Scale
    pieces: tuple[Piece, ...]
    seconds: Seconds | None = None
    """How long it takes, as measured, for estimates; None where nobody has."""

    @property
    def work(self) -> int:
        return sum(piece.work for piece in self.pieces)

    @property
    def runner(self) -> str:
        return "gpbe.experiments.study:run_piece"

    def spec(self) -> dict[str, Any]:
        calls = [[piece.call, *piece.arguments] for piece in self.pieces]
        return {"name": self.name, "scale": self.scale, "unit": self.unit, "calls": calls}

    def chunks(self) -> list[Chunk]:
        return [Chunk(p.call, p.work, {"call": p.call, "arguments": list(p.arguments)}) for p in self.pieces]

    def rows(self) -> pl.DataFrame:
        """The whole table, computed here and now."""
        return pl.concat(run_piece(chunk.payload) for chunk in self.chunks())


class Shown(NamedTuple):
    """A figure of a study: its drawing, and what that draws."""

    draw: str
    """`package.module:function`, from the table to the drawing."""
    table: Callable[[pl.DataFrame], pl.DataFrame] = lambda rows: rows
    """The figure's table from the study's rows, if that is more than the rows themselves."""
    name: str = ""
    """The study's own if empty."""
    looks_at: str = ""
    """What it shows of a study that has several figures."""


@dataclass(frozen=True)
class DeclaredStudy:
    """A study at every scale, and the figures that show it."""

    name: str
    describe: str
    unit: str
    """What its work counts."""
    pieces: Callable[[Scale], Iterable[Piece]]
    """The calls that make the whole at a scale."""
    seconds: Seconds = (0.1, 0.0)
    section: str = ""
    """Where in the paper it belongs, which orders lists; empty for what is not there."""
    shown: tuple[Shown, ...] = ()

    @property
    def figures(self) -> tuple[FigureSpec, ...]:
        """What `gpbe figure` draws of it."""
        return tuple(map(self._figure, self.shown))

    def _figure(self, shown: Shown) -> FigureSpec:
        about = f"{self.describe.partition(':')[0]}: {shown.looks_at}" if shown.looks_at else self.describe
        return FigureSpec(
            shown.name or self.name, about, (self.name,), shown.draw, lambda stored: shown.table(stored.rows(self.name))
        )

    def at(self, scale: Scale) -> Study:
        """The experiment itself."""
        return Study(self.name, self.describe, self.unit, scale, tuple(self.pieces(scale)), self.seconds)


def run_piece(payload: dict[str, Any]) -> pl.DataFrame:
    """One call."""
    return named(payload["call"])(*payload["arguments"])


def whole(call: str, **work: int) -> Callable[[Scale], list[Piece]]:
    """All of a study's work at a scale in one call, which is told how much that is."""
    return lambda scale: [Piece(call, (work[scale],), work[scale])]


def fixed(call: str, work: int) -> Callable[[Scale], list[Piece]]:
    """One call that is the same at every scale."""
    return lambda scale: [Piece(call, (), work)]
