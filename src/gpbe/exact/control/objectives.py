"""The Bellman errors of control for action values, linear or not, and their gradients (paper, section 8.1).

With u(s, a) = E[delta | s, a] = E[R + gamma m(q(S', .))| s, a] - q(s, a) and its slope
du/dw = E[gamma grad m | s, a] - grad q(s, a):

    BE(w) = sum_sa d(s, a) u(s, a)^2,     PBE(w) = || Pi_{H,d} u ||_d^2.

Traces that an action cuts off if it is not greedy make delta^lam_t = delta_t + gamma lam c_{t+1} delta^lam_{t+1}, with
c = 1 for a greedy action and 0 for another. Actions come from a behavior b, so

    u^lam = E[delta^lam | s, a] = (I - lam M)^-1 u,    M(s, a; s', a') = P(s' | s, a) gamma b(a' | s') c(s', a'),

and M depends on w only through which actions are greedy: away from ties the slope is (I - lam M)^-1 du/dw. Everything
else is said in `gpbe.exact.tangent`. Arrays over state-action pairs are flattened to N = S A rows, in 64-bit NumPy.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from gpbe.checks import as_floats, check_interval
from gpbe.errors import InputError
from gpbe.exact.control.operators import check_tau, greedy
from gpbe.exact.functions import ValueFunction
from gpbe.exact.tangent import Tangent
from gpbe.mdp import FiniteMDP
from gpbe.mdp.structure import stationary_distribution
from gpbe.shapes import Array, Numbers, PerStateAction, Scalar, Weights, as_scalar

Rows = Float[Array, "N K"]


@dataclass(frozen=True, eq=False)
class ControlProblem:
    """Approximate q*: an MDP, a function q of weights, a weighting of state-action pairs, an operator and a set H.

    Args:
        mdp: the Markov decision process.
        features: x(s, a) of q = X w, shape (S, A, K) or (S A, K); the identity (a table) if left out; or q itself, an
            `exact.ValueFunction` with a value for each pair, which need not be linear.
        weighting: d(s, a) >= 0, shape (S, A); the same everywhere if left out. `visits` gives a behavior's.
        projection: features of H over pairs, (S, A, M) or (S A, M); the gradients of q if left out, which are its
            features if q is linear; "all" for every function, which makes the PBE the BE.
        tau: mellowmax's; 0 is the hard max.

    >>> chain = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> projected_bellman_error(chain, [2.0, 1.0])
    0.0
    """

    mdp: FiniteMDP
    function: ValueFunction
    d: Float[Array, " N"]
    projection: Float[Array, "N M"] | None
    """Features of H; None if H is spanned by the gradients of q."""
    tau: float

    def __init__(
        self,
        mdp: FiniteMDP,
        features: Numbers | ValueFunction | None = None,
        weighting: Numbers | None = None,
        projection: Numbers | Literal["all"] | None = None,
        tau: float = 0.0,
    ):
        if mdp.batch_shape:
            raise InputError(f"a control problem has one MDP; this is a batch with axes {mdp.batch_shape}")
        check_tau(tau)
        set_ = object.__setattr__
        set_(self, "mdp", mdp)
        set_(self, "function", _function(mdp, features))
        set_(self, "d", _weights(mdp, weighting))
        set_(self, "projection", _projection(mdp, projection))
        set_(self, "tau", float(tau))

    @property
    def x(self) -> Rows:
        """The features of linear action values."""
        if self.function.features is None:
            raise InputError("this is known of linear action values only; these are not: give features")
        return self.function.features

    @property
    def phi(self) -> Float[Array, "N M"]:
        """The features of H, if they do not move with the weights."""
        return self.x if self.projection is None else self.projection

    @cached_property
    def carry(self) -> Float[Array, "N S"]:
        """P(s' | s, a) gamma(s, a, s')."""
        t = self.mdp.dense("the exact side of control")
        return (t.probability * t.discount).reshape(-1, t.n_states)

    @cached_property
    def reward(self) -> Float[Array, " N"]:
        t = self.mdp.dense("the exact side of control")
        return (t.probability * t.reward).sum(-1).ravel()

    def weights(self, w: Numbers) -> Weights:
        """Weights w of q, checked."""
        return self.function.checked(w)

    def values(self, w: Numbers) -> PerStateAction:
        """q(s, a)."""
        return self.function.values(self.weights(w)).reshape(self.mdp.n_states, self.mdp.n_actions)

    def bootstrapped(self, w: Numbers) -> Rows:
        """E[gamma grad m(q(S', .)) | s, a], a row for each pair."""
        by_pair = self.function.jacobian(self.weights(w)).reshape(self.mdp.n_states, self.mdp.n_actions, -1)
        return self.carry @ np.einsum("sa,sak->sk", greedy(self.values(w), self.tau).weights, by_pair)

    def change(self, **given) -> "ControlProblem":
        """The same problem with other arguments."""
        now: dict[str, Any] = {"features": self.function, "projection": self.projection, "tau": self.tau}
        now["weighting"] = self.d.reshape(self.mdp.n_states, -1)
        return ControlProblem(self.mdp, **(now | given))


def tangent(problem: ControlProblem, w: Numbers, behavior: Numbers | None = None, lam: float = 0.0) -> Tangent:
    """The PBE(lam) at w, to first order; with lam = 0 it depends on no behavior.

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> tangent(coin, [0.0, -1.0], [[0.5, 0.5]], lam=1.0).errors  # 1 + half of the times 1/2 of the same
    array([1.33333333, 1.33333333])
    """
    w = problem.weights(w)
    jacobian, bend, features = problem.function.jacobian(w), problem.function.bend, problem.projection
    errors, slope = expected_td_error(problem, w), problem.bootstrapped(w) - jacobian
    check_interval(np.asarray(lam, dtype=float), "lam", ())
    if lam:
        if behavior is None:
            raise InputError("the errors of lambda-returns depend on the behavior; give behavior, or lam=0")
        followed = _greedily(problem.values(w)) * problem.mdp.policy(behavior, "behavior")
        chain = (problem.carry[:, :, None] * followed[None]).reshape(len(problem.d), -1)
        solved = np.linalg.solve(np.eye(len(chain)) - lam * chain, np.column_stack([errors, slope]))
        errors, slope = solved[:, 0], solved[:, 1:]
    if features is not None:
        return Tangent(problem.d, errors, slope, jacobian, features)
    moves = None if bend is None else (lambda theta, c: bend(w, theta, c))
    return Tangent(problem.d, errors, slope, jacobian, jacobian, moves)


def _greedily(q: PerStateAction) -> PerStateAction:
    return np.eye(q.shape[1])[q.argmax(axis=1)]


def visits(mdp: FiniteMDP, behavior: Numbers) -> PerStateAction:
    """How often a behavior is in each state and takes each action: d(s, a) = d_b(s) b(a | s).

    >>> visits(FiniteMDP(np.ones((1, 2, 1)), reward=0.0, discount=0.5), [[0.25, 0.75]])
    array([[0.25, 0.75]])
    """
    policy = mdp.policy(behavior, "behavior")
    return stationary_distribution(mdp.transition_under(policy), "behavior")[..., None] * policy


def expected_td_error(problem: ControlProblem, w: Numbers) -> Float[Array, " N"]:
    """u(s, a) = E[delta | S = s, A = a].

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> expected_td_error(coin, [0.0, 0.0]), expected_td_error(coin, [2.0, 1.0])  # at 0, and at q*
    (array([1., 0.]), array([0., 0.]))
    """
    q = problem.values(w)
    return problem.reward + problem.carry @ greedy(q, problem.tau).value - q.ravel()


def bellman_error(problem: ControlProblem, w: Numbers) -> Scalar:
    """BE(w) = sum_sa d(s, a) E[delta | s, a]^2.

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> bellman_error(coin, [0.0, 0.0]), bellman_error(coin, [2.0, 1.0])
    (0.5, 0.0)
    """
    return as_scalar((problem.d * expected_td_error(problem, w) ** 2).sum())


def bellman_gradient(problem: ControlProblem, w: Numbers) -> Weights:
    """Its gradient, 2 sum_sa d u du/dw; a subgradient where the hard max has ties.

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> bellman_gradient(coin, [2.0, 1.0])  # at q*
    array([0., 0.])
    """
    t = tangent(problem, w)
    return 2 * (t.d * t.errors) @ t.slope


def projected_bellman_error(problem: ControlProblem, w: Numbers, ridge: Numbers = 0.0) -> Scalar:
    """PBE(w) = || Pi_{H,d} u ||_d^2 = max_{h in H} sum_sa d (2 u h - h^2); a ridge penalizes the weights of h.

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> round(projected_bellman_error(coin, [0.0, 0.0]), 6)  # of a table the BE
    0.5
    """
    return as_scalar((tangent(problem, w).residual(ridge) ** 2).sum())


def projected_bellman_gradient(problem: ControlProblem, w: Numbers, ridge: Numbers = 0.0) -> Weights:
    """The gradient of the PBE, 2 (du/dw)'D Pi u; a subgradient where the hard max has ties.

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> projected_bellman_gradient(coin, [2.0, 1.0])  # at q*
    array([0., 0.])
    """
    return tangent(problem, w).gradient(ridge=ridge)


def _rows(mdp: FiniteMDP, values: Numbers, name: str) -> Rows:
    array, (s, a) = as_floats(values, name), (mdp.n_states, mdp.n_actions)
    if array.shape[:-1] not in ((s, a), (s * a,)):
        raise InputError(f"{name} has shape {array.shape}; it should be ({s}, {a}, features) or ({s * a}, features)")
    return array.reshape(s * a, array.shape[-1])


def _function(mdp: FiniteMDP, features: Numbers | ValueFunction | None) -> ValueFunction:
    n = mdp.n_states * mdp.n_actions
    if not isinstance(features, ValueFunction):
        return ValueFunction.linear(np.eye(n) if features is None else _rows(mdp, features, "features"))
    shape = features.values(features.start).shape
    if shape != (n,):
        raise InputError(f"the value function gives values of shape {shape}; it should be ({n},), one for each pair")
    return features


def _projection(mdp: FiniteMDP, projection: Numbers | str | None) -> Rows | None:
    if isinstance(projection, str):
        if projection != "all":
            raise InputError(f'projection is {projection!r}; it should be features of H, None for H = F, or "all"')
        return np.eye(mdp.n_states * mdp.n_actions)
    return None if projection is None else _rows(mdp, projection, "projection")


def _weights(mdp: FiniteMDP, weighting: Numbers | None) -> Float[Array, " N"]:
    s, a = mdp.n_states, mdp.n_actions
    if weighting is None:
        return np.full(s * a, 1 / (s * a))
    array = as_floats(weighting, "weighting")
    if array.shape != (s, a):
        raise InputError(f"weighting has shape {array.shape}; it should be ({s}, {a}), which is (states, actions)")
    check_interval(array, "weighting", ("state", "action"), high=np.inf)
    if not array.any():
        raise InputError("weighting is 0 everywhere; give at least one state and action a positive weight")
    return array.ravel()
