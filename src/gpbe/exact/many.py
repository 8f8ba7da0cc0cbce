"""Fixed points of very many problems: the values only, by normal equations, an order faster than `solution`."""

from functools import cached_property

import numpy as np

from gpbe import linalg
from gpbe.errors import InputError
from gpbe.exact.weightings import Name, as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Numbers, PerState


class FixedPoints:
    """The values at the minima of VE, BE and linear PBE, for a batch of problems that share only their shape.

    What does not depend on the weighting is computed once. Features may be dependent (tile coding always is): the
    columns that are combinations of earlier ones are left out, which changes the weights and never the values.

    >>> from gpbe import features, mdp
    >>> policies = np.random.default_rng(0).dirichlet([1, 1], size=(1000, 5))
    >>> walks = mdp.PredictionProblem(mdp.random_walk(5), policies, [0.5, 0.5], features.dependent(5))
    >>> FixedPoints(walks).values("pbe", "emphatic").shape
    (1000, 5)
    """

    def __init__(self, problem: PredictionProblem):
        problem.mdp.dense("FixedPoints")
        self.problem = problem
        self._x = problem.features
        self._kept = linalg.independent_columns(self._x)

    @cached_property
    def _bellman_features(self) -> Array:
        """L X."""
        return self.problem.bellman_matrix @ self._x

    def values(self, objective: str, d: Name | Numbers) -> PerState:
        """X w at the minimum of "ve", "be" or "pbe" under a weighting that is positive in every state."""
        d, x = as_weighting(self.problem, d), self._x
        if not (d > 0).all():
            raise InputError("some state has weight 0, which can leave the values undetermined; use exact.solution")
        # Each minimum satisfies test' D (target - basis w) = 0.
        match objective:
            case "ve":
                test, basis, target = x, x, self.problem.values
            case "pbe":
                test, basis, target = x, self._bellman_features, self.problem.expected_reward
            case "be":
                test, basis, target = self._bellman_features, self._bellman_features, self.problem.expected_reward
            case _:
                raise InputError(f"no fast solution for {objective!r}; ve, be and pbe have one")
        weighted = np.swapaxes(test * d[..., None], -1, -2)
        w = linalg.solve(self._reduced(weighted @ basis), (weighted @ target[..., None])[..., 0] * self._kept)
        return (x @ w[..., None])[..., 0]

    def _reduced(self, matrix: Array) -> Array:
        """Rows and columns of left-out features become those of the identity, so their weights come out 0."""
        kept = self._kept
        if kept.all():
            return matrix
        return np.where(kept[..., :, None] & kept[..., None, :], matrix, np.eye(kept.shape[-1]))
