"""An algorithm from outside of the package: traces, step and optimizer of one's own through `gpbe.train`."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gpbe
from gpbe.algorithms.control import ControlAlgorithm, TracedValues


@dataclass(frozen=True)
class Leaky(TracedValues):
    """Q(lambda) whose traces are not cut off by exploring actions, but weakened."""

    leak: float = 0.5

    def fade(self, t, hypers):
        return hypers.gamma * hypers.lam * jnp.where(t.greedy, 1.0, self.leak)


def clipped():
    return optax.clip_by_global_norm(0.01)


MINE = ControlAlgorithm("leaky-q", Leaky, {"form": "none"}, usual={"step_size": 0.02})
COMMON = {"steps": 100, "runs": 2, "hidden": (5,), "every": 100, "epsilon": 0.5}


@pytest.fixture(scope="module")
def leaky():
    return gpbe.train("CartPole-v1", MINE, **COMMON)


@pytest.mark.slow
def test_ones_own_traces_lie_between_those_of_watkins_and_those_that_are_never_cut(leaky):
    """At its ends the leak is one of the table's choices, to the last bit; in between it is neither."""
    for leak, cut in ((0.0, "before"), (1.0, "never")):
        own = gpbe.train("CartPole-v1", MINE, leak=leak, **COMMON)
        theirs = gpbe.train("CartPole-v1", "q-lambda", cut=cut, step_size=0.02, **COMMON)
        np.testing.assert_allclose(own.weights, theirs.weights, rtol=1e-6)
        assert (leaky.weights != own.weights).any()


@pytest.mark.slow
def test_ones_own_optimizer_and_what_is_saved(leaky, tmp_path):
    """No step is longer than the clip allows, whatever the step size."""
    first = gpbe.train("CartPole-v1", MINE, step_size=1e-30, **COMMON)
    moved = gpbe.train("CartPole-v1", MINE, step_size=1.0, optimizer=clipped, **COMMON)
    length = np.linalg.norm(moved.weights - first.weights, axis=1)
    assert (length < 100 * 0.01 * 1.001).all()
    assert (length > 0.01).all()
    path = leaky.agent().save(tmp_path / "mine.npz")
    loaded = gpbe.load(path, algorithm=MINE)
    np.testing.assert_array_equal(loaded.preferences(np.ones(4)), leaky.agent().preferences(np.ones(4)))
    assert loaded.hyperparameters["step_size"] == 0.02
