"""The Bellman errors of control for linear action values, and their gradients (paper, section 8.1).

With q = X w, u(s, a) = E[delta | s, a] = E[R + gamma m(q(S', .))| s, a] - q(s, a) and its slope
du/dw = E[gamma grad m | s, a] - x(s, a):

    BE(w) = sum_sa d(s, a) u(s, a)^2,     PBE(w) = || Pi_{H,d} u ||_d^2.

Arrays over state-action pairs are flattened to N = S A rows. All is 64-bit NumPy.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float

from gpbe.checks import as_floats, check_interval, check_shape
from gpbe.errors import InputError
from gpbe.exact.control.operators import check_tau, greedy
from gpbe.exact.projections import weighted_basis
from gpbe.mdp import FiniteMDP
from gpbe.mdp.structure import stationary_distribution
from gpbe.shapes import Array, Numbers, PerStateAction, Scalar, Weights, as_scalar

Rows = Float[Array, "N K"]


@dataclass(frozen=True, eq=False)
class ControlProblem:
    """Approximate q* by X w: an MDP, features of state-action pairs, a weighting of them, an operator and a set H.

    Args:
        mdp: the Markov decision process.
        features: x(s, a), shape (S, A, K) or (S A, K); the identity (a table) if left out.
        weighting: d(s, a) >= 0, shape (S, A); the same everywhere if left out. `visits` gives a behavior's.
        projection: features of H over pairs, (S, A, M) or (S A, M); those of q if left out; "all" for every function,
            which makes the PBE the BE.
        tau: mellowmax's; 0 is the hard max.

    >>> chain = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> projected_bellman_error(chain, [2.0, 1.0])
    0.0
    """

    mdp: FiniteMDP
    x: Rows
    d: Float[Array, " N"]
    phi: Float[Array, "N M"]
    tau: float

    def __init__(
        self,
        mdp: FiniteMDP,
        features: Numbers | None = None,
        weighting: Numbers | None = None,
        projection: Numbers | Literal["all"] | None = None,
        tau: float = 0.0,
    ):
        if mdp.batch_shape:
            raise InputError(f"a control problem has one MDP; this is a batch with axes {mdp.batch_shape}")
        check_tau(tau)
        n = mdp.n_states * mdp.n_actions
        x = np.eye(n) if features is None else _rows(mdp, features, "features")
        if isinstance(projection, str):
            if projection != "all":
                raise InputError(f'projection is {projection!r}; it should be features of H, None for H = F, or "all"')
            phi = np.eye(n)
        else:
            phi = x if projection is None else _rows(mdp, projection, "projection")
        set_ = object.__setattr__
        set_(self, "mdp", mdp)
        set_(self, "x", x)
        set_(self, "d", _weights(mdp, weighting))
        set_(self, "phi", phi)
        set_(self, "tau", float(tau))

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
        """Weights w of q = X w, checked."""
        w = as_floats(w, "w")
        check_shape(w, (self.x.shape[1],), "w", "features")
        if w.ndim != 1:
            raise InputError(f"w has shape {w.shape}; it should be one vector of {self.x.shape[1]} weights")
        return w

    def values(self, w: Numbers) -> PerStateAction:
        """q(s, a) = x(s, a).w."""
        return (self.x @ self.weights(w)).reshape(self.mdp.n_states, self.mdp.n_actions)

    def bootstrapped(self, w: Numbers) -> Rows:
        """E[gamma grad m(q(S', .)) | s, a], a row for each pair."""
        by_pair = self.x.reshape(self.mdp.n_states, self.mdp.n_actions, -1)
        return self.carry @ np.einsum("sa,sak->sk", greedy(self.values(w), self.tau).weights, by_pair)

    def change(self, **given) -> "ControlProblem":
        """The same problem with other arguments."""
        now = {"features": self.x, "weighting": self.d.reshape(self.mdp.n_states, -1), "projection": self.phi}
        return ControlProblem(self.mdp, **(now | {"tau": self.tau} | given))


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
    return 2 * (problem.d * expected_td_error(problem, w)) @ (problem.bootstrapped(w) - problem.x)


def projected_residual(problem: ControlProblem, w: Numbers, ridge: Numbers = 0.0) -> Float[Array, " M"]:
    """A vector whose squared length is the PBE: the weighted errors in coordinates of H."""
    basis = weighted_basis(problem.phi, problem.d, ridge)
    return basis.T @ (np.sqrt(problem.d) * expected_td_error(problem, w))


def projected_bellman_error(problem: ControlProblem, w: Numbers, ridge: Numbers = 0.0) -> Scalar:
    """PBE(w) = || Pi_{H,d} u ||_d^2 = max_{h in H} sum_sa d (2 u h - h^2); a ridge penalizes the weights of h.

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> round(projected_bellman_error(coin, [0.0, 0.0]), 6)  # of a table the BE
    0.5
    """
    return as_scalar((projected_residual(problem, w, ridge) ** 2).sum())


def projected_bellman_gradient(problem: ControlProblem, w: Numbers, ridge: Numbers = 0.0) -> Weights:
    """The gradient of the PBE, 2 (du/dw)'D Pi u; a subgradient where the hard max has ties.

    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> projected_bellman_gradient(coin, [2.0, 1.0])  # at q*
    array([0., 0.])
    """
    basis = weighted_basis(problem.phi, problem.d, ridge)
    projected = np.sqrt(problem.d) * (basis @ projected_residual(problem, w, ridge))
    return 2 * projected @ (problem.bootstrapped(w) - problem.x)


def _rows(mdp: FiniteMDP, values: Numbers, name: str) -> Rows:
    array, (s, a) = as_floats(values, name), (mdp.n_states, mdp.n_actions)
    if array.shape[:-1] not in ((s, a), (s * a,)):
        raise InputError(f"{name} has shape {array.shape}; it should be ({s}, {a}, features) or ({s * a}, features)")
    return array.reshape(s * a, array.shape[-1])


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
