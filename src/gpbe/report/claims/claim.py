"""A claim of the paper as data: its words, its place, the experiments that decide it, and the function that does."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from gpbe.analysis.evidence import Finding
from gpbe.analysis.stored import Stored
from gpbe.errors import InputError


@dataclass(frozen=True)
class Claim:
    """A claim of the paper."""

    name: str
    text: str
    where: str
    """In the paper."""
    experiments: tuple[str, ...]
    """Those whose results decide it."""
    decide: Callable[[Stored], Finding]

    def judge(self, stored: Stored) -> Finding:
        """What stored results say; what cannot be decided says why not."""
        try:
            return self.decide(stored)
        except InputError as error:  # such as no results, experiments of different scales, a vote without voters
            return Finding("no data", (), str(error))


def claim(text: str, where: str, experiment: str) -> Callable[[Callable[[pl.DataFrame], Finding]], Claim]:
    """Make a claim of the function that decides it from the table of one study; the function's name is the claim's."""

    def made(decide: Callable[[pl.DataFrame], Finding]) -> Claim:
        return Claim(name_of(decide), text, where, (experiment,), lambda stored: decide(stored.rows(experiment)))

    return made


def name_of(function: Callable[..., Finding]) -> str:
    """The name of a claim, from that of its function."""
    return function.__name__.replace("_", "-")
