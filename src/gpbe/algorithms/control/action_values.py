"""Q-learning, QC, QRC, GQ and their variants as one update (paper, sections 8 and 9).

    delta   = R + gamma m(q(S', .)) - q(S, A)
    theta  <- theta + alpha (delta - h(S, A)) grad_theta h(S, A) - alpha beta theta

and, for the primary weights, one of three forms:

    none          w <- w + alpha  delta grad q(S, A)                                   Q-learning
    correction    w <- w + alpha [delta grad q(S, A) - gamma h(S, A) grad m(q(S', .))]   QC, QRC
    saddlepoint   w <- w + alpha  h(S, A) [grad q(S, A) - gamma grad m(q(S', .))]        GQ

h(S, A) is a head on the detached features of q, a network of its own, or theta . grad_w q(S, A). In the last case
Maei et al. (2009) have the further term -(delta - h(S, A)) Hess q(S, A) theta for w.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control.agent import ByValue, Errors, Sampled, Spec, Valued, now_and_next
from gpbe.algorithms.control.hyperparameters import WIDTH, Hypers
from gpbe.algorithms.control.maximum import Greedy
from gpbe.checks import check_choices
from gpbe.nets import Basis, marked, marked_second, second_outputs, start_second, zero_at_start


class Outputs(NamedTuple):
    q: Float[Array, " A ..."]
    q_next: Float[Array, " A ..."]
    h: Any
    """None if not learned."""


def td_error(out: Outputs, t: Any, taken: Array, best: Greedy) -> Array:
    """delta = R + gamma m(q(S', .)) - q(S, A)."""
    return t.reward + t.discount * best.value - (taken * out.q).sum()


@dataclass(frozen=True)
class ActionValues(ByValue):
    form: Literal["none", "correction", "saddlepoint"]
    basis: Basis = "head"
    """Where h gets its features (see `gpbe.nets.second`)."""
    width: float = 1.0
    """Units in each layer of a network of h's own, as a multiple of q's."""
    curvature: bool = False
    """Maei's further term, for the basis of gradients."""

    def __post_init__(self) -> None:
        check_choices(self)
        WIDTH.checked(self.width, "width")

    def start(self, spec: Spec, key: PRNGKeyArray) -> Valued:
        key_q, key_h = jax.random.split(key)
        shared = self.form != "none" and self.basis == "head"
        q = spec.network(spec.actions, key_q, detached=spec.actions if shared else 0)
        if self.form == "none":
            return Valued(q, None)
        own = lambda: zero_at_start(spec.network(spec.actions, key_h, width=self.width))  # noqa: E731
        return Valued(q, start_second(self.basis, q, own))

    def outputs(self, params: Valued, target: Valued | None, s: Array, s_next: Array) -> Outputs:
        held = params if self.form == "none" and target is None else target
        out, q_next = now_and_next(params.q, None if held is None else held.q, s, s_next)
        q = out[: params.q.live]
        if self.form == "none":
            return Outputs(q, q_next, None)
        return Outputs(q, q_next, second_outputs(self.basis, params.q, params.h, out, s, self.curvature))

    def errors(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Errors:
        taken = jax.nn.one_hot(t.action, out.q.shape[0])
        return Errors(td_error(out, t, taken, greedy(out.q_next)), None if out.h is None else (taken * out.h).sum())

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        taken = jax.nn.one_hot(t.action, out.q.shape[0])
        best = greedy(out.q_next)
        delta = td_error(out, t, taken, best)
        if self.form == "none":
            return Outputs(delta * taken, 0 * out.q_next, None)
        h = (taken * out.h).sum()
        first = delta if self.form == "correction" else h
        return Outputs(first * taken, -t.discount * h * best.weights, (delta - h) * taken)

    def penalized(self, params: Valued) -> Valued:
        return marked(params) if self.form == "none" else marked_second(self.basis, params, lambda p: p.q)
