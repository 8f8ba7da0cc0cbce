"""LSTD(lambda) with every correction: sums over a log, piece by piece, and the solution of A w = b."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe.algorithms.linear.bootstrapping import Probabilities, action_lambda, scales
from gpbe.algorithms.linear.table import Algorithm, find
from gpbe.algorithms.linear.traces import UNLIMITED, Limits, Trace, advance
from gpbe.exact.traces import LinearSystem
from gpbe.mdp import Log
from gpbe.mdp.log_source import Source, every_piece
from gpbe.recurrence import along
from gpbe.shapes import Array

BLOCK = 2**15
"""Numbers in the features that are multiplied at once: they stay in a core's cache, and BLAS does not split so small a
product over threads, which takes longer than the product."""


class TraceSequence(NamedTuple):
    """The traces of a log, transition by transition."""

    e: Float[Array, "T K"]
    emphasis: Float[Array, " T"]
    rho: Float[Array, " T"]
    """The ratio on the TD error."""
    lam: Float[Array, " T"]
    """Trace parameter on arrival in the next state."""


class Past(NamedTuple):
    """What traces need to know of the rows before a piece of a log."""

    trace: Trace
    gamma: float
    """Discount with which traces go on from the last row: 0 if they do not."""
    rho: float
    lam: float


def no_past(features: int) -> Past:
    """The traces before the first row."""
    return Past(Trace(np.zeros(features), 0.0, 0.0), 0.0, 1.0, 0.0)


def trace_piece(
    log: Log,
    past: Past,
    algorithm: str | Algorithm,
    lam: float = 0.0,
    limits: Limits = UNLIMITED,
    psi: tuple[float, float] | None = None,
) -> tuple[TraceSequence, Past]:
    """The traces of a piece of a log, and what the next piece needs to know; `psi` are AB-Trace's scales."""
    a = find(algorithm)
    p = Probabilities(log.target, log.behavior, *(psi or scales(log.target, log.behavior)))
    lams = np.where(log.breaks, 0.0, action_lambda(a.bootstrapping, lam, p, limits.c_bar))
    rhos = log.target / log.behavior
    carried = np.where(log.continues, log.discount, 0.0)
    decay = limits.followon_decay if a.decayed_followon else None
    gamma, rho, arrival = (
        np.concatenate([[first], rest[:-1]])
        for first, rest in ((past.gamma, carried), (past.rho, rhos), (past.lam, lams))
    )
    trace, emphasis = advance(past.trace, log.features, gamma, rho, arrival, a.prior, decay, recur=along)
    left = Past(
        Trace(*(np.asarray(each)[-1] if np.ndim(each) else each for each in trace)), carried[-1], rhos[-1], lams[-1]
    )
    return TraceSequence(trace.e, np.asarray(emphasis), np.minimum(rhos, limits.rho_bar), lams), left


def trace_sequence(
    log: Log,
    algorithm: str | Algorithm,
    lam: float = 0.0,
    limits: Limits = UNLIMITED,
) -> TraceSequence:
    """Run an algorithm's traces over a log, without learning."""
    return trace_piece(log, no_past(log.features.shape[1]), algorithm, lam, limits)[0]


class Sums:
    """Sums of A = rho e (x - gamma x')', b = rho e R and C = M x x' over the pieces of a log, as they come.

    `psi` are the scales of AB-Trace, which are known only after a pass over the log.
    """

    def __init__(
        self,
        algorithm: str | Algorithm = "td",
        lam: float = 0.0,
        limits: Limits = UNLIMITED,
        psi: tuple[float, float] = (1.0, 1.0),
    ):
        self.sought = (find(algorithm), lam, limits, psi)
        """What the sums are of; those of one log depend on nothing else."""
        self.rows, self._past, self._sums = 0, None, None

    def add(self, piece: Log) -> None:
        """The transitions that come next."""
        a, lam, limits, psi = self.sought
        for block in piece.pieces(numbers=BLOCK):
            past = no_past(block.features.shape[1]) if self._past is None else self._past
            t, self._past = trace_piece(block, past, a, lam, limits, psi)
            weighted = t.e * t.rho[:, None]
            change = block.features - block.discount[:, None] * block.next_features
            seen = (block.features * t.emphasis[:, None]).T @ block.features
            more = LinearSystem(weighted.T @ change, weighted.T @ block.reward, seen)
            self._sums = more if self._sums is None else LinearSystem(*map(np.add, self._sums, more))
            self.rows += len(block)

    @property
    def means(self) -> LinearSystem:
        """The sample means."""
        assert self._sums is not None  # a log without transitions has been refused
        return LinearSystem(*(each / self.rows for each in self._sums))


def accumulate(
    log: Source,
    algorithm: str | Algorithm = "td",
    lam: float = 0.0,
    limits: Limits = UNLIMITED,
    steps: int | None = None,
) -> LinearSystem:
    """Sample means of A, b and C over a log, or its first `steps` rows."""
    sums = log_sums(log, algorithm, lam, limits, steps)
    for piece in every_piece(log, steps):
        sums.add(piece)
    return sums.means


def log_sums(
    log: Source, algorithm: str | Algorithm, lam: float, limits: Limits = UNLIMITED, steps: int | None = None
) -> Sums:
    """Sums that are ready for the pieces of a log; for AB-Trace it is gone over once before."""
    of_log = find(algorithm).bootstrapping == "ab-trace"
    return Sums(algorithm, lam, limits, log_scales(log, steps) if of_log else (1.0, 1.0))


def log_scales(log: Source, steps: int | None = None) -> tuple[float, float]:
    """The scales of AB-Trace over the actions of a log: the least of psi_0 and the largest of psi_max in its pieces."""
    least, largest = zip(*(scales(piece.target, piece.behavior) for piece in every_piece(log, steps)), strict=True)
    return min(least), max(largest)
