"""Eligibility traces with prior corrections (paper, sections 3.1, 3.2 and 3.4)."""

from typing import Any, Literal, NamedTuple

Prior = Literal["none", "emphatic", "alternative-life"]


class Trace(NamedTuple):
    """e without the current ratio (the paper's z is rho e), and what the prior corrections accumulate."""

    e: Any
    followon: Any
    """F = rho_- gamma F_- + 1, or with beta in place of gamma."""
    product: Any
    """Of the ratios since the episode began, up to the last action."""


def advance(trace: Trace, x: Any, gamma: Any, rho: Any, lam: Any, prior: Prior, beta: Any = None) -> tuple[Trace, Any]:
    """The trace at S_t and the emphasis M_t on its features.

    Args:
        trace: at S_{t-1}.
        x: features of S_t.
        gamma: discount of the transition into S_t; 0 where an episode begins.
        rho: ratio of A_{t-1}.
        lam: trace parameter on arrival, which may depend on S_{t-1}, A_{t-1} and S_t.
        prior: which prior correction weights x.
        beta: Hallak's decay of the followon; the discount if None.

    e_t = gamma lam rho_- e_{t-1} + M_t x_t with M_t = 1, lam + (1 - lam) F_t, or the product of ratios.
    """
    episode_goes_on = 1.0 * (gamma > 0)
    decay = gamma if beta is None else beta * episode_goes_on
    followon = rho * decay * trace.followon + 1
    product = episode_goes_on * rho * trace.product + (1 - episode_goes_on)
    emphasis = {"none": 1.0 + 0 * gamma, "emphatic": lam + (1 - lam) * followon, "alternative-life": product}[prior]
    return Trace(gamma * lam * rho * trace.e + emphasis * x, followon, product), emphasis
