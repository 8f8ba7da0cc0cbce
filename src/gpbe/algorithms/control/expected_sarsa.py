"""Expected SARSA (van Seijen et al. 2009): Q-learning's update with the value of the policy that acts, at S'.

    delta = R + gamma sum_a pi(a|S') q(S', a) - q(S, A)
    w    <- w + alpha delta grad q(S, A)

pi is epsilon-greedy in q, with the epsilon of the present step: where epsilon changes over time, transitions from the
replay buffer are valued by the policy of today and not by the one that took them. No ratio is needed, for pi is asked
only at S'. With another form, h corrects the gradient of this expectation in place of that of the maximum.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
from jaxtyping import Array, Float

from gpbe.algorithms.control.action_values import ActionValues, Outputs
from gpbe.algorithms.control.agent import Errors, Sampled
from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.maximum import Greedy


def expectation(q: Float[Array, " A"], epsilon: Float[Array, ""] | float) -> Greedy:
    """sum_a pi(a) q(a) under the epsilon-greedy policy of q, and pi."""
    pi = epsilon / q.shape[0] + (1 - epsilon) * jax.nn.one_hot(q.argmax(), q.shape[0])
    return Greedy((pi * q).sum(), pi)


@dataclass(frozen=True)
class ExpectedSarsa(ActionValues):
    """Action values of the epsilon-greedy policy itself."""

    def errors(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Errors:
        return super().errors(out, t, hypers, partial(expectation, epsilon=hypers.epsilon))

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        return super().directions(out, t, hypers, partial(expectation, epsilon=hypers.epsilon))
