"""Two views of traces: backward, one transition at a time, and forward, by lambda-returns over stretches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe.algorithms.control import Hypers, Spec
from gpbe.learn.control import loop as control
from gpbe.learn.control.chances import draw_picks
from gpbe.learn.control.learning import Learning
from helpers.hand_traces import BETA, CASES, RATIO, A, ByHand, F, I, T, forward, learned, made, stream
from helpers.samples import few


def axes_of(name):
    return {k: v for k, v in CASES[name].items() if k in ("form", "basis")}


FORMS = ("q-lambda", "qc-lambda", "qrc-lambda", "gq-lambda", "qrc-lambda, gradients")


@pytest.mark.parametrize("name", few(FORMS, ("qc-lambda", "gq-lambda")))
def test_forward_and_backward_views_agree_in_sum_with_frozen_weights(name):
    agent, hypers = made(name)
    got, w = learned(agent, stream(), hypers._replace(beta=0.0, step_size=1.0), frozen=True)
    want = forward(w, stream(), **axes_of(name))
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)
    assert np.abs(want).max() > 5


@pytest.mark.parametrize("name", ["q-lambda", "qc-lambda", "gq-lambda"])
def test_views_agree_in_the_limit_of_small_steps(name):
    """Weights that move while a stream goes on make the views differ, in proportion to the step size."""
    agent, hypers = made(name)
    apart = []
    for alpha in (0.004, 0.002, 0.001):
        got, w = learned(agent, stream(), hypers._replace(beta=0.0, step_size=alpha))
        apart.append(np.linalg.norm((got - w) / alpha - forward(w, stream(), **axes_of(name))))
    np.testing.assert_allclose([apart[0] / apart[1], apart[1] / apart[2]], 2, rtol=0.15)


@pytest.mark.parametrize("name", few([form for form in FORMS if form != "qc-lambda"], ("qrc-lambda",)))
def test_a_replayed_stretch_is_the_forward_view(name):
    """The stream twice over as two stretches of a mini-batch: the mean of what lambda-returns say, and the penalty."""
    agent, hypers = made(name)
    spec = Spec((I,), A, (F,), None)
    options = control.Options(agent, spec, Learning(2 * T, 100, 10, "sgd", length=T), hard=True)
    shape, x = control.shape_of(agent, spec), stream()
    w = jnp.asarray(0.5 * np.random.default_rng(0).normal(size=shape.size), jnp.float32)
    run = control.start(options, jnp.zeros(I), w, jax.random.key(0))
    names = ("s", "s2", "a", "r", "g", "r", "greedy", "done")
    batch = jnp.asarray(np.tile(np.column_stack([x[k] for k in names]), (2, 1)), jnp.float32)
    numbers = Hypers(*(jnp.float32(y) for y in hypers._replace(step_size=1.0)))
    new, _, _ = jax.jit(lambda: control.update(options, shape, numbers, run, batch, jnp.int32(0)))()
    axes = axes_of(name)
    w = np.asarray(w, float)
    want = forward(w, x, **axes) / T
    if axes.get("form") != "none":
        want -= RATIO * BETA * ByHand(w, axes.get("form", "correction"), axes.get("basis", "head")).theta * w
    np.testing.assert_allclose(np.asarray(new) - w, want, rtol=1e-3, atol=1e-4)


def test_stretches_of_a_buffer_follow_time():
    """Rows of a ring of 7: whatever is drawn, the stored times of a stretch are consecutive and none is overwritten."""
    learning, times = Learning(batch=6, buffer=7, length=3), jnp.arange(5, 30)
    rows = np.asarray(draw_picks(learning, times, jax.random.key(0))).reshape(25, 2, 3)
    for time, stretches in zip(np.asarray(times), rows, strict=True):
        stored = {k % 7: k for k in range(time + 1)}
        for stretch in stretches:
            at = [stored[row] for row in stretch.tolist()]
            assert np.diff(at).tolist() == [1, 1]
            assert at[0] > time - 7
        assert stretches[0, 0] != stretches[1, 0]
