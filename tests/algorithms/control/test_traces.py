"""Updates with traces against float64 arithmetic by hand, over episodes that end, are cut off, and are not greedy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe.algorithms.control import ALGORITHMS, Hypers, Spec
from gpbe.algorithms.control.traces import TracedValues
from gpbe.algorithms.linear.traces import Trace, advance
from gpbe.algorithms.linear.updates import Step, gradient_correction, saddlepoint
from gpbe.learn.control import loop as control
from gpbe.learn.control import streaming
from gpbe.learn.control.learning import Learning
from helpers.hand_traces import ALPHA, BETA, CASES, ENDS, GAMMA, HYPERS, A, I, T, backward, learned, made, rows, stream
from helpers.samples import few

TRACED = {name for name, a in ALGORITHMS.items() if isinstance(a.make(), TracedValues)}
assert {name.split(",")[0] for name in CASES} == TRACED


@pytest.mark.parametrize("name", few(CASES, ("qrc-lambda", "gq-lambda, gradients", "stream-q")))
def test_steps_are_the_equations_by_hand_through_ends_cutoffs_and_exploration(name):
    agent, hypers = made(name)
    got, w = learned(agent, stream(), hypers)
    want = backward(w, stream(), **CASES[name], alpha=hypers.step_size)
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
    assert np.abs(want - w).max() > 0.01


def long_stream(steps=1000, seed=2):
    """One episode of reward -1 that a time limit cuts off, as Mountain Car's, with an action in twenty explored."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(steps + 1, I)).cumsum(0) / np.sqrt(np.arange(1, steps + 2))[:, None]
    done = np.arange(steps) == steps - 1
    return {
        "s": s[:-1],
        "s2": s[1:],
        "a": rng.integers(0, A, steps),
        "r": np.full(steps, -1.0),
        "g": np.full(steps, GAMMA),
        "done": done,
        "greedy": rng.random(steps) > 0.05,
    }


def test_a_long_episode_of_negative_rewards_stays_with_the_equations():
    """A thousand steps down to where q lies near -1 / (1 - gamma): rounding does not add up in traces."""
    agent, hypers = made("qrc-lambda")
    x = long_stream()
    got, w = learned(agent, x, hypers._replace(step_size=0.002))
    want = backward(w, x, alpha=0.002)
    assert np.abs(want - w).max() > 0.3
    np.testing.assert_allclose(got, want, atol=2e-4)


def linear_directions(x, w, h, lam, update):
    """Of linear TDRC(lambda) or GTD2(lambda) with beta = 0, from the room of linear prediction, on (S, 1)."""
    trace, gamma, one = Trace(np.zeros(I + 1), 0.0, 1.0), 0.0, np.ones(1)
    for s, _, r, g, s2 in rows(x):
        features, after = np.concatenate([s, one]), np.concatenate([s2, one])
        trace, emphasis = advance(trace, features, gamma, 1.0, lam, "none")
        yield update(Step(features, after, r, g, 1.0, lam, trace.e, emphasis), w, h)
        gamma = g


@pytest.mark.parametrize(
    ("name", "update", "beta"),
    [
        ("qc-lambda", gradient_correction, 0.0),
        ("qrc-lambda", gradient_correction, BETA),
        ("gq-lambda", saddlepoint, 0.0),
    ],
)
@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_on_linear_features_with_one_action_it_is_linear_prediction(name, update, beta, lam):
    """With one action the policy is fixed. The two samples of the correction differ step by step; their sums do not.

    sum_k h_k x_k + z_k (gamma x_{k+1} - x_k) = sum_k gamma (1 - lam) z_k x_{k+1} within an episode, as z_k - h_k is
    gamma lam z_{k-1}. QRC(lambda) is TDRC(lambda): h shrinks by beta times itself in each step besides.
    """
    x = stream(actions=1) | {"done": np.isin(np.arange(T), (*ENDS, T - 1)), "greedy": np.full(T, True)}
    x["s2"] = np.where(x["done"][:, None], x["s2"], np.roll(x["s"], -1, axis=0))
    x["g"] = GAMMA * ~x["done"]
    w, h = np.random.default_rng(1).normal(size=(2, I + 1))
    weights = np.concatenate([w[:I], h[:I], w[I:], h[I:]])
    hypers = HYPERS._replace(beta=beta, ratio=1.0, step_size=1.0, lam=lam)
    got, _ = learned(ALGORITHMS[name].make(), x, hypers, weights, frozen=True, actions=1, hidden=())
    got_w, got_h = (np.concatenate([got[k * I : (k + 1) * I], got[2 * I + k :][:1]]) for k in (0, 1))
    steps = list(linear_directions(x, w, h, lam, update))
    np.testing.assert_allclose(got_w, sum(on_w for on_w, _ in steps), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got_h, sum(on_h - beta * h for _, on_h in steps), rtol=1e-4, atol=1e-4)


def test_without_lambda_it_is_linear_tdrc_step_by_step():
    """Weights that move at every step, through ends of episodes: the same to rounding."""
    x = stream(actions=1)
    w, h = np.random.default_rng(1).normal(size=(2, I + 1))
    weights = np.concatenate([w[:I], h[:I], w[I:], h[I:]])
    hypers = HYPERS._replace(ratio=1.0, lam=0.0)
    got, _ = learned(ALGORITHMS["qrc-lambda"].make(), x, hypers, weights, actions=1, hidden=())
    for k in range(T):
        one = {name: values[k : k + 1] for name, values in x.items()}
        on_w, on_h = next(linear_directions(one, w, h, 0.0, gradient_correction))
        w, h = w + ALPHA * on_w, h + ALPHA * (on_h - BETA * h)
    np.testing.assert_allclose(got, np.concatenate([w[:I], h[:I], w[I:], h[I:]]), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_without_lambda_it_is_qrc_with_a_buffer_of_one():
    """The whole of learning in an environment, explored as much: the same weights to rounding."""
    common = {"steps": 60, "runs": 3, "hidden": (5,), "step_size": 0.01, "every": 20, "optimizer": "sgd"}
    streamed = gpbe.train("CartPole-v1", "qrc-lambda", lam=0.0, **common)
    replayed = gpbe.train("CartPole-v1", "qrc", batch=1, buffer=1, **common)
    fresh = gpbe.train("CartPole-v1", "qrc", batch=1, buffer=1, **common | {"step_size": 1e-30})
    assert np.abs(streamed.weights - fresh.weights).max() > 0.05
    np.testing.assert_allclose(streamed.weights, replayed.weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("time_limit", "discount"), [("bootstrap", GAMMA), ("end", 0.0)])
def test_a_time_limit_is_bootstrapped_or_taken_for_an_end(time_limit, discount):
    agent = ALGORITHMS["q-lambda"].varied(time_limit=time_limit).make()
    spec = Spec((I,), A, (), None)
    options = control.Options(agent, spec, Learning(optimizer="sgd", replay=False), hard=True)
    w = np.random.default_rng(3).normal(size=A * (I + 1))
    run = control.start(options, jnp.zeros(I), jnp.asarray(w, jnp.float32), jax.random.key(0))
    x, numbers = stream(), Hypers(*(jnp.float32(y) for y in HYPERS))
    s, s2 = x["s"][0], x["s2"][0]
    outcome = control.Outcome(jnp.asarray(s2, jnp.float32), jnp.float32(0.5), jnp.bool(False), jnp.bool(True))
    action = control.Action(jnp.int32(2), 1.0, jnp.bool(True), jnp.bool(True))
    shape = control.shape_of(agent, spec)
    new, _, traces = streaming.learn(options, shape, numbers, jnp.asarray(s, jnp.float32), action, outcome, run)
    table = w[: A * I].reshape(A, I)
    q, q2 = table @ s + w[A * I :], table @ s2 + w[A * I :]
    delta = 0.5 + discount * q2.max() - q[2]
    np.testing.assert_allclose((np.asarray(new) - w)[A * I + 2], ALPHA * delta, rtol=1e-4)
    assert traces.lasting == 0


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"bounded": True}, "bounded steps are for the form 'none'; the form is 'correction'"),
        ({"curvature": True}, "the term of the curvature has no traces here"),
    ],
)
def test_what_has_no_meaning_is_refused(axes, message):
    with pytest.raises(gpbe.InputError, match=message):
        ALGORITHMS["qrc-lambda"].varied(**axes).make()
