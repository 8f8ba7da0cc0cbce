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
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control.agent import (
    Action,
    Choice,
    Hypers,
    Sampled,
    Spec,
    epsilon_greedy,
    marked,
    marked_detached,
)
from gpbe.nets import Network, network
from gpbe.operators import Greedy


class Params(NamedTuple):
    q: Network
    h: Any
    """A network of its own, or one weight for each of q's; None if h is a head of q's network, or not learned."""


class Outputs(NamedTuple):
    q: Float[Array, " A ..."]
    q_next: Float[Array, " A ..."]
    h: Any
    """None if not learned."""


@dataclass(frozen=True)
class ActionValues:
    form: Literal["none", "correction", "saddlepoint"]
    basis: Literal["head", "network", "gradient"] = "head"
    width: float = 1.0
    """Units in each layer of a network of h's own, as a multiple of q's."""
    curvature: bool = False
    """Maei's further term, for the basis of gradients."""

    def start(self, spec: Spec, key: PRNGKeyArray) -> Params:
        observation, actions, hidden, body = spec
        key_q, key_h = jax.random.split(key)
        shared = self.form != "none" and self.basis == "head"
        q = network(observation, actions, hidden, key_q, body, detached=actions if shared else 0)
        if self.form == "none" or self.basis == "head":
            return Params(q, None)
        if self.basis == "gradient":
            return Params(q, marked(q))
        own = network(observation, actions, tuple(max(1, round(self.width * n)) for n in hidden), key_h, body)
        # 0 at the start, as the head is.
        return Params(q, eqx.tree_at(lambda net: net.head, own, marked(own.head)))

    def preferences(self, params: Params, x: Float[Array, "I B"]) -> Float[Array, "A B"]:
        return params.q(x)[: params.q.live]

    def act(self, preferences: Float[Array, " A"], choice: Choice, epsilon: Array) -> Action:
        return epsilon_greedy(preferences, choice, epsilon)

    def outputs(self, params: Params, target: Params | None, s: Array, s_next: Array) -> Outputs:
        b, live = s.shape[1], params.q.live
        if self.form == "none" or target is not None:
            out = params.q(s)
            q_next = jax.lax.stop_gradient((target or params).q(s_next)[:live])
        else:
            both = params.q(jnp.concatenate([s, s_next], axis=1))  # one pass for S and S'
            out, q_next = both[:, :b], both[:live, b:]
        return Outputs(out[:live], q_next, self._h(params, out, s))

    def _h(self, params: Params, out: Array, s: Array) -> Array | None:
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

    def penalized(self, params: Params) -> Params:
        if self.form == "none":
            return marked(params)
        return marked_detached(params, lambda p: p.q) if self.basis == "head" else marked(params, lambda p: p.h)

    def actor(self, params: Params) -> Params:
        return marked(params)
