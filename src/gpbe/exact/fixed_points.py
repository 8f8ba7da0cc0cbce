"""What each objective's minimum is, over linear functions: in closed form, but for the robust ones (`robust`)."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from gpbe import linalg
from gpbe.checks import check_known
from gpbe.exact.objectives import OBJECTIVES, quadratic
from gpbe.exact.robust import ROBUST, robust_solution
from gpbe.exact.weightings import Name
from gpbe.mdp import PredictionProblem
from gpbe.mdp.prediction import check_problem
from gpbe.shapes import Array, Numbers, PerState, Scalar, Weights


class Solution(NamedTuple):
    """The least-norm minimizer of an objective over `features @ w`, and how well determined it is."""

    weights: Weights
    values: PerState
    error: Scalar
    """The objective at its minimum: 0 for the linear PBE unless A is singular."""
    rank: Int[Array, "..."]
    """Directions of w that the objective determines."""
    feature_rank: Int[Array, "..."]
    condition: Scalar
    """Condition number of the least-squares system; infinite if the rank is below the number of features."""

    @property
    def unique_weights(self) -> Array:
        """Is this the only minimizer?"""
        return np.asarray(self.rank == self.weights.shape[-1])

    @property
    def unique_values(self) -> Array:
        """Do all minimizers have these values? Also true for dependent features that the objective sees."""
        return np.asarray(self.rank == self.feature_rank)


def solution(problem: PredictionProblem, objective: str, d: Name | Numbers, **options) -> Solution:
    """Minimize an objective ("ve", "re", "be", "pbe", "ibe", "tde", "neu", "kbe") over linear functions.

    Options are those of the objective: `lam`, `projection` and `ridge` for "pbe", `aliases` for "ibe", `kernel`
    for "kbe". Where the minimizer is not unique the one of least norm is returned, and the result says so.

    >>> from gpbe import mdp
    >>> baird = solution(mdp.baird(), "pbe", "behavior")
    >>> baird.rank.item(), baird.unique_weights.item(), baird.unique_values.item()
    (7, False, True)
    """
    check_problem(problem)
    x = problem.features
    q = quadratic(problem, objective, d, **options)
    scale = linalg.frobenius(q.operator) * linalg.frobenius(x)
    found = linalg.least_squares(*linalg.system(q.operator, x, q.target), scale)
    values = linalg.apply(x, found.solution)
    rank = np.linalg.matrix_rank(problem.feature_triangle, rtol=1e-12)
    return Solution(found.solution, values, q.at(values), found.rank, np.asarray(rank), found.condition)


def fixed_point(
    problem: PredictionProblem,
    objective: str,
    d: Name | Numbers,
    projection: Numbers | None = None,
    lam: Numbers = 0.0,
    **options,
) -> Weights:
    """The weights w of `solution`, or of `robust_solution` for "hbe", "abe", "hpbe" and "apbe".

    >>> from gpbe import mdp
    >>> fixed_point(mdp.aliased(), "pbe", "behavior").round(6) + 0.0
    array([0.5, 1. , 0. ])
    >>> fixed_point(mdp.aliased(), "be", "behavior").round(6)
    array([0.5 , 0.75, 0.25])
    >>> fixed_point(mdp.aliased(), "hbe", "behavior", huber=1.0).round(6)  # all errors are smaller
    array([0.5 , 0.75, 0.25])
    """
    check_known(objective, (*OBJECTIVES, *ROBUST), "objective")
    if projection is not None:
        options["projection"] = projection
    if np.any(lam):
        options["lam"] = lam
    if objective in ROBUST:
        return robust_solution(problem, objective, d, **options).weights
    return solution(problem, objective, d, **options).weights
