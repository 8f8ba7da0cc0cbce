"""Where transitions come from: a simulated problem, or a log that somebody recorded."""

import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.linear.bootstrapping import scales
from gpbe.checks import LARGEST_LEARNED, as_floats, check_interval, check_magnitude
from gpbe.errors import InputError
from gpbe.learn.linear.tracking import Stream
from gpbe.mdp import Log, PredictionProblem, simulate
from gpbe.shapes import Numbers


def simulated(problem: PredictionProblem, steps: int, runs: int, seed: int, state_lam: Numbers | None = None) -> Stream:
    """Runs of the behavior. The data of a run depend on problem, seed and its number only: algorithms can be paired."""
    m = problem.mdp
    if problem.features.ndim > 2 and problem.features.shape[:-2] != (runs,):
        raise InputError(
            f"features have leading axes {problem.features.shape[:-2]}; there should be none, or one of {runs} runs"
        )
    if problem.target.ndim > 2 or problem.behavior.ndim > 2 or m.reward.ndim > 3 or m.discount.ndim > 3:
        raise InputError(f"predict takes one problem; this is a batch with axes {problem.batch_shape}: use problem[i]")
    check_learnable(problem.features, m.reward)
    data = simulate(m, problem.behavior, steps, runs, seed)
    discount = jnp.asarray(data.discount, jnp.float32)
    lam = np.ones(m.n_states) if state_lam is None else as_floats(state_lam, "state_lam")
    if lam.shape != (m.n_states,):
        raise InputError(f"state_lam has shape {lam.shape}; it should be one number for each of {m.n_states} states")
    check_interval(lam, "state_lam", ("state",))
    return Stream(
        features=jnp.asarray(problem.features, jnp.float32),
        lam=jnp.asarray(lam, jnp.float32),
        now=jnp.asarray(data.state, jnp.int32),
        next=jnp.asarray(data.next_state, jnp.int32),
        reward=jnp.asarray(data.reward, jnp.float32),
        discount=discount,
        carried=discount,
        target=jnp.asarray(problem.target[data.state, data.action], jnp.float32),
        behavior=jnp.asarray(problem.behavior[data.state, data.action], jnp.float32),
        psi=jnp.asarray(scales(problem.target, problem.behavior), jnp.float32),
    )


def check_learnable(features: np.ndarray, reward: np.ndarray) -> None:
    """Learning computes in 32 bits: the errors of larger numbers would be infinite from the start."""
    check_magnitude(features, "features", LARGEST_LEARNED)
    check_magnitude(reward, "reward", LARGEST_LEARNED)


def recorded(log: Log) -> Stream:
    """A log as one run. Where it breaks off, a return bootstraps from where the row led, and traces start anew."""
    t = len(log)
    check_learnable(np.concatenate([log.features, log.next_features]), log.reward)

    def one(values: np.ndarray) -> jnp.ndarray:
        return jnp.asarray(values[None], jnp.float32)

    return Stream(
        features=jnp.asarray(np.concatenate([log.features, log.next_features]), jnp.float32),
        lam=jnp.concatenate([jnp.ones(t), jnp.asarray(~log.breaks, jnp.float32)]),
        now=jnp.arange(t)[None],
        next=jnp.arange(t, 2 * t)[None],
        reward=one(log.reward),
        discount=one(log.discount),
        carried=one(np.where(log.breaks, 0.0, log.discount)),
        target=one(log.target),
        behavior=one(log.behavior),
        psi=jnp.asarray(scales(log.target, log.behavior), jnp.float32),
    )
