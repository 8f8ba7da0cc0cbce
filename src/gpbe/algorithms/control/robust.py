"""QRC and GQ on the Huber error (Patterson, Liao and White 2022): h is clipped where q learns from it.

    c            = h(S, A) clipped at `huber`
    theta       <- theta + alpha (delta - h(S, A)) grad_theta h(S, A) - alpha beta theta
    correction   w <- w + alpha [(c + delta - h(S, A)) grad q(S, A) - gamma c grad m(q(S', .))]
    saddlepoint  w <- w + alpha  c [grad q(S, A) - gamma grad m(q(S', .))]

With an h that can be any function and is not penalized, h becomes E[delta | S, A], and w follows the gradient of the
Huber BE, in which an error counts by its square up to `huber` and in proportion beyond. With an infinite `huber` this
is QRC or GQ. Expected errors are bounded, not sampled ones: to clip delta itself would change what is learned wherever
rewards or transitions are random.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array

from gpbe.algorithms.control.action_values import ActionValues, Outputs
from gpbe.algorithms.control.agent import Sampled
from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.maximum import Greedy
from gpbe.errors import InputError


@dataclass(frozen=True)
class RobustActionValues(ActionValues):
    """Action values that learn from a bounded h."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form == "none" or self.curvature:
            raise InputError("the Huber error clips an h that learns, without the term of the curvature")

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        clipped = jnp.clip(out.h, -hypers.huber, hypers.huber)
        moves = super().directions(out._replace(h=clipped), t, hypers, greedy)
        excess = jax.nn.one_hot(t.action, out.q.shape[0]) * (out.h - clipped)
        first = moves.q - excess if self.form == "correction" else moves.q
        return moves._replace(q=first, h=moves.h - excess)
