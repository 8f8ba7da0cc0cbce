"""A prediction problem: an MDP, the policy to evaluate, the policy that acts, and features."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.sparse import issparse

from gpbe import linalg
from gpbe.checks import as_floats, check_coverage, check_magnitude, check_names, check_shape
from gpbe.errors import InputError
from gpbe.lazy import named
from gpbe.linalg import DenseInverse, Inverse
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.sparse import as_sparse_features
from gpbe.mdp.structure import check_evaluation_ends, stationary_distribution
from gpbe.shapes import Array, Features, Numbers, PerState, PerStateAction, StateMatrix, Weights
from gpbe.wording import counted

FIELDS = ("mdp", "target", "behavior", "features", "initial_weights", "name")
OF_FEATURES = ("feature_triangle",)
"""What is computed from the features."""


@dataclass(frozen=True, eq=False)
class PredictionProblem:
    """Estimate the values of `target` from the actions of `behavior`, as `features @ w`.

    Args:
        mdp: the Markov decision process.
        target, behavior: action probabilities (S, A), or one row (A,) for every state. The behavior must cover
            the target.
        features: one row a state, (S, K); the identity (a table) if left out. Of a sparse MDP they may be a sparse
            matrix.
        initial_weights: where learning starts; zeros if left out.
        name: how the problem is called in tables.

    Policies and features may carry leading axes (and so may the arrays of the MDP): a million random policies
    are one problem, and everything computed from it has those leading axes too.

    >>> from gpbe import mdp
    >>> walk = PredictionProblem(mdp.random_walk(5, gamma=1.0), target=[0.5, 0.5], behavior=[0.5, 0.5])
    >>> walk.values.round(3)
    array([-0.667, -0.333,  0.   ,  0.333,  0.667])
    """

    mdp: FiniteMDP
    target: PerStateAction
    behavior: PerStateAction
    features: Features
    initial_weights: Weights
    name: str

    def __init__(
        self,
        mdp: FiniteMDP,
        target: Numbers,
        behavior: Numbers,
        features: Numbers | Any | None = None,
        *,
        initial_weights: Numbers | None = None,
        name: str = "problem",
    ):
        if not isinstance(mdp, FiniteMDP):
            raise InputError(f"mdp is of type {type(mdp).__name__}; it should be a FiniteMDP")
        target, behavior = mdp.policy(target, "target"), mdp.policy(behavior, "behavior")
        check_coverage(target, behavior, mdp.axes[:2])
        features = _read_features(mdp, features)
        k = features.shape[-1] if features.ndim else 0
        check_shape(features, (mdp.n_states, k), "features", "states, features")
        initial = np.zeros(k) if initial_weights is None else as_floats(initial_weights, "initial_weights")
        check_shape(initial, (k,), "initial_weights", "features")
        if k == 0:
            raise InputError(f"features have shape {features.shape}; there should be one at least")
        check_magnitude(features, "features")
        check_magnitude(initial, "initial_weights")
        check_names([name], "problem")
        set_ = object.__setattr__
        set_(self, "mdp", mdp)
        set_(self, "target", target)
        set_(self, "behavior", behavior)
        set_(self, "features", features)
        set_(self, "initial_weights", initial)
        set_(self, "name", name)
        try:
            _ = self.batch_shape
        except ValueError:
            shapes = {f: getattr(self, f).shape[:-2] for f in ("target", "behavior", "features")}
            shown = ", ".join(f"{f} {shape}" for f, shape in shapes.items())
            raise InputError(f"leading axes do not fit together: mdp {mdp.batch_shape}, {shown}") from None
        if mdp.is_sparse and self.batch_shape:
            raise InputError(f"a sparse problem is one problem; policies and features have axes {self.batch_shape}")

    def replace(self, **changes) -> "PredictionProblem":
        """The same problem with some fields changed: `problem.replace(target=policy)`."""
        if "features" in changes:
            changes.setdefault("initial_weights", None)
        return PredictionProblem(**{f: changes.get(f, getattr(self, f)) for f in FIELDS})

    def with_features(self, features: Numbers) -> "PredictionProblem":
        """The same problem with other features; cached quantities stay, since none depends on the features."""
        other = self.replace(features=features)
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k not in (*FIELDS, *OF_FEATURES)})
        return other

    def __repr__(self) -> str:
        batch = f" (a batch {self.batch_shape})" if self.batch_shape != self.mdp.batch_shape else ""
        features = counted(self.features.shape[-1], "feature")
        return f"<PredictionProblem {self.name}: {self.mdp.size_in_words}, {features}{batch}>"

    def _repr_html_(self) -> str | None:
        return named("gpbe.look.notebook:problem")(self)

    def __getitem__(self, index: int | tuple[int, ...]) -> "PredictionProblem":
        """One problem of a batch."""
        at = index if isinstance(index, tuple) else (index,)
        batch, m = self.batch_shape, self.mdp.dense("a batch")
        if len(at) != len(batch) or any(not -n <= i < n for i, n in zip(at, batch, strict=True)):
            raise InputError(f"problem {index} does not exist; the leading axes of this batch are {batch}")

        def pick(array: Array, axes: int) -> Array:
            return np.broadcast_to(array, batch + array.shape[array.ndim - axes :])[at]

        one = FiniteMDP(
            pick(m.probability, 3),
            pick(m.reward, 3),
            pick(m.discount, 3),
            pick(self.mdp.start, 1),
            state_names=self.mdp.state_names,
            action_names=self.mdp.action_names,
        )
        return PredictionProblem(
            one,
            pick(self.target, 2),
            pick(self.behavior, 2),
            pick(self.features, 2),
            initial_weights=pick(self.initial_weights, 1),
            name=f"{self.name}[{', '.join(map(str, at))}]",
        )

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The leading axes of everything that is computed from this problem."""
        policies = (self.target.shape[:-2], self.behavior.shape[:-2])
        return np.broadcast_shapes(
            self.mdp.batch_shape, *policies, self.features.shape[:-2], self.initial_weights.shape[:-1]
        )

    @cached_property
    def discounted_transition(self) -> StateMatrix:
        """P_{pi,gamma}(s, s') = sum_a pi(a|s) P(s'|s,a) gamma(s,a,s')."""
        return self.mdp.discounted_transition_under(self.target)

    @cached_property
    def expected_reward(self) -> PerState:
        """r_pi(s), the expected reward of one step under the target policy."""
        return self.mdp.expected_reward_under(self.target)

    @cached_property
    def bellman_matrix(self) -> StateMatrix:
        """L = I - P_{pi,gamma}, so that v_pi = L^-1 r_pi. Refused if the target policy need not terminate."""
        check_evaluation_ends(self.discounted_transition, names=self.mdp.state_names)
        return self.mdp.layout.identity - self.discounted_transition

    @cached_property
    def bellman_inverse(self) -> DenseInverse | Inverse:
        """L^-1, to be applied."""
        return linalg.inverse_of(self.bellman_matrix)

    @cached_property
    def values(self) -> PerState:
        """v_pi."""
        return self.bellman_inverse.of(self.expected_reward)

    @cached_property
    def feature_triangle(self) -> Float[Array, "... R K"]:
        """A matrix with the singular values and right singular vectors of the features, small if they are many."""
        return linalg.triangle(self.features)

    @cached_property
    def ratios(self) -> PerStateAction:
        """rho(s, a) = pi(a|s) / b(a|s); 0 where neither policy takes the action."""
        target, behavior = np.broadcast_arrays(self.target, self.behavior)
        return np.divide(target, behavior, out=np.zeros(target.shape), where=behavior > 0)

    @cached_property
    def behavior_distribution(self) -> PerState:
        """d_b, the stationary distribution of the behavior."""
        return stationary_distribution(self.mdp.transition_under(self.behavior), "behavior", self.mdp.state_names)

    @cached_property
    def target_distribution(self) -> PerState:
        """d_pi, the stationary distribution of the target policy."""
        return stationary_distribution(self.mdp.transition_under(self.target), "target", self.mdp.state_names)


def check_problem(problem: object) -> None:
    """Refuse what is no problem, such as the name of one.

    >>> check_problem("baird")
    Traceback (most recent call last):
    gpbe.errors.InputError: problem is of type str; give a PredictionProblem, or gpbe.mdp.find(name)
    """
    if not isinstance(problem, PredictionProblem):
        raise InputError(
            f"problem is of type {type(problem).__name__}; give a PredictionProblem, or gpbe.mdp.find(name)"
        )


def _read_features(mdp: FiniteMDP, features: Any) -> Features:
    if not mdp.is_sparse:
        if issparse(features):
            raise InputError("features are sparse, and the MDP is not; give features.toarray()")
        return np.eye(mdp.n_states) if features is None else as_floats(features, "features")
    if features is None:
        return mdp.layout.identity
    return as_sparse_features(features, mdp.n_states) if issparse(features) else as_floats(features, "features")
