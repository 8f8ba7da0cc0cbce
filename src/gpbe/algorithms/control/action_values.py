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

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control.agent import (
    ByValue,
    Hypers,
    Sampled,
    Spec,
    Valued,
    marked,
    marked_detached,
    now_and_next,
)
from gpbe.algorithms.control.maximum import Greedy
from gpbe.nets import network


class Outputs(NamedTuple):
    q: Float[Array, " A ..."]
    q_next: Float[Array, " A ..."]
    h: Any
    """None if not learned."""


@dataclass(frozen=True)
class ActionValues(ByValue):
    form: Literal["none", "correction", "saddlepoint"]
    basis: Literal["head", "network", "gradient"] = "head"
    width: float = 1.0
    """Units in each layer of a network of h's own, as a multiple of q's."""
    curvature: bool = False
    """Maei's further term, for the basis of gradients."""

    def start(self, spec: Spec, key: PRNGKeyArray) -> Valued:
        observation, actions, hidden, body = spec
        key_q, key_h = jax.random.split(key)
        shared = self.form != "none" and self.basis == "head"
        q = network(observation, actions, hidden, key_q, body, detached=actions if shared else 0)
        if self.form == "none" or self.basis == "head":
            return Valued(q, None)
        if self.basis == "gradient":
            return Valued(q, marked(q))
        own = network(observation, actions, tuple(max(1, round(self.width * n)) for n in hidden), key_h, body)
        # 0 at the start, as the head is.
        return Valued(q, eqx.tree_at(lambda net: net.head, own, marked(own.head)))

    def outputs(self, params: Valued, target: Valued | None, s: Array, s_next: Array) -> Outputs:
        held = params if self.form == "none" and target is None else target
        out, q_next = now_and_next(params.q, None if held is None else held.q, s, s_next)
        return Outputs(out[: params.q.live], q_next, self._h(params, out, s))

    def _h(self, params: Valued, out: Array, s: Array) -> Array | None:
        if self.form == "none":
            return None
        if self.basis == "head":
            return out[params.q.live :]
        if self.basis == "network":
            return params.h(s)
        # theta . grad_w q, by a forward-mode product. `theta` learns from it as from a linear function; w must not, or,
        # with the curvature, moves against it: 2 [w] - w has the value of w and its derivative times -1.
        held = jax.lax.stop_gradient(eqx.filter(params.q, eqx.is_inexact_array))
        if self.curvature:
            held = jax.tree.map(lambda still, w: 2 * still - w, held, eqx.filter(params.q, eqx.is_inexact_array))
        _, static = eqx.partition(params.q, eqx.is_inexact_array)
        return jax.jvp(lambda w: eqx.combine(w, static)(s), (held,), (params.h,))[1]

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        taken = jax.nn.one_hot(t.action, out.q.shape[0])
        best = greedy(out.q_next)
        delta = t.reward + t.discount * best.value - (taken * out.q).sum()
        if self.form == "none":
            return Outputs(delta * taken, 0 * out.q_next, None)
        h = (taken * out.h).sum()
        first = delta if self.form == "correction" else h
        return Outputs(first * taken, -t.discount * h * best.weights, (delta - h) * taken)

    def penalized(self, params: Valued) -> Valued:
        if self.form == "none":
            return marked(params)
        return marked_detached(params, lambda p: p.q) if self.basis == "head" else marked(params, lambda p: p.h)
