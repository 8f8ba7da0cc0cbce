"""Eligibility traces with prior corrections (paper, sections 3.1, 3.2 and 3.4)."""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np

from gpbe.recurrence import step
from gpbe.shapes import Number, Vector

Prior = Literal["none", "emphatic", "alternative-life"]


class Limits(NamedTuple):
    """What keeps corrections from growing: clips of the ratios (V-trace) and the decay of the followon (Hallak).

    >>> Limits(rho_bar=1.0)
    Limits(c_bar=1.0, rho_bar=1.0, followon_decay=None)
    """

    c_bar: float = 1.0
    """Clip of the ratio in the trace."""
    rho_bar: float = inf
    """Clip of the ratio on the TD error."""
    followon_decay: float | None = None
    """What stands for the discount in a decayed followon; the discount itself if None."""


UNLIMITED = Limits()


class Trace(NamedTuple):
    """The trace e without the current ratio (the paper's z is rho e), and what the prior corrections accumulate."""

    e: Vector
    followon: Number
    """F = rho_- gamma F_- + 1, or with beta in place of gamma; 0 unless the correction is emphatic."""
    product: Number
    """The product of the ratios since the episode began, up to the last action; 0 unless it is the correction."""


def advance(
    trace: Trace,
    x: Vector,
    gamma: Number,
    rho: Number,
    lam: Number,
    prior: Prior,
    beta: Number | None = None,
    xp: Any = np,
    recur: Callable[..., Any] | None = None,
) -> tuple[Trace, Number]:
    """The trace at S_t and the emphasis M_t on its features.

    Args:
        trace: at S_{t-1}.
        x: features of S_t.
        gamma: discount of the transition into S_t; 0 where an episode begins.
        rho: ratio of A_{t-1}.
        lam: trace parameter on arrival, which may depend on S_{t-1}, A_{t-1} and S_t.
        prior: which prior correction weights x.
        beta: Hallak's decay of the followon; the discount if None.
        xp: the module that the arrays belong to, NumPy or JAX's.
        recur: how y = keep y_- + add goes on from y_-: one step, or with `recurrence.along` every step of a log, where
            everything but `trace` has a row for each.

    e_t = gamma lam rho_- e_{t-1} + M_t x_t with M_t = 1, lam + (1 - lam) F_t, or the product of ratios.

    >>> start = Trace(np.zeros(2), followon=0.0, product=0.0)
    >>> first, _ = advance(start, np.array([1.0, 0.0]), gamma=0.0, rho=1.0, lam=0.5, prior="emphatic")
    >>> second, emphasis = advance(first, np.array([0.0, 1.0]), gamma=1.0, rho=2.0, lam=0.5, prior="emphatic")
    >>> float(second.followon), float(emphasis), second.e  # F = 2 + 1, M = 1/2 + F/2, e = 1/2 * 2 * x_0 + M x_1
    (3.0, 2.0, array([1., 2.]))
    """
    recur = partial(step, xp=xp) if recur is None else recur
    # A new episode owes nothing to the last one, even if something there has overflowed.
    goes_on = gamma > 0
    followon, product, emphasis = trace.followon, trace.product, 1.0 + 0 * gamma
    if prior == "emphatic":
        decay = gamma if beta is None else beta
        followon = recur(followon, xp.where(goes_on, rho * decay, 0.0), 1.0 + 0 * gamma)
        emphasis = lam + (1 - lam) * followon
    if prior == "alternative-life":
        emphasis = product = recur(product, xp.where(goes_on, rho, 0.0), xp.where(goes_on, 0.0, 1.0))
    weighted = xp.asarray(emphasis)[..., None] * x
    return Trace(recur(trace.e, xp.where(goes_on, gamma * lam * rho, 0.0), weighted), followon, product), emphasis
