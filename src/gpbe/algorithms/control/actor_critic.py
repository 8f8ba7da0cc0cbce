"""TDRC-PG: an actor-critic whose critic is TDRC (paper, section 9 on parameterized policies).

    delta   = R + gamma v(S') - v(S)
    w      <- w + alpha [rho delta grad v(S) - rho gamma h(S) grad v(S')]
    theta  <- theta + alpha [(rho delta - h(S)) x(S)] - alpha beta theta
    policy  moves by alpha nu rho delta grad log pi(A|S)

Actions come from a replay buffer, that is, from older policies. The paper leaves the ratio rho = pi(A|S) / b(A|S) out
(rho = 1); b is known, because the probability of each action is stored with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control.agent import ActorCritic, ByPolicy, Errors, Sampled, Spec, now_and_next
from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.maximum import Greedy
from gpbe.nets import marked_detached


class Outputs(NamedTuple):
    v: Array
    v_next: Array
    h: Array
    log_policy: Float[Array, " A ..."]


@dataclass(frozen=True)
class PolicyGradient(ByPolicy):
    ratios: bool = False

    def start(self, spec: Spec, key: PRNGKeyArray) -> ActorCritic:
        return self.networks(spec, key, second=1)

    def outputs(self, params: ActorCritic, target: ActorCritic | None, s: Array, s_next: Array) -> Outputs:
        out, v_next = now_and_next(params.critic, None if target is None else target.critic, s, s_next)
        return Outputs(out[0], v_next[0], out[1], jax.nn.log_softmax(params.policy(s), axis=0))

    def errors(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Errors:
        return Errors(t.reward + t.discount * out.v_next - out.v, out.h)

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        taken = jax.nn.one_hot(t.action, out.log_policy.shape[0])
        rho = jnp.exp((taken * out.log_policy).sum()) / t.probability if self.ratios else 1.0
        delta = t.reward + t.discount * out.v_next - out.v
        return Outputs(rho * delta, -rho * t.discount * out.h, rho * delta - out.h, rho * delta * taken)

    def penalized(self, params: ActorCritic) -> ActorCritic:
        return marked_detached(params, lambda p: p.critic)
