"""Robust losses: the Huber and the absolute (projected) Bellman error (Patterson, Liao and White 2022).

The PBE is a maximum over h in H. With h bounded by a threshold tau (`huber`) it is the Huber PBE:

    HPBE(v) = max { sum_s d(s) (2 E[delta|s] h(s) - h(s)^2) : h in H, |h| <= tau }

If H has every function, that is a mean of Huber functions: squares up to tau, linear beyond. As tau grows it becomes
the PBE; as tau shrinks, over 2 tau, the absolute PBE. So one problem is solved for all of them, in g = h / tau:

    E_tau(v) = max { <g, delta> - tau/2 <g, g> : g in H, |g| <= 1 },   HPBE = 2 tau E_tau,   APBE = E_0

with <f, g> = sum_s d(s) f(s) g(s). Its dual takes outliers u out of the Bellman error, at the price of their mean size:

    E_tau(v) = min over u of  ||Pi_{H,d} (delta - u)||^2 / (2 tau) + <1, |u|>

The minimum over linear v is a quadratic program in g alone, namely over those g that have <g, (I - P) x> = 0 for every
feature x. Its multipliers give u, and given u the weights are a least-squares solution. Any feasible g and any u bound
the minimum from below and from above, so a solution comes with a certificate of how good it is. States that d gives no
weight bound nothing.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe import linalg
from gpbe.checks import check_known
from gpbe.errors import InputError
from gpbe.exact.bounded import bounded_maximum
from gpbe.exact.conjugates import BoundedH, as_threshold, bounded_regression, within
from gpbe.exact.identities import expected_td_error
from gpbe.exact.objectives import bellman_quadratic, check_options
from gpbe.exact.projections import as_projection
from gpbe.exact.weightings import Name, as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Features, Numbers, PerState, Scalar, Weights, as_scalar


class Loss(NamedTuple):
    """A robust loss: what it is, and what it depends on."""

    description: str
    options: tuple[str, ...]


ROBUST: dict[str, Loss] = {
    "hbe": Loss("HBE, the mean Huber function of the Bellman error", ("huber", "lam")),
    "abe": Loss("ABE, the mean absolute Bellman error", ("lam",)),
    "hpbe": Loss("HPBE, the PBE with |h| <= huber in every state", ("huber", "projection", "lam")),
    "apbe": Loss("APBE, the largest <h, T v - v> with h in H and |h| <= 1", ("projection", "lam")),
}
"""The robust losses by name."""


def huber_bellman_error(
    problem: PredictionProblem, v: Numbers, d: Name | Numbers, huber: float, lam: Numbers = 0.0
) -> Scalar:
    """HBE, the mean Huber function of the Bellman error e: e^2 up to |e| = huber, huber (2 |e| - huber) beyond.

    >>> from gpbe import mdp
    >>> v = [1.0, 0.0, 1.0, 5.0]  # the Bellman error is 5 in A2 and -5 in C, 0 elsewhere
    >>> huber_bellman_error(mdp.aliased(), v, "uniform", huber=1.0)
    4.5
    >>> huber_bellman_error(mdp.aliased(), v, "uniform", huber=5.0)
    12.5
    """
    tau, size = as_threshold(huber), np.abs(expected_td_error(problem, v, lam))
    within = np.minimum(size, tau)
    return as_scalar((as_weighting(problem, d) * within * (2 * size - within)).sum(-1))


def absolute_bellman_error(problem: PredictionProblem, v: Numbers, d: Name | Numbers, lam: Numbers = 0.0) -> Scalar:
    """ABE, the mean absolute Bellman error.

    >>> from gpbe import mdp
    >>> absolute_bellman_error(mdp.aliased(), [1.0, 0.0, 1.0, 5.0], "uniform")
    2.5
    """
    return as_scalar((as_weighting(problem, d) * np.abs(expected_td_error(problem, v, lam))).sum(-1))


def huber_projected_bellman_error(
    problem: PredictionProblem,
    v: Numbers,
    d: Name | Numbers,
    huber: float,
    projection: Numbers | None = None,
    lam: Numbers = 0.0,
) -> float:
    """HPBE; `projection` holds the features of H, H = F if left out.

    >>> from gpbe import exact, mdp
    >>> pbe = exact.projected_bellman_error(mdp.aliased(), np.zeros(4), "uniform")
    >>> bool(np.isclose(huber_projected_bellman_error(mdp.aliased(), np.zeros(4), "uniform", huber=2.0), pbe))
    True
    """
    return bounded_h(problem, v, d, as_threshold(huber), projection, lam).error


def absolute_projected_bellman_error(
    problem: PredictionProblem,
    v: Numbers,
    d: Name | Numbers,
    projection: Numbers | None = None,
    lam: Numbers = 0.0,
) -> float:
    """APBE, the largest <h, T v - v> over h in H with |h| <= 1; H = F if `projection` is left out.

    >>> from gpbe import mdp
    >>> import numpy as np
    >>> problem, v = mdp.aliased(), [1.0, 0.0, 1.0, 5.0]  # the Bellman error is 5 in A2 and -5 in C
    >>> round(absolute_projected_bellman_error(problem, v, "uniform", projection=np.eye(4)), 6)
    2.5
    """
    return bounded_h(problem, v, d, 0.0, projection, lam).error


def bounded_h(
    problem: PredictionProblem,
    v: Numbers,
    d: Name | Numbers,
    huber: float,
    projection: Numbers | None = None,
    lam: Numbers = 0.0,
) -> BoundedH:
    """The maximizing h of the Huber PBE, with |h| <= huber; of the absolute PBE, with |h| <= 1, if `huber` is 0.

    With every function in H it is the Bellman error, clipped; in a smaller H not even its projection, clipped.

    >>> from gpbe import mdp
    >>> bounded_h(mdp.aliased(), [1.0, 0.0, 1.0, 5.0], "uniform", huber=1.0, projection=np.eye(4)).h.round(6) + 0.0
    array([ 0.,  1.,  0., -1.])
    """
    features, weights = _checked(problem, d, projection)
    return bounded_regression(expected_td_error(problem, v, lam), features, weights, as_threshold(huber, zero=True))[0]


class RobustSolution(NamedTuple):
    """A minimizer of a robust loss over linear values, and the proof that it is one.

    The minimum lies in [error - gap, error].
    """

    weights: Weights
    values: PerState
    error: float
    """The loss at these weights, or a little more."""
    gap: float
    """The certificate of optimality: no weights are better by more than this."""
    h: PerState
    """The maximizing h there, orthogonal to (I - P) x for every feature x."""
    outliers: PerState
    """What the loss takes out of the Bellman error, at a price: 0 wherever |h| is below its bound."""


def robust_solution(problem: PredictionProblem, objective: str, d: Name | Numbers, **options) -> RobustSolution:
    """Minimize a robust loss ("hbe", "abe", "hpbe", "apbe") over linear functions.

    Options are those of the objective: `huber` for the threshold of Huber's, `projection` for the features of H of the
    projected ones (H = F if left out), and `lam`. Minimizers need not be unique, those of absolute errors least of
    all; this is one of them.

    >>> from gpbe import mdp
    >>> found = robust_solution(mdp.aliased(), "hbe", "behavior", huber=1.0)
    >>> found.weights.round(6), round(found.error, 6), bool(found.gap < 1e-12)
    (array([0.5 , 0.75, 0.25]), 0.0625, True)
    >>> round(robust_solution(mdp.aliased(), "abe", "behavior").error, 6)
    0.25
    """
    check_known(objective, ROBUST, "robust objective")
    known = ROBUST[objective].options
    check_options(objective, options, known)
    tau = _threshold(objective, options.get("huber")) if "huber" in known else 0.0
    every = None if "projection" in known else np.eye(problem.mdp.n_states)
    space = within(*_checked(problem, d, options.get("projection", every)))
    x, errors = problem.features, bellman_quadratic(problem, np.ones(len(space.d)), options.get("lam", 0.0))
    operator, target = linalg.compose(space.onto, errors.operator), space.onto @ errors.target
    change, scale = operator @ x, float(linalg.frobenius(operator) * linalg.frobenius(x))
    free = _orthogonal(change, scale)
    y, multipliers = bounded_maximum(space.basis @ free, free.T @ target, tau)
    z = free @ y
    # Without outliers, what is left of the error is tau g.
    weights = linalg.least_squares(change, target - space.basis.T @ multipliers - tau * z, scale).solution
    values = x @ weights
    lower, upper = space.bounds(target - change @ weights, z, multipliers, tau)
    return RobustSolution(
        weights, values, upper, upper - lower, space.function(z, tau)[0], space.per_state(multipliers)
    )


def _checked(problem: PredictionProblem, d: Name | Numbers, projection: Numbers | None) -> tuple[Features, PerState]:
    """The features of H and the weighting, if they are those of one problem."""
    features, weights = as_projection(problem, projection), as_weighting(problem, d)
    if problem.expected_reward.ndim > 1 or weights.ndim > 1 or features.ndim > 2:
        raise InputError("a robust projected error is one convex program a problem; give one problem, not a batch")
    return features, weights


def _orthogonal(matrix: Float[Array, "M K"], scale: float) -> Float[Array, "M R"]:
    """An orthonormal basis of what is orthogonal to the columns, with the tolerances of `linalg.pseudo_inverse`."""
    u, s, _ = np.linalg.svd(matrix, full_matrices=True)
    rank = int((s > np.maximum(1e-12 * s.max(initial=0.0), 1e-14 * scale)).sum())
    return u[:, rank:]


def _threshold(objective: str, huber: float | None) -> float:
    if huber is None:
        raise InputError(f"the objective {objective!r} needs huber, the error beyond which it is linear, such as 1.0")
    return as_threshold(huber)
