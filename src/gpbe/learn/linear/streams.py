"""Transitions of a simulated problem, as learning takes them."""

import jax.numpy as jnp
import numpy as np

from gpbe import linalg
from gpbe.algorithms.linear.bootstrapping import scales
from gpbe.checks import LARGEST_LEARNED, as_floats, check_interval, check_magnitude
from gpbe.errors import InputError
from gpbe.learn.linear.tracking import Stream
from gpbe.mdp import PredictionProblem, Trajectories, simulate
from gpbe.shapes import Array, Numbers, Sparse


def simulated(problem: PredictionProblem, steps: int, runs: int, seed: int, state_lam: Numbers | None = None) -> Stream:
    """Runs of the behavior. The data of a run depend on problem, seed and its number only: algorithms can be paired."""
    m = problem.mdp
    if problem.features.ndim > 2 and problem.features.shape[:-2] != (runs,):
        raise InputError(
            f"features have leading axes {problem.features.shape[:-2]}; there should be none, or one of {runs} runs"
        )
    if m.batch_shape or problem.target.ndim > 2 or problem.behavior.ndim > 2:
        raise InputError(f"predict takes one problem; this is a batch with axes {problem.batch_shape}: use problem[i]")
    check_learnable(problem.features, m.layout.reward)
    data = simulate(m, problem.behavior, steps, runs, seed)
    discount = jnp.asarray(data.discount, jnp.float32)
    lam = np.ones(m.n_states) if state_lam is None else as_floats(state_lam, "state_lam")
    if lam.shape != (m.n_states,):
        raise InputError(f"state_lam has shape {lam.shape}; it should be one number for each of {m.n_states} states")
    check_interval(lam, "state_lam", ("state",))
    visited, (now, after) = table_rows(problem, data)
    return Stream(
        features=jnp.asarray(features_of(problem, visited), jnp.float32),
        lam=jnp.asarray(lam[visited], jnp.float32),
        now=jnp.asarray(now, jnp.int32),
        next=jnp.asarray(after, jnp.int32),
        reward=jnp.asarray(data.reward, jnp.float32),
        discount=discount,
        carried=discount,
        target=jnp.asarray(problem.target[data.state, data.action], jnp.float32),
        behavior=jnp.asarray(problem.behavior[data.state, data.action], jnp.float32),
        psi=jnp.asarray(scales(problem.target, problem.behavior), jnp.float32),
    )


def check_learnable(features: Array | Sparse, reward: Array) -> None:
    """Learning computes in 32 bits: the errors of larger numbers would be infinite from the start."""
    check_magnitude(features, "features", LARGEST_LEARNED)
    check_magnitude(reward, "reward", LARGEST_LEARNED)


def table_rows(problem: PredictionProblem, data: Trajectories) -> tuple[Array | slice, tuple[Array, Array]]:
    """The states whose features learning needs, all or of a sparse problem those visited, and where data find them."""
    both = (data.state, data.next_state)
    if not problem.mdp.is_sparse:
        return slice(None), both
    visited, rows = np.unique(np.stack(both), return_inverse=True)
    now, after = rows.reshape(2, *data.state.shape)
    size = min(problem.mdp.n_states, 1 << (len(visited) - 1).bit_length())  # few sizes, so few programs to compile
    return np.append(visited, np.zeros(size - len(visited), visited.dtype)), (now, after)


def features_of(problem: PredictionProblem, states: Array | slice) -> Array:
    """The features of some states as an array; of a problem with leading axes those of all."""
    x = problem.features
    return x[..., states, :] if linalg.is_dense(x) else linalg.as_matrix(x[states])
