"""A walk along a log, piece by piece: where episodes begin and end, and the products of ratios within them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from gpbe.mdp import Log
from gpbe.mdp.log_source import Source
from gpbe.recurrence import along
from gpbe.shapes import Array

NUMBERS = 2**20
"""Numbers in the features of one piece."""


class Grouping(NamedTuple):
    """How units of a log are put into groups, whose sums are kept and resampled.

    Units are independent of each other, or nearly: episodes, or blocks of rows where nothing ends. The unit with number
    u belongs to the group `offset + u % groups`. With few units each is a group of its own.
    """

    groups: int
    """Groups in this part of a log."""
    offset: int
    total: int
    """Groups in all parts."""
    block: int | None
    """Rows in a block; None if units are episodes."""


class Walk(NamedTuple):
    """A piece of a log, with what its rows owe to those before them in their episode."""

    log: Log
    begins: Bool[Array, " T"]
    ends: Bool[Array, " T"]
    step: Int[Array, " T"]
    group: Int[Array, " T"]
    groups: int
    rho: Float[Array, " T"]
    before: Float[Array, " T"]
    """The product of the ratios of earlier rows."""
    reach: Float[Array, " T"]
    """The product of the discounts of earlier rows."""
    collected: Float[Array, " T"]
    """The return up to and with this row."""

    @property
    def after(self) -> Float[Array, " T"]:
        """The product of the ratios up to and with this row."""
        return self.before * self.rho


def walk(source: Source, part: int, grouping: Grouping) -> Iterator[Walk]:
    """Walk along one part of a log."""
    open_, ratio, reach, collected, step, unit, rows = False, 1.0, 1.0, 0.0, 0, -1, 0
    for log in source.pieces(part, NUMBERS):
        begins = ~np.concatenate([[open_], log.continues[:-1]])
        rho = log.ratios
        before = _products(begins, rho, ratio)
        reaches = _products(begins, log.discount, reach)
        returns = along(collected, (~begins).astype(float), reaches * log.reward)
        index = np.arange(len(log))
        first = np.maximum.accumulate(np.where(begins, index, -1))
        steps = np.where(first >= 0, index - first, index + step)
        units = unit + np.cumsum(begins)
        numbered = units if grouping.block is None else (rows + index) // grouping.block
        group = grouping.offset + numbered % grouping.groups
        yield Walk(log, begins, ~log.continues, steps, group, grouping.total, rho, before, reaches, returns)
        ratio = float(before[-1] * rho[-1])
        reach, collected = float(reaches[-1] * log.discount[-1]), float(returns[-1])
        open_, step, unit, rows = bool(log.continues[-1]), int(steps[-1]) + 1, int(units[-1]), rows + len(log)


def _products(begins: Array, factor: Array, so_far: float) -> Array:
    """The product of the factors of earlier rows of each row's episode; `so_far` is that of the first row."""
    keep = np.where(begins, 0.0, np.concatenate([[1.0], factor[:-1]]))
    return along(so_far, keep, begins.astype(float))
