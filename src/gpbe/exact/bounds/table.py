"""Every bound by name, with a way to evaluate each on a problem and a weighting."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from gpbe.errors import InputError
from gpbe.exact.bounds.bound import Bound
from gpbe.exact.bounds.paper import (
    approximation_error_bound,
    convex_subset_bound,
    mismatch_bound,
    oblique_bound,
    proposition_1,
    value_error_bound,
)
from gpbe.exact.bounds.published import (
    antos_bound,
    hallak_bound,
    kolter_bound,
    maillard_bound,
    scherrer_bound,
    tsitsiklis_van_roy_bound,
    white_bound,
    williams_baird_bound,
)
from gpbe.exact.fixed_points import solution
from gpbe.exact.projections import norm
from gpbe.exact.weightings import Name, as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Numbers, PerState


class Entry(NamedTuple):
    """A bound, where it is from, and how it is evaluated on nothing but a problem and a weighting."""

    function: Callable[..., Bound]
    description: str
    reference: str
    at: Callable[[PredictionProblem, Name | Numbers], Bound]
    """Where the bound has more arguments these are the plain choice: v the PBE solution, evaluated under d_b."""


def _td(problem: PredictionProblem, d: Name | Numbers) -> PerState:
    return solution(problem, "pbe", d).values


def _antos(problem: PredictionProblem, d: Name | Numbers) -> Bound:
    d = as_weighting(problem, d)
    return antos_bound(problem, d, radius=norm(_td(problem, d), d))


def _approximation(problem: PredictionProblem, d: Name | Numbers) -> Bound:
    return approximation_error_bound(problem, _td(problem, d), d)


BOUNDS: dict[str, Entry] = {
    "value-error": Entry(
        value_error_bound,
        "the PBE solution against the best in F, from the contraction constants",
        "paper, Theorem 1",
        value_error_bound,
    ),
    "mismatch": Entry(
        mismatch_bound,
        "the same, judged in another weighting",
        "paper, Corollary 1",
        lambda problem, d: mismatch_bound(problem, d, "behavior"),
    ),
    "convex-subset": Entry(
        convex_subset_bound,
        "the same, with a contraction only between the solution and the best in F",
        "paper, Corollary 2",
        convex_subset_bound,
    ),
    "oblique": Entry(
        oblique_bound,
        "the generalized PBE's solution, from the norm of its oblique projection",
        "paper, Theorem 2",
        oblique_bound,
    ),
    "approximation": Entry(
        approximation_error_bound,
        "any v, from its PBE and what H misses of its Bellman error",
        "paper, Theorem 3",
        _approximation,
    ),
    "transition-1": Entry(
        proposition_1,
        "P contracts under d_pi and m",
        "paper, Proposition 1.1",
        lambda problem, d: proposition_1(problem, d, case=1),
    ),
    "transition-2": Entry(
        proposition_1,
        "under d_pi a constant discount is the contraction constant",
        "paper, Proposition 1.2",
        lambda problem, d: proposition_1(problem, d, case=2),
    ),
    "transition-3": Entry(
        proposition_1,
        "under d_pi the largest discount bounds the contraction constant",
        "paper, Proposition 1.3",
        lambda problem, d: proposition_1(problem, d, case=3),
    ),
    "transition-4": Entry(
        proposition_1,
        "the contraction constant of any weighting, from its mismatch with d_pi",
        "paper, Proposition 1.4",
        lambda problem, d: proposition_1(problem, d, case=4),
    ),
    "williams-baird": Entry(
        williams_baird_bound,
        "any v: largest value error from the largest Bellman error",
        "Williams and Baird 1993, Proposition 3.1",
        lambda problem, d: williams_baird_bound(problem, _td(problem, d)),
    ),
    "tsitsiklis-van-roy": Entry(
        tsitsiklis_van_roy_bound,
        "on-policy TD(lambda)",
        "Tsitsiklis and Van Roy 1997, Lemma 6",
        lambda problem, d: tsitsiklis_van_roy_bound(problem),
    ),
    "antos": Entry(
        antos_bound,
        "Bellman error of the PBE solution, from inherent Bellman errors of F",
        "Antos, Szepesvari and Munos 2008, Lemma 10",
        _antos,
    ),
    "maillard": Entry(
        maillard_bound,
        "the BE solution, from its Bellman error",
        "Maillard et al. 2010, Equation 8",
        maillard_bound,
    ),
    "scherrer": Entry(
        scherrer_bound,
        "TD or BE solution, from the spectral radius of its oblique projection",
        "Scherrer 2010, Proposition 3",
        scherrer_bound,
    ),
    "kolter": Entry(
        kolter_bound,
        "off-policy LSTD, from the mismatch of d and d_pi",
        "Kolter 2011, Theorem 2",
        kolter_bound,
    ),
    "hallak": Entry(
        hallak_bound,
        "ETD(0, beta)",
        "Hallak et al. 2016, Corollary 1",
        lambda problem, d: hallak_bound(problem),
    ),
    "white": Entry(
        white_bound,
        "the PBE solution under d_pi or m with transition-based discounts",
        "White 2017, Theorem 1",
        lambda problem, d: white_bound(problem),
    ),
}
"""The bounds by name: a function, what it says, and where it is from."""


def all_bounds(problem: PredictionProblem, d: Name | Numbers) -> dict[str, Bound]:
    """Every bound of the table on one problem and weighting; those about a weighting that does not exist are left out.

    >>> from gpbe import mdp
    >>> found = all_bounds(mdp.kolter(p=0.6), "behavior")
    >>> [name for name, bound in found.items() if not bound.assumptions_hold]
    ['transition-1', 'transition-2', 'transition-3', 'kolter']
    """
    d, found = as_weighting(problem, d), {}
    for name, entry in BOUNDS.items():
        with suppress(InputError):
            found[name] = entry.at(problem, d)
    return found
