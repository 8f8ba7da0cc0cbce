"""What a network learns from: transitions with ratios and weights and, where a model allows, second samples."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.linear import Algorithm, Trace, advance
from gpbe.algorithms.linear.expected import check_sensible
from gpbe.algorithms.linear.traces import Prior
from gpbe.algorithms.value import Batch, Second, ValueAlgorithm, Window
from gpbe.errors import InputError
from gpbe.learn.linear import Stream
from gpbe.learn.streams import recorded, simulated
from gpbe.mdp import Log, PredictionProblem
from gpbe.types import Array, Numbers


class Data(NamedTuple):
    """Of one run; with an axis of runs in front in all but the tables."""

    observations: Any
    """(I, N), a column for each state (or for each end of a recorded transition)."""
    phi: Any
    """Given features of H (M, N), or None."""
    state_lam: Any
    """(N,), multiplies lam on arrival."""
    now: Any
    next: Any
    reward: Any
    discount: Any
    rho: Any
    weight: Any
    second: Any
    """`Second` transitions with positions in place of observations, or None."""


AXES: Any = Data(None, None, None, 0, 0, 0, 0, 0, 0, 0)  # pyright: ignore


def read_data(
    problem: PredictionProblem | Log,
    a: ValueAlgorithm,
    n: int,
    steps: int | None,
    runs: int,
    seed: int,
    state_lam: Numbers | None,
    phi: Array | None,
) -> Data:
    """Transitions of a problem's behaviour, or of a log. They depend on problem and seed only."""
    if isinstance(problem, Log):
        if runs != 1 or state_lam is not None or n != 1:
            raise InputError("a log is one run of single transitions; leave runs, state_lam and n out")
        if a.h == "second":
            raise InputError("double sampling needs a model to draw second transitions from, which a log does not have")
        stream = recorded(problem if steps is None else problem.first(steps))
    else:
        if problem.features.ndim > 2:
            raise InputError(f"features have leading axes {problem.features.shape[:-2]}; networks take one set for all")
        check_sensible(problem, Algorithm(prior=a.prior))
        steps = 1000 if steps is None else steps
        stream = simulated(problem, steps + n - 1 if steps > 0 else steps, runs, seed, state_lam)
    second = (
        second_sample(problem, stream, seed) if isinstance(problem, PredictionProblem) and a.h == "second" else None
    )
    rho = stream.target / stream.behavior
    return Data(
        observations=stream.features.T,
        phi=None if phi is None else jnp.asarray(phi.T, jnp.float32),
        state_lam=stream.lam,
        now=stream.now,
        next=stream.next,
        reward=stream.reward,
        discount=stream.discount,
        rho=rho,
        weight=state_weights(a.prior, stream.discount, rho),
        second=second,
    )


@partial(jax.jit, static_argnums=0)
def state_weights(prior: Prior, discount: Any, rho: Any) -> Any:
    """M_t of each transition (runs, T): 1, the followon F = rho_- gamma F_- + 1, or the product of ratios.

    The followon is the emphasis of lam = 0: it makes the objective weight states by f = (I - P')^-1 d_b.
    """

    def forward(past: tuple[Trace, Any, Any], t: tuple[Any, Any]) -> tuple[tuple[Trace, Any, Any], Any]:
        trace, gamma, ratio = past
        trace, emphasis = advance(trace, jnp.zeros(()), gamma, ratio, 0.0, prior, None, jnp)
        return (trace, *t), emphasis

    zero = jnp.zeros(())

    def one(discount: Any, rho: Any) -> Any:
        return jax.lax.scan(forward, (Trace(zero, zero, zero), zero, zero), (discount, rho))[1]

    return jax.vmap(one)(discount, rho)


def second_sample(problem: PredictionProblem, stream: Stream, seed: int) -> Second:
    """For each transition an independent one from the same state, by the behaviour and the model."""
    m = problem.mdp
    now = np.asarray(stream.now)
    joint = (problem.behavior[..., None] * m.transition).reshape(m.n_states, -1).cumsum(-1)
    joint /= joint[:, -1:]
    uniforms = np.random.default_rng([seed, 1]).random(now.shape)
    outcome = np.empty(now.shape, dtype=np.int64)
    for s in range(m.n_states):
        here = now == s
        outcome[here] = np.searchsorted(joint[s], uniforms[here], side="right")
    action, after = np.divmod(outcome, m.n_states)
    return Second(
        x=jnp.asarray(after, jnp.int32),
        reward=jnp.asarray(m.reward[now, action, after], jnp.float32),
        discount=jnp.asarray(m.discount[now, action, after], jnp.float32),
        rho=jnp.asarray(problem.ratios[now, action], jnp.float32),
    )


def take(data: Data, at: Any, n: int, lam: Any) -> Batch:
    """Windows of n transitions that begin at the positions `at` (B,) of one run."""
    span = at[None, :] + jnp.arange(n)[:, None]
    states = jnp.concatenate([data.now[span], data.next[span[-1:]]])
    window = Window(
        data.reward[span], data.discount[span], data.rho[span], lam * data.state_lam[data.next[span]], data.weight[at]
    )
    second = data.second
    if second is not None:
        second = Second(data.observations[:, second.x[at]], second.reward[at], second.discount[at], second.rho[at])
    phi = None if data.phi is None else data.phi[:, states[0]]
    return Batch(data.observations[:, states], window, phi, second)
