"""LSTD(lambda) with every correction: sums over a log, and the solution of A w = b."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe.algorithms.linear.bootstrapping import Probabilities, action_lambda, scales
from gpbe.algorithms.linear.table import Algorithm, find
from gpbe.algorithms.linear.traces import UNLIMITED, Limits, Trace, advance
from gpbe.exact.traces import LinearSystem
from gpbe.mdp import Log
from gpbe.shapes import Array


class TraceSequence(NamedTuple):
    """The traces of a log, transition by transition."""

    e: Float[Array, "T K"]
    emphasis: Float[Array, " T"]
    rho: Float[Array, " T"]
    """The ratio on the TD error."""
    lam: Float[Array, " T"]
    """Trace parameter on arrival in the next state."""


def trace_sequence(
    log: Log,
    algorithm: str | Algorithm,
    lam: float = 0.0,
    limits: Limits = UNLIMITED,
) -> TraceSequence:
    """Run an algorithm's traces over a log, without learning."""
    a = find(algorithm)
    p = Probabilities(log.target, log.behavior, *scales(log.target, log.behavior))
    lams = np.where(log.breaks, 0.0, action_lambda(a.bootstrapping, lam, p, limits.c_bar))
    rhos = log.target / log.behavior
    trace = Trace(np.zeros(log.features.shape[1]), 0.0, 0.0)
    gamma, rho, last, rows = 0.0, 1.0, 0.0, []
    carried = np.where(log.breaks, 0.0, log.discount)
    decay = limits.followon_decay if a.decayed_followon else None
    for t in range(len(log)):
        trace, emphasis = advance(trace, log.features[t], gamma, rho, last, a.prior, decay)
        rows.append((trace.e, float(emphasis)))
        gamma, rho, last = carried[t], rhos[t], lams[t]
    e, emphasis = zip(*rows, strict=True)
    return TraceSequence(np.stack(e), np.array(emphasis), np.minimum(rhos, limits.rho_bar), lams)


def accumulate(
    log: Log,
    algorithm: str | Algorithm = "td",
    lam: float = 0.0,
    limits: Limits = UNLIMITED,
) -> LinearSystem:
    """Sample means of A = rho e (x - gamma x')', b = rho e R and C = M x x' over a log."""
    t = trace_sequence(log, algorithm, lam, limits)
    weighted = t.e * (t.rho / len(log))[:, None]
    change = log.features - log.discount[:, None] * log.next_features
    seen = log.features * (t.emphasis / len(log))[:, None]
    return LinearSystem(weighted.T @ change, weighted.T @ log.reward, seen.T @ log.features)
