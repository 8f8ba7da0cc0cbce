"""Every objective of the paper, as what they all are: squared lengths that are quadratic in the values.

An objective is || target - operator v ||^2 + constant with an operator and a target that depend on the problem
and the weighting, never on v. Evaluating it at any v, minimizing it over linear functions and comparing two
objectives then need no further code.
"""

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe import linalg
from gpbe.checks import as_floats, check_known, check_shape
from gpbe.errors import InputError
from gpbe.exact.projections import as_projection, weighted_basis
from gpbe.exact.traces import lambda_resolvent
from gpbe.exact.weightings import Name, as_weighting
from gpbe.features import aggregation
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Features, Numbers, PerState, Scalar, as_scalar


class Quadratic(NamedTuple):
    """|| target - operator v ||^2 + constant."""

    operator: linalg.Matrix
    """(..., M, S)."""
    target: Float[Array, "... M"]
    constant: Scalar = 0.0

    def at(self, v: PerState) -> Scalar:
        residual = self.target - linalg.apply(self.operator, v)
        return as_scalar((residual**2).sum(-1) + self.constant)


def value_quadratic(problem: PredictionProblem, d: PerState) -> Quadratic:
    """VE(v) = sum_s d(s) (v(s) - v_pi(s))^2."""
    root = np.sqrt(d)
    return Quadratic(linalg.scaled(root, problem.mdp.layout.identity), root * problem.values)


def return_quadratic(problem: PredictionProblem, d: PerState) -> Quadratic:
    """RE(v) = sum_s d(s) E[(v(s) - G)^2 | S = s] = VE(v) + sum_s d(s) Var[G | S = s]."""
    return value_quadratic(problem, d)._replace(constant=(d * return_variance(problem)).sum(-1))


def bellman_quadratic(problem: PredictionProblem, d: PerState, lam: Numbers = 0.0) -> Quadratic:
    """BE(v) = sum_s d(s) E[delta | S = s]^2; for lam > 0 delta is the error of the lambda-return."""
    root = linalg.scaled(np.sqrt(d), lambda_resolvent(problem, lam))
    return Quadratic(linalg.compose(root, problem.bellman_matrix), linalg.apply(root, problem.expected_reward))


def projected_quadratic(
    problem: PredictionProblem,
    d: PerState,
    projection: Numbers | None = None,
    ridge: Numbers = 0.0,
    lam: Numbers = 0.0,
) -> Quadratic:
    """PBE(v) = || Pi_{H,d} (T v - v) ||_d^2 = max_{h in H} sum_s d(s) (2 E[delta|s] h(s) - h(s)^2).

    With a ridge the maximum is over penalized h: H between nothing and all of span(projection).
    """
    bellman = bellman_quadratic(problem, d, lam)
    return _seen_by(weighted_basis(as_projection(problem, projection), d, ridge), bellman)


def identifiable_quadratic(problem: PredictionProblem, d: PerState, aliases: Numbers | None = None) -> Quadratic:
    """The identifiable BE: h may depend only on what the learner sees, one label a state (paper, section 4.2)."""
    if aliases is None:
        raise InputError("the identifiable Bellman error needs aliases: an integer label for each state")
    labels = np.asarray(aliases)
    check_shape(labels, (problem.mdp.n_states,), "aliases", "states")
    return projected_quadratic(problem, d, projection=aggregation(labels))


def update_quadratic(problem: PredictionProblem, d: PerState, lam: Numbers = 0.0) -> Quadratic:
    """NEU(v) = || sum_s d(s) E[delta x | S = s] ||_2^2, the norm of the expected TD update."""
    return _seen_by(linalg.scaled(np.sqrt(d), problem.features), bellman_quadratic(problem, d, lam))


def kernel_quadratic(
    problem: PredictionProblem, d: PerState, kernel: Numbers | Callable[[int, int], float] | None = None
) -> Quadratic:
    """KBE(v) = sum_{s,s'} d(s) E[delta|s] k(s,s') E[delta|s'] d(s') for a positive semidefinite kernel."""
    if kernel is None:
        raise InputError("the kernel Bellman error needs a kernel: an (S, S) array or a function of two states")
    problem.mdp.dense("the kernel Bellman error")
    states = range(problem.mdp.n_states)
    if callable(kernel):
        kernel = [[kernel(s, t) for t in states] for s in states]
    k = as_floats(kernel, "kernel")
    check_shape(k, (len(states), len(states)), "kernel", "states, states")
    values, vectors = np.linalg.eigh(k)
    if not np.allclose(k, np.swapaxes(k, -1, -2)) or values.min() < -1e-9 * np.abs(values).max():
        raise InputError(
            "kernel is not symmetric positive semidefinite, so its error could be negative; use one that is"
        )
    root = vectors * np.sqrt(np.maximum(values, 0))[..., None, :]
    return _seen_by(linalg.scaled(np.sqrt(d), root), bellman_quadratic(problem, d))


def _seen_by(tests: Features, errors: Quadratic) -> Quadratic:
    """The part of the errors that the columns of `tests` (..., S, M) see."""
    onto = linalg.transpose(tests)
    return Quadratic(linalg.compose(onto, errors.operator), linalg.apply(onto, errors.target))


def td_quadratic(problem: PredictionProblem, d: PerState) -> Quadratic:
    """TDE(v) = sum_s d(s) E[(R + gamma v(S') - v(s))^2 | S = s]: one row for each transition that can happen."""
    t = problem.mdp.layout
    chance = t.here(d) * t.taken(problem.target) * t.probability
    s, n, (chance, discount, reward) = t.pick(chance > 0, chance, t.discount, t.reward)
    root = np.sqrt(chance)
    return Quadratic(linalg.scaled(root, t.differences(s, n, discount)), root * reward)


def return_variance(problem: PredictionProblem) -> PerState:
    """Var[G | S = s] under the target policy, in closed form: the second moment solves a linear system too.

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), [0.5, 0.5], [0.5, 0.5])
    >>> return_variance(walk).round(4)  # 1 - v^2
    array([0.5556, 0.8889, 1.    , 0.8889, 0.5556])
    """
    t, pi = problem.mdp.layout, problem.target
    square = t.mean(pi, t.probability * t.reward**2)
    cross = t.mean(pi, t.probability * t.reward * t.discount * t.there(problem.values))
    inverse = linalg.inverse_of(t.identity - problem.mdp.discounted_transition_under(pi, power=2))
    second = inverse.of(square + 2 * cross)
    return np.maximum(second - problem.values**2, 0.0)


OBJECTIVES: dict[str, Callable[..., Quadratic]] = {
    "ve": value_quadratic,
    "re": return_quadratic,
    "be": bellman_quadratic,
    "pbe": projected_quadratic,
    "ibe": identifiable_quadratic,
    "tde": td_quadratic,
    "neu": update_quadratic,
    "kbe": kernel_quadratic,
}
"""The functions that make each objective's quadratic, by its name in `fixed_point`, `solution` and `quadratic`."""


def quadratic(problem: PredictionProblem, objective: str, d: Name | Numbers, **options) -> Quadratic:
    """The quadratic of an objective by name; options that it does not have are refused.

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> quadratic(problem, "be", "uniform").at(np.array([1.0, 0.0, 1.0, 5.0]))
    12.5
    """
    check_known(objective, OBJECTIVES, "objective")
    build = OBJECTIVES[objective]
    check_options(objective, options, list(signature(build).parameters)[2:])
    return build(problem, as_weighting(problem, d), **options)


def check_options(objective: str, options: Iterable[str], known: Sequence[str]) -> None:
    """Refuse options that an objective does not have."""
    for option in options:
        if option not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes no options"
            raise InputError(f"the objective {objective!r} does not depend on {option!r}; {takes}")


def as_values(problem: PredictionProblem, v: Numbers) -> PerState:
    """Estimated values (..., S), checked."""
    array = as_floats(v, "v")
    check_shape(array, (problem.mdp.n_states,), "v", "states")
    return array


def value_error(problem: PredictionProblem, v: Numbers, d: Name | Numbers) -> Scalar:
    """VE, the mean squared value error (paper, equation for VE in section 4.1).

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5), [0.5, 0.5], [0.5, 0.5])
    >>> round(value_error(walk, np.zeros(5), "uniform"), 4)
    0.2222
    """
    return quadratic(problem, "ve", d).at(as_values(problem, v))


def return_error(problem: PredictionProblem, v: Numbers, d: Name | Numbers) -> Scalar:
    """RE, the mean squared return error: VE plus the weighted variance of the return.

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), [0.5, 0.5], [0.5, 0.5])
    >>> round(return_error(walk, walk.values, [0, 0, 1, 0, 0]), 6)  # from the middle, -1 or +1
    1.0
    """
    return quadratic(problem, "re", d).at(as_values(problem, v))


def bellman_error(problem: PredictionProblem, v: Numbers, d: Name | Numbers, lam: Numbers = 0.0) -> Scalar:
    """BE, the mean squared Bellman error.

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> bellman_error(problem, problem.values, "uniform"), bellman_error(problem, [1.0, 0.0, 1.0, 5.0], "uniform")
    (0.0, 12.5)
    """
    return quadratic(problem, "be", d, lam=lam).at(as_values(problem, v))


def td_error(problem: PredictionProblem, v: Numbers, d: Name | Numbers) -> Scalar:
    """TDE, the mean squared TD error.

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), [0.5, 0.5], [0.5, 0.5])
    >>> round(td_error(walk, walk.values, "uniform"), 4)  # steps of 1/3 either way
    0.1111
    """
    return quadratic(problem, "tde", d).at(as_values(problem, v))


def projected_bellman_error(
    problem: PredictionProblem,
    v: Numbers,
    d: Name | Numbers,
    projection: Numbers | None = None,
    ridge: Numbers = 0.0,
    lam: Numbers = 0.0,
) -> Scalar:
    """The generalized PBE; `projection` holds the features of H, H = F (the linear PBE) if left out.

    >>> from gpbe import mdp
    >>> problem = mdp.problem("random-walk-5")
    >>> round(projected_bellman_error(problem, np.zeros(5), "behavior"), 4)  # H = F
    0.0294
    >>> round(projected_bellman_error(problem, np.zeros(5), "behavior", projection=np.eye(5)), 4)  # the BE
    0.0578
    """
    return quadratic(problem, "pbe", d, projection=projection, ridge=ridge, lam=lam).at(as_values(problem, v))


def nonlinear_projected_bellman_error(
    problem: PredictionProblem, v: Numbers, d: Name | Numbers, jacobian: Numbers, lam: Numbers = 0.0
) -> Scalar:
    """The nonlinear PBE (Maei et al. 2009): H is the span of the value gradients, jacobian[s] = dv(s)/dw.

    `gpbe.exact.nonlinear` has its gradient, and where algorithms come to rest.

    >>> from gpbe import mdp
    >>> problem = mdp.problem("random-walk-5")
    >>> error = nonlinear_projected_bellman_error(problem, np.zeros(5), "behavior", jacobian=problem.features)
    >>> bool(np.isclose(error, projected_bellman_error(problem, np.zeros(5), "behavior")))  # of linear values the same
    True
    """
    return projected_bellman_error(problem, v, d, projection=jacobian, lam=lam)


def identifiable_bellman_error(problem: PredictionProblem, v: Numbers, d: Name | Numbers, aliases: Numbers) -> Scalar:
    """The identifiable BE; `aliases` labels the states, alike where the learner cannot tell them apart.

    >>> from gpbe import mdp
    >>> problem, v = mdp.aliased(), [0.5, 0.5, 1.0, 0.0]  # A1 and A2 look alike, and lead to B and C
    >>> round(bellman_error(problem, v, "uniform"), 6)
    0.125
    >>> round(identifiable_bellman_error(problem, v, "uniform", aliases=[0, 0, 1, 2]), 6)
    0.0
    """
    return quadratic(problem, "ibe", d, aliases=aliases).at(as_values(problem, v))


def expected_update_norm(problem: PredictionProblem, v: Numbers, d: Name | Numbers, lam: Numbers = 0.0) -> Scalar:
    """NEU, the squared norm of the expected TD update.

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> expected_update_norm(problem, [0.5, 0.5, 1.0, 0.0], "uniform")  # 0 at the fixed point of TD
    0.0
    """
    return quadratic(problem, "neu", d, lam=lam).at(as_values(problem, v))


def kernel_bellman_error(
    problem: PredictionProblem, v: Numbers, d: Name | Numbers, kernel: Numbers | Callable[[int, int], float]
) -> Scalar:
    """KBE (Feng et al. 2019) for a kernel given as an (S, S) array or a function of two state numbers.

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> kernel_bellman_error(problem, [1.0, 0.0, 1.0, 5.0], "uniform", kernel=np.eye(4))  # sum of (d e)^2, e = 5 and -5
    3.125
    """
    return quadratic(problem, "kbe", d, kernel=kernel).at(as_values(problem, v))
