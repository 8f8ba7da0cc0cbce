"""SBEED (Dai et al. 2018) with state values and a policy, and the same objective on action values (paper, section 9).

    min over V, pi   E[delta^2] - eta min over rho E[(R + gamma V(S') - rho(S, A))^2]
    delta = R + gamma V(S') - tau log pi(A|S) - V(S)

rho estimates E[R + gamma V(S') | S, A]; it is a head on the detached features of V. eta = 0 is the residual gradient,
eta = 1 the gradient correction. SBEED-Q has q(S, A) for V(S) + tau log pi(A|S), and m(q(S', .)) for V(S').
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

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
    sample_policy,
)
from gpbe.nets import Network, network
from gpbe.operators import Greedy


class ActorCritic(NamedTuple):
    critic: Network
    policy: Network


class Outputs(NamedTuple):
    value: Array
    value_next: Array
    rho: Float[Array, " A ..."]
    log_policy: Float[Array, " A ..."]


@dataclass(frozen=True)
class SBEED:
    """With tau = 0 the policy gets no gradient, and stays as it began: the paper's sweep has that setting too."""

    def start(self, spec: Spec, key: PRNGKeyArray) -> ActorCritic:
        observation, actions, hidden, body = spec
        key_critic, key_policy = jax.random.split(key)
        critic = network(observation, 1, hidden, key_critic, body, detached=actions)
        return ActorCritic(critic, network(observation, actions, hidden, key_policy, body))

    def preferences(self, params: ActorCritic, x: Float[Array, "I B"]) -> Float[Array, "A B"]:
        return params.policy(x)

    def act(self, preferences: Float[Array, " A"], choice: Choice, epsilon: Array) -> Action:
        return sample_policy(preferences, choice)

    def outputs(self, params: ActorCritic, target: ActorCritic | None, s: Array, s_next: Array) -> Outputs:
        out, value_next = critic_outputs(params.critic, None if target is None else target.critic, s, s_next)
        return Outputs(out[0], value_next[0], out[1:], jax.nn.log_softmax(params.policy(s), axis=0))

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        taken = jax.nn.one_hot(t.action, out.rho.shape[0])
        backup = t.reward + t.discount * out.value_next
        delta = backup - hypers.tau * (taken * out.log_policy).sum() - out.value
        surprise = backup - (taken * out.rho).sum()
        next_ = -t.discount * (delta - hypers.eta * surprise)
        return Outputs(delta, next_, surprise * taken, hypers.tau * delta * taken)

    def penalized(self, params: ActorCritic) -> ActorCritic:
        return marked(params)

    def actor(self, params: ActorCritic) -> ActorCritic:
        return marked(params, lambda p: p.policy)


class OutputsQ(NamedTuple):
    q: Float[Array, " A ..."]
    q_next: Float[Array, " A ..."]
    rho: Float[Array, " A ..."]


@dataclass(frozen=True)
class SBEEDQ:
    def start(self, spec: Spec, key: PRNGKeyArray) -> Network:
        return network(spec.observation, spec.actions, spec.hidden, key, spec.body, detached=spec.actions)

    def preferences(self, params: Network, x: Float[Array, "I B"]) -> Float[Array, "A B"]:
        return params(x)[: params.live]

    def act(self, preferences: Float[Array, " A"], choice: Choice, epsilon: Array) -> Action:
        return epsilon_greedy(preferences, choice, epsilon)

    def outputs(self, params: Network, target: Network | None, s: Array, s_next: Array) -> OutputsQ:
        out, q_next = critic_outputs(params, target, s, s_next)
        return OutputsQ(out[: params.live], q_next, out[params.live :])

    def directions(self, out: OutputsQ, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> OutputsQ:
        taken = jax.nn.one_hot(t.action, out.q.shape[0])
        best = greedy(out.q_next)
        backup = t.reward + t.discount * best.value
        delta = backup - (taken * out.q).sum()
        surprise = backup - (taken * out.rho).sum()
        next_ = -t.discount * (delta - hypers.eta * surprise)
        return OutputsQ(delta * taken, next_ * best.weights, surprise * taken)

    def penalized(self, params: Network) -> Network:
        return marked(params)

    def actor(self, params: Network) -> Network:
        return marked(params)


def critic_outputs(net: Network, target: Network | None, s: Array, s_next: Array) -> tuple[Array, Array]:
    """All outputs at S, and the live ones at S'; in one pass, if S' is not valued by a target network."""
    if target is not None:
        return net(s), jax.lax.stop_gradient(target(s_next)[: net.live])
    both = net(jnp.concatenate([s, s_next], axis=1))
    return both[:, : s.shape[1]], both[: net.live, s.shape[1] :]
