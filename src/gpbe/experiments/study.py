"""Experiments that are not sweeps of control: fixed points, examples, prediction. Each is a list of function calls."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from gpbe.experiments.experiment import Scale
from gpbe.runner import Chunk


@dataclass(frozen=True)
class Piece:
    """A call that makes rows of the study's table."""

    call: str
    """`package.module:function`"""
    arguments: tuple[Any, ...]
    """As JSON has them."""
    work: int


@dataclass(frozen=True)
class Study:
    """A study at one scale.

    >>> from gpbe.experiments.studies import study
    >>> s = study("tde-bias", "quick")
    >>> s.work, s.unit, s.rows().height > 5
    (5, 'states', True)
    """

    name: str
    describe: str
    unit: str
    scale: Scale
    pieces: tuple[Piece, ...]

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


def run_piece(payload: dict[str, Any]) -> pl.DataFrame:
    """One call."""
    module, _, function = payload["call"].partition(":")
    return getattr(importlib.import_module(module), function)(*payload["arguments"])


def whole(call: str, **work: int) -> Callable[[Scale], list[Piece]]:
    """All of a study's work at a scale in one call, which is told how much that is."""
    return lambda scale: [Piece(f"gpbe.experiments.{call}", (work[scale],), work[scale])]


def fixed(call: str, work: int) -> Callable[[Scale], list[Piece]]:
    """One call that is the same at every scale."""
    return lambda scale: [Piece(f"gpbe.experiments.{call}", (), work)]
