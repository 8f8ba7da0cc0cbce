"""What a network learns from: transitions with ratios and, where a model allows, second samples."""

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from gpbe.algorithms.linear import Algorithm
from gpbe.algorithms.linear.expected import check_sensible
from gpbe.algorithms.nonlinear import NonlinearAlgorithm
from gpbe.algorithms.nonlinear.step import Batch, Second
from gpbe.algorithms.nonlinear.updates import Window
from gpbe.checks import as_floats, check_interval
from gpbe.errors import InputError
from gpbe.learn.linear.recorded import recorded, with_ends
from gpbe.learn.linear.streams import simulated
from gpbe.learn.linear.tracking import Stream
from gpbe.mdp import Log, PredictionProblem
from gpbe.mdp.simulate import uniforms_of
from gpbe.shapes import Array, Numbers

Length = int | Literal["episode"]
"""Transitions in a return: so many, or all to the end of the episode."""


class Drawn(NamedTuple):
    """An independent transition from each state, for double sampling."""

    next: Int[jax.Array, " T"]
    reward: Float[jax.Array, " T"]
    discount: Float[jax.Array, " T"]
    rho: Float[jax.Array, " T"]


class Data(NamedTuple):
    """Transitions of one run; of several with an axis of runs in front in all but the tables."""

    observations: Float[jax.Array, "I N"]
    """A column for each state (or for each end of a recorded transition)."""
    phi: Float[jax.Array, "M N"] | None
    """Given features of H."""
    now: Int[jax.Array, " T"]
    next: Int[jax.Array, " T"]
    reward: Float[jax.Array, " T"]
    discount: Float[jax.Array, " T"]
    rho: Float[jax.Array, " T"]
    lam: Float[jax.Array, " T"]
    """Multiplies the setting's trace parameter on arrival in `next`; 0 where no return can go on from there."""
    follows: Bool[jax.Array, " T"]
    """Does the next transition begin where this one ended, within an episode?"""
    second: Drawn | None
    """Second transitions, where the algorithm needs them."""


AXES: Any = Data(None, None, 0, 0, 0, 0, 0, 0, 0, 0)  # pyright: ignore
"""Which fields have an axis of runs."""


class Windows(NamedTuple):
    """Transitions, and what windows of them there are to learn from."""

    data: Data
    n: int
    """Transitions in the longest window."""
    updates: int
    """How many windows: one begins with each of the first `updates` transitions."""


def read_data(
    problem: PredictionProblem | Log,
    a: NonlinearAlgorithm,
    n: Length,
    steps: int | None,
    runs: int,
    seed: int,
    state_lam: Numbers | None,
    phi: Array | None,
) -> Windows:
    """Transitions of a problem's behavior, or of a log. Those of a run depend on problem, seed and its number only.

    A return ends after n transitions, at the end of its episode or where the data end, whichever comes first. A problem
    is simulated for n - 1 transitions more than there are windows, so that with a number for n no return lacks any.
    """
    if isinstance(problem, Log):
        log = problem if steps is None else problem.first(steps)
        stream, follows = _recorded(problem, log, a, runs, state_lam), log.continues[None]
        count, second = len(log), None
    else:
        if problem.features.ndim > 2:
            raise InputError(f"features have leading axes {problem.features.shape[:-2]}; networks take one set for all")
        check_sensible(problem, Algorithm(prior=a.prior))
        count = 1000 if steps is None else steps
        more = 0 if n == "episode" or count < 1 else n - 1
        stream = simulated(problem, count + more, runs, seed, state_lam)
        follows = np.asarray(stream.discount) > 0
        follows[:, -1] = False
        second = second_sample(problem, stream, seed) if a.h == "second" else None
    if n == "episode":
        if follows[:, :-1].all():
            raise InputError("no episode ended in these data, so no return has an end; give n as a number")
        n = longest(follows)
    elif isinstance(problem, Log):
        n = min(n, longest(follows))  # longer windows would hold nothing more
    data = Data(
        observations=stream.features.T,
        phi=None if phi is None else jnp.asarray(phi.T, jnp.float32),
        now=stream.now,
        next=stream.next,
        reward=stream.reward,
        discount=stream.discount,
        rho=stream.target / stream.behavior,
        lam=stream.lam[stream.next] * follows,
        follows=jnp.asarray(follows),
        second=second,
    )
    return Windows(data, n, count)


def _recorded(whole: Log, log: Log, a: NonlinearAlgorithm, runs: int, state_lam: Numbers | None) -> Stream:
    """The rows of `log`, the first ones of the whole."""
    if runs != 1:
        raise InputError("a log is one run; leave runs out")
    if a.h == "second":
        raise InputError("double sampling needs a model to draw second transitions from, which a log does not have")
    if a.prior == "alternative-life" and log.continues[:-1].all():
        raise InputError("alternative-life methods need episodes, and no row of this log ends one; use an emphatic one")
    stream = with_ends(recorded(log))
    if state_lam is None:
        return stream
    lam = as_floats(state_lam, "state_lam")
    if lam.shape != (len(whole),):
        raise InputError(f"state_lam has shape {lam.shape}; for a log it should be one number for each of its rows")
    check_interval(lam, "state_lam", ("row",))
    arrival = jnp.asarray(lam[: len(log)], jnp.float32)
    return stream._replace(lam=jnp.concatenate([jnp.ones_like(arrival), arrival]))


def longest(follows: Array) -> int:
    """Transitions in the longest unbroken piece of any run."""
    ends = [np.flatnonzero(~run) for run in follows]
    return max(int(np.diff(end, prepend=-1).max()) for end in ends)


def second_sample(problem: PredictionProblem, stream: Stream, seed: int) -> Drawn:
    """An independent transition from the same state for each one, by the behavior and the model."""
    m = problem.mdp.dense("double sampling")
    now = np.asarray(stream.now)
    joint = (problem.behavior[..., None] * m.probability).reshape(m.n_states, -1).cumsum(-1)
    joint /= joint[:, -1:]
    uniforms = uniforms_of(seed, *now.shape, 1)
    outcome = np.empty(now.shape, dtype=np.int64)
    for s in range(m.n_states):
        here = now == s
        outcome[here] = np.searchsorted(joint[s], uniforms[here], side="right")
    action, after = np.divmod(outcome, m.n_states)
    return Drawn(
        next=jnp.asarray(after, jnp.int32),
        reward=jnp.asarray(m.reward[now, action, after], jnp.float32),
        discount=jnp.asarray(m.discount[now, action, after], jnp.float32),
        rho=jnp.asarray(problem.ratios[now, action], jnp.float32),
    )


def take(
    data: Data, at: Int[jax.Array, " B"], n: int, lam: Float[jax.Array, " T"], weight: Float[jax.Array, " T"]
) -> Batch:
    """The windows of n transitions that begin at the positions `at` of one run.

    `lam` and `weight` are of each transition. What a window holds after a transition that nothing follows does not
    count, so it may be anything, such as the last one again.
    """
    span = jnp.minimum(at[None, :] + jnp.arange(n)[:, None], data.now.shape[0] - 1)
    states = jnp.concatenate([data.now[at][None], data.next[span]])
    window = Window(data.reward[span], data.discount[span], data.rho[span], lam[span], weight[at])
    drawn, second = data.second, None
    if drawn is not None:
        second = Second(data.observations[:, drawn.next[at]], drawn.reward[at], drawn.discount[at], drawn.rho[at])
    phi = None if data.phi is None else data.phi[:, states[0]]
    return Batch(data.observations[:, states], window, phi, second)
