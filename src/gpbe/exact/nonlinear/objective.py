"""The PBE(lam) of values that need not be linear, on finite problems, and its gradient.

H is spanned by given features, or by the gradients of the values, which is the nonlinear PBE of Maei et al. (2009).
With lam = 0 it is that of single transitions. What holds in general is said in `gpbe.exact.tangent`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gpbe import linalg
from gpbe.errors import InputError
from gpbe.exact.functions import ValueFunction
from gpbe.exact.identities import expected_td_error
from gpbe.exact.projections import as_projection
from gpbe.exact.tangent import Tangent
from gpbe.exact.traces import lambda_resolvent
from gpbe.exact.weightings import Name, as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Numbers, Weights


@dataclass(frozen=True, eq=False)
class NonlinearProblem:
    """Approximate v_pi by a function of weights: a problem, the function, a weighting, a set H, and lambda.

    Args:
        problem: one finite problem; its own features are not used.
        function: values of all states at given weights.
        weighting: by name or as an array.
        projection: features of H, a row for each state; the gradients of the values if left out.
        lam: of lambda-returns, as in `exact.projected_bellman_error`; 0 for single transitions.

    >>> import numpy as np
    >>> from gpbe import exact, mdp
    >>> walk = mdp.problem("random-walk-5")
    >>> linear = NonlinearProblem(walk, ValueFunction.linear(walk.features), lam=0.5)
    >>> w = exact.fixed_point(walk, "pbe", "behavior", lam=0.5)
    >>> projected_bellman_error(linear, w) < 1e-20
    True
    """

    problem: PredictionProblem
    function: ValueFunction
    d: Float[Array, " S"]
    projection: Float[Array, "S M"] | None
    lam: Numbers

    def __init__(
        self,
        problem: PredictionProblem,
        function: ValueFunction,
        weighting: Name | Numbers = "behavior",
        projection: Numbers | None = None,
        lam: Numbers = 0.0,
    ):
        problem.mdp.dense("the exact PBE of networks")
        d, shape = as_weighting(problem, weighting), function.values(function.start).shape
        if d.ndim > 1 or problem.expected_reward.ndim > 1:
            raise InputError("a nonlinear problem has one MDP, policy and weighting; this is a batch")
        if shape != d.shape:
            raise InputError(f"the value function gives values of shape {shape}; it should be {d.shape}, one a state")
        set_ = object.__setattr__
        set_(self, "problem", problem)
        set_(self, "function", function)
        set_(self, "d", d)
        set_(self, "projection", None if projection is None else as_projection(problem, projection))
        set_(self, "lam", lam)

    def tangent(self, w: Numbers) -> Tangent:
        """The PBE(lam) at w, to first order: e = L (r - (I - P) v) has the slope -L (I - P) J, with L = (I - P Lam)^-1.

        >>> from gpbe import mdp
        >>> walk = mdp.problem("random-walk-5")
        >>> NonlinearProblem(walk, ValueFunction.linear(walk.features)).tangent([0.0, 0.0, 0.0]).slope.shape
        (5, 3)
        """
        w = self.function.checked(w)
        jacobian, bend = self.function.jacobian(w), self.function.bend
        errors = expected_td_error(self.problem, self.function.values(w), self.lam)
        slope = -(lambda_resolvent(self.problem, self.lam) @ linalg.times(self.problem.bellman_matrix, jacobian))
        if self.projection is not None:
            return Tangent(self.d, errors, slope, jacobian, self.projection)
        moves = None if bend is None else (lambda theta, c: bend(w, theta, c))
        return Tangent(self.d, errors, slope, jacobian, jacobian, moves)


def projected_bellman_error(problem: NonlinearProblem, w: Numbers, huber: float = np.inf) -> float:
    """The PBE(lam) at weights w; the Huber PBE if h is bounded, and the absolute PBE with the bound 0.

    >>> import numpy as np
    >>> from gpbe import mdp
    >>> walk = mdp.problem("random-walk-5")
    >>> round(projected_bellman_error(NonlinearProblem(walk, ValueFunction.linear(walk.features)), np.zeros(3)), 4)
    0.0294
    """
    return problem.tangent(w).error(huber)


def projected_bellman_gradient(problem: NonlinearProblem, w: Numbers, huber: float = np.inf) -> Weights:
    """Its gradient, at weights around which H keeps its dimension.

    >>> import numpy as np
    >>> from gpbe import exact, mdp
    >>> walk = mdp.problem("random-walk-5")
    >>> problem = NonlinearProblem(walk, ValueFunction.linear(walk.features), lam=0.5)
    >>> w = exact.fixed_point(walk, "pbe", "behavior", lam=0.5)
    >>> bool(np.abs(projected_bellman_gradient(problem, w)).max() < 1e-12)
    True
    """
    return problem.tangent(w).gradient(huber)


def best_theta(problem: NonlinearProblem, w: Numbers, beta: float = 0.0) -> Weights:
    """The weights of h at which their own update stops.

    >>> import numpy as np
    >>> from gpbe import mdp
    >>> walk = mdp.problem("random-walk-5")
    >>> best_theta(NonlinearProblem(walk, ValueFunction.linear(np.eye(5))), walk.values).round(6) + 0.0
    array([0., 0., 0., 0., 0.])
    """
    return problem.tangent(w).best_theta(beta)
