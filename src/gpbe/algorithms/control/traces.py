"""Q(lambda), QC(lambda), QRC(lambda) and GQ(lambda): gradient methods with eligibility traces (Elelimy et al. 2025).

The generalized PBE of lambda-returns puts delta^lam_t = sum_{k>=t} (gamma lam)^{k-t} delta_k in place of delta_t: h
maximizes the mean of delta^lam h - h^2 / 2, and w minimizes it. What these gradients sum up to over an episode, traces
give one transition at a time:

    z_w     <- gamma lam z_w     + grad q(S, A)
    z_theta <- gamma lam z_theta + grad h(S, A)
    z_h     <- gamma lam z_h     + h(S, A)
    theta   <- theta + alpha ratio [delta z_theta - h(S, A) grad h(S, A) - beta theta]

and, for the primary weights, one of three forms, where grad delta = gamma grad m(q(S', .)) - grad q(S, A):

    none          w <- w + alpha  delta z_w                                           Q(lambda)
    correction    w <- w + alpha [delta z_w - h(S, A) grad q(S, A) - z_h grad delta]    QC(lambda), QRC(lambda)
    saddlepoint   w <- w - alpha  z_h grad delta                                       GQ(lambda)

With lam = 0 these are the updates of `action_values`. z_w and z_theta are one vector z over all weights: what is
added to it is the gradient of q(S, A) and h(S, A) together, in which no weight has a part in both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array

from gpbe.algorithms.control.action_values import ActionValues, Outputs, td_error
from gpbe.algorithms.control.agent import Agent, Valued
from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.maximum import Greedy
from gpbe.errors import InputError
from gpbe.nets import second_outputs


class Streamed(NamedTuple):
    """The latest transition, without its observations."""

    action: Any
    reward: Any
    discount: Any
    """gamma, or 0 where the episode ended."""
    greedy: Any
    """Was the action greedy when it was chosen?"""


class Traced(NamedTuple):
    """How a transition moves weights: by delta z + what pulling back `directions` gives."""

    delta: Any
    eligible: Any
    """Cotangents of the outputs, in their order, whose gradient is added to the trace z before it is used; None for the
    others, through which nothing is pulled back then."""
    directions: Any
    """How each output should change besides; None if delta z is all."""
    z_h: Any
    """The trace of h, up to this transition."""
    fade: Any
    """The factor of older traces, before all else; 0 cuts them off."""
    lasting: Any
    """The factor of all traces after this transition; 0 cuts them off, 1 leaves them."""


@runtime_checkable
class Tracing(Agent, Protocol):
    """An agent that learns by traces.

    >>> from gpbe.algorithms.control import find_algorithm
    >>> isinstance(find_algorithm("qrc-lambda").make(), Tracing)
    True
    """

    @property
    def time_limit(self) -> Literal["bootstrap", "end"]: ...

    def traced(
        self, out: Any, t: Streamed, hypers: Hypers, greedy: Callable[[Array], Greedy], z_h: Array
    ) -> Traced: ...

    def step_size(self, hypers: Hypers, delta: Array, z: Any) -> Array:
        """The step size of this transition. The trace z is a tree of arrays, one for each array of weights."""
        ...


@dataclass(frozen=True)
class TracedValues(ActionValues):
    """Action values learned by traces, one transition at a time.

    >>> exploring = Streamed(action=0, reward=0.0, discount=0.9, greedy=jnp.asarray(False))
    >>> hypers = Hypers(gamma=jnp.asarray(0.9), lam=jnp.asarray(0.5))
    >>> [round(float(TracedValues(form="none", cut=cut).fade(exploring, hypers)), 4) for cut in ("before", "never")]
    [0.0, 0.45]
    """

    cut: Literal["before", "after", "never"] = "before"
    """Are traces cut off by an action that is not greedy? *before* its TD error reaches earlier pairs, as Watkins has
    it: the return of a greedy policy ends there; *after* that, as in published code of Stream Q(lambda); or *never*."""
    time_limit: Literal["bootstrap", "end"] = "bootstrap"
    """Is the value of the last state bootstrapped when a time limit cuts off an episode, or is that taken for its end?
    Traces begin anew in any case."""
    bounded: bool = False
    """Are steps shortened so that they do not overshoot (Elsayed et al. 2024)?"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bounded and self.form != "none":
            raise InputError(f"bounded steps are for the form 'none'; the form is {self.form!r}")
        if self.curvature:
            raise InputError("the term of the curvature has no traces here; curvature should be False")

    def outputs(self, params: Valued, target: Valued | None, s: Array, s_next: Array) -> Outputs:
        """S and S' take a pass each: the gradient at one of them is an outer product then, which need not be stored."""
        out = params.q(s)
        q, q_next = out[: params.q.live], params.q(s_next)[: params.q.live]
        if self.form == "none":
            return Outputs(q, jax.lax.stop_gradient(q_next), None)
        return Outputs(q, q_next, second_outputs(self.basis, params.q, params.h, out, s))

    def fade(self, t: Streamed, hypers: Hypers) -> Array:
        """The share of older traces that is kept: gamma lam, or 0 if they are cut off before this action."""
        decay = hypers.gamma * hypers.lam
        return jnp.where(t.greedy, decay, 0.0) if self.cut == "before" else decay

    def lasting(self, t: Streamed) -> Array:
        """The share of all traces that is kept after this transition: 1, or 0 if they are cut off here."""
        return jnp.where(t.greedy, 1.0, 0.0) if self.cut == "after" else jnp.ones(())

    def traced(
        self, out: Outputs, t: Streamed, hypers: Hypers, greedy: Callable[[Array], Greedy], z_h: Array
    ) -> Traced:
        taken = jax.nn.one_hot(t.action, out.q.shape[0])
        best, fade = greedy(out.q_next), self.fade(t, hypers)
        delta = td_error(out, t, taken, best)
        if self.form == "none":
            return Traced(delta, (taken, None, None), None, z_h, fade, self.lasting(t))
        h = (taken * out.h).sum()
        z_h = fade * z_h + h
        if self.form == "correction":
            eligible, first = (taken, None, taken), z_h - h
        else:
            eligible, first = (None, None, taken), z_h
        directions = Outputs(first * taken, -z_h * t.discount * best.weights, -h * taken)
        return Traced(delta, eligible, directions, z_h, fade, self.lasting(t))

    def step_size(self, hypers: Hypers, delta: Array, z: Any) -> Array:
        """alpha, or alpha / max(1, alpha kappa max(|delta|, 1) ||z||_1)."""
        if not self.bounded:
            return hypers.step_size
        length = sum(jnp.abs(part).sum() for part in jax.tree.leaves(z))
        reach = hypers.kappa * jnp.maximum(jnp.abs(delta), 1.0) * length
        return hypers.step_size / jnp.maximum(1.0, hypers.step_size * reach)
