"""Q-learning, QC and QRC as one update (paper, section 8.2).

    delta   = R + gamma m(q(S', .)) - q(S, A)
    w      <- w + alpha [delta grad q(S, A) - gamma h(S, A) grad m(q(S', .))]
    theta  <- theta + alpha [(delta - h(S, A)) x(S)] - alpha beta theta

The update is stated on the network's outputs: how each should move. Pulling that back through the network is the same
for every algorithm, so it is done once, by whoever calls this.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
from jaxtyping import Array, Float, Int

from gpbe.operators import Greedy


class Outputs(NamedTuple):
    """What the network says about one transition."""

    q: Float[Array, " A"]
    q_next: Float[Array, " A"]
    h: Float[Array, " A"]


class Sampled(NamedTuple):
    """One replayed transition, without its observations."""

    action: Int[Array, ""]
    reward: Float[Array, ""]
    discount: Float[Array, ""]
    """gamma, or 0 where the episode ended."""


class Directions(NamedTuple):
    """How each output should change."""

    q: Float[Array, " A"]
    q_next: Float[Array, " A"]
    h: Float[Array, " A"]


def gradient_correction(out: Outputs, t: Sampled, operator: Callable[[Array], Greedy], corrected: bool) -> Directions:
    """Directions for q(S, .), q(S', .) and h(S, .). Without the correction (h = 0) this is Q-learning."""
    taken = jax.nn.one_hot(t.action, out.q.shape[0])
    best = operator(out.q_next)
    delta = t.reward + t.discount * best.value - (taken * out.q).sum()
    if not corrected:
        return Directions(delta * taken, 0 * out.q_next, 0 * out.h)
    h = (taken * out.h).sum()
    return Directions(delta * taken, -t.discount * h * best.weights, (delta - h) * taken)
