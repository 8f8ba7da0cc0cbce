"""SBEED (Dai et al. 2018) with state values and a policy, and the same objective on action values (paper, section 9).

    min over V, pi   E[delta^2] - eta min over rho E[(R + gamma V(S') - rho(S, A))^2]
    delta = R + gamma V(S') - tau log pi(A|S) - V(S)

rho estimates E[R + gamma V(S') | S, A]; it is a head on the detached features of V. eta = 0 is the residual gradient,
eta = 1 the gradient correction. SBEED-Q has q(S, A) for V(S) + tau log pi(A|S), and m(q(S', .)) for V(S').

With Dai et al.'s rho ("entropy") the inner minimum is over E[(R + gamma V(S') - tau log pi(A|S) - rho(S, A))^2]. Then
rho estimates the whole target, and the policy's gradient has eta in it: with s = R + gamma V(S') - tau log pi - rho,
minus the halved gradient in log pi is tau (delta - eta s), where it is tau delta with the paper's rho.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control.agent import ActorCritic, ByPolicy, ByValue, Errors, Sampled, Spec, Valued, now_and_next
from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.maximum import Greedy
from gpbe.checks import check_choices
from gpbe.nets import marked


class Outputs(NamedTuple):
    value: Array
    value_next: Array
    rho: Float[Array, " A ..."]
    log_policy: Float[Array, " A ..."]


@dataclass(frozen=True)
class SBEED(ByPolicy):
    """Smoothed Bellman error embedding.

    With tau = 0 the policy gets no gradient, and stays as it began: the paper's sweep has that setting too.
    """

    rho: Literal["step", "entropy"] = "step"
    """What rho estimates: the Bellman step alone, or with the entropy's term, as Dai et al. have it."""

    def __post_init__(self) -> None:
        check_choices(self)

    def start(self, spec: Spec, key: PRNGKeyArray) -> ActorCritic:
        return self.networks(spec, key, second=spec.actions)

    def outputs(self, params: ActorCritic, target: ActorCritic | None, s: Array, s_next: Array) -> Outputs:
        out, value_next = now_and_next(params.critic, None if target is None else target.critic, s, s_next)
        return Outputs(out[0], value_next[0], out[1:], jax.nn.log_softmax(params.policy(s), axis=0))

    def errors(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Errors:
        """Delta, and rho's estimate of it: rho less the value that rho is compared with in its own loss."""
        taken = jax.nn.one_hot(t.action, out.rho.shape[0])
        entropy, rho = hypers.tau * (taken * out.log_policy).sum(), (taken * out.rho).sum()
        delta = t.reward + t.discount * out.value_next - entropy - out.value
        return Errors(delta, rho - out.value - (0.0 if self.rho == "entropy" else entropy))

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        taken = jax.nn.one_hot(t.action, out.rho.shape[0])
        entropy, rho = hypers.tau * (taken * out.log_policy).sum(), (taken * out.rho).sum()
        whole = self.rho == "entropy"
        d = _saddle(t, entropy + out.value, out.value_next, entropy + rho if whole else rho, hypers.eta)
        policy = d.value - hypers.eta * d.rho if whole else d.value
        return Outputs(d.value, d.value_next, d.rho * taken, hypers.tau * policy * taken)

    def penalized(self, params: ActorCritic) -> ActorCritic:
        return marked(params)


class OutputsQ(NamedTuple):
    q: Float[Array, " A ..."]
    q_next: Float[Array, " A ..."]
    rho: Float[Array, " A ..."]


@dataclass(frozen=True)
class SBEEDQ(ByValue):
    def start(self, spec: Spec, key: PRNGKeyArray) -> Valued:
        return Valued(spec.network(spec.actions, key, detached=spec.actions))

    def outputs(self, params: Valued, target: Valued | None, s: Array, s_next: Array) -> OutputsQ:
        out, q_next = now_and_next(params.q, None if target is None else target.q, s, s_next)
        return OutputsQ(out[: params.q.live], q_next, out[params.q.live :])

    def errors(self, out: OutputsQ, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Errors:
        taken = jax.nn.one_hot(t.action, out.q.shape[0])
        value = (taken * out.q).sum()
        return Errors(t.reward + t.discount * greedy(out.q_next).value - value, (taken * out.rho).sum() - value)

    def directions(self, out: OutputsQ, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> OutputsQ:
        taken = jax.nn.one_hot(t.action, out.q.shape[0])
        best = greedy(out.q_next)
        d = _saddle(t, (taken * out.q).sum(), best.value, (taken * out.rho).sum(), hypers.eta)
        return OutputsQ(d.value * taken, d.value_next * best.weights, d.rho * taken)

    def penalized(self, params: Valued) -> Valued:
        return marked(params)


class _Saddle(NamedTuple):
    value: Array
    value_next: Array
    rho: Array


def _saddle(t: Sampled, value: Array, value_next: Array, rho: Array, eta: Array) -> _Saddle:
    """How the value of (S, A), that of S' and rho(S, A) should change: minus the objective's gradient, halved."""
    backup = t.reward + t.discount * value_next
    delta, surprise = backup - value, backup - rho
    return _Saddle(delta, -t.discount * (delta - eta * surprise), surprise)
