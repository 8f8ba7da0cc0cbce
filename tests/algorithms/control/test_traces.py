"""Updates with traces against float64 arithmetic by hand, over episodes that end, are cut off, and are not greedy."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe.algorithms.control import ALGORITHMS, Hypers, Spec, Streamed
from gpbe.algorithms.control.traces import TracedValues
from gpbe.algorithms.linear.traces import Trace, advance
from gpbe.algorithms.linear.updates import Step, gradient_correction, saddlepoint
from gpbe.learn.control import loop as control
from gpbe.learn.control import streaming
from gpbe.learn.control.chances import draw_picks
from gpbe.learn.control.learning import Learning
from gpbe.nets import flat
from helpers.hand_network import Net, one_hot

T, I, F, A = 17, 3, 7, 5
ENDS, CUT_OFF, EXPLORED = (6,), (11,), (3, 9, 14)
GAMMA, LAM, BETA, ALPHA, RATIO, KAPPA = 0.9, 0.7, 0.5, 0.02, 0.3, 2.0
HYPERS = Hypers(ALPHA, BETA, 0.0, 1.0, 1.0, 0.1, 0.1, 0.0, GAMMA, np.inf, LAM, RATIO, KAPPA)
SIZE = F * I + F + A * F + A
"""Weights of q where h is no head of its network."""


def stream(seed=4, actions=A):
    """Transitions of three episodes; S' is the next S but where an episode is over."""
    rng = np.random.default_rng(seed)
    s, after = rng.normal(size=(T + 1, I)), rng.normal(size=(T, I))
    done = np.isin(np.arange(T), (*ENDS, *CUT_OFF))
    return {
        "s": s[:-1],
        "s2": np.where(done[:, None], after, s[1:]),
        "a": rng.integers(0, actions, T),
        "r": rng.normal(size=T),
        "g": GAMMA * ~np.isin(np.arange(T), ENDS),
        "done": done,
        "greedy": ~np.isin(np.arange(T), EXPLORED),
    }


class ByHand:
    """q and h at weights w, and their gradients as vectors of all weights."""

    def __init__(self, w, form, basis):
        self.w, self.head, self.basis = w, basis == "head" and form != "none", basis
        self.net = Net(w, I, F, 2 * A, A) if self.head else Net(w[:SIZE], I, F, A)

    def q(self, s):
        return self.net.out(s)[:A]

    def grad_q(self, s, c):
        own = self.net.grad(s, np.concatenate([c, np.zeros(len(self.net.bo) - A)]))
        return np.concatenate([own, np.zeros(len(self.w) - len(own))])

    def h(self, s, a):
        if self.head:
            return self.net.out(s)[A + a], self.net.grad(s, one_hot(A + a, 2 * A))
        if self.basis == "network":
            own = Net(self.w[SIZE:], I, F, A)
            return own.out(s)[a], np.concatenate([np.zeros(SIZE), own.grad(s, one_hot(a, A))])
        features = self.grad_q(s, one_hot(a, A))[:SIZE]
        return self.w[SIZE:] @ features, np.concatenate([np.zeros(SIZE), features])

    def errors(self, s, a, r, g, s2):
        """delta, grad q(S, A) and grad delta."""
        q2, grad_q = self.q(s2), self.grad_q(s, one_hot(a, A))
        return r + g * q2.max() - self.q(s)[a], grad_q, g * self.grad_q(s2, one_hot(q2.argmax(), A)) - grad_q

    @property
    def theta(self):
        """1 for the weights of h."""
        mask = np.arange(len(self.w)) >= SIZE
        if self.head:
            rows = F * I + F
            mask[:] = False
            mask[rows + A * F : rows + 2 * A * F] = mask[-A:] = True
        return mask


def rows(x):
    return list(zip(x["s"], x["a"], x["r"], x["g"], x["s2"], strict=True))


def backward(w, x, form="correction", basis="head", cut="before", bounded=False, beta=BETA, alpha=ALPHA):
    """The weights after all transitions, with a trace for each of w, theta and h."""
    w = w.copy()
    z_w, z_theta, z_h = 0 * w, 0 * w, 0.0
    for k, (s, a, r, g, s2) in enumerate(rows(x)):
        now = ByHand(w, form, basis)
        delta, grad_q, grad_delta = now.errors(s, a, r, g, s2)
        decay = GAMMA * LAM * (x["greedy"][k] or cut != "before")
        z_w, step = decay * z_w + grad_q, alpha
        if form == "none":
            direction = delta * z_w
            if bounded:
                step = alpha / max(1, alpha * KAPPA * max(abs(delta), 1) * np.abs(z_w).sum())
        else:
            h, grad_h = now.h(s, a)
            z_theta, z_h = decay * z_theta + grad_h, decay * z_h + h
            on_w = -z_h * grad_delta if form == "saddlepoint" else delta * z_w - h * grad_q - z_h * grad_delta
            direction = on_w + RATIO * (delta * z_theta - h * grad_h - beta * now.theta * w)
        w += step * direction
        if x["done"][k] or (cut == "after" and not x["greedy"][k]):
            z_w, z_theta, z_h = 0 * z_w, 0 * z_theta, 0.0
    return w


def forward(w, x, form="correction", basis="head"):
    """The sum over all transitions of what their lambda-returns say, with the weights as they are and beta = 0.

    delta^lam_t and its gradient look ahead to the end of the episode, or to the first action that is not greedy.
    """
    now, total = ByHand(w, form, basis), 0 * w
    ahead, grad_ahead = 0.0, 0 * w
    for k in reversed(range(T)):
        s, a, *_ = row = rows(x)[k]
        delta, grad_q, grad_delta = now.errors(*row)
        goes_on = not x["done"][k] and k + 1 < T and x["greedy"][k + 1]
        ahead = delta + GAMMA * LAM * goes_on * ahead
        grad_ahead = grad_delta + GAMMA * LAM * goes_on * grad_ahead
        if form == "none":
            total += ahead * grad_q
            continue
        h, grad_h = now.h(s, a)
        on_w = -h * grad_ahead if form == "saddlepoint" else ahead * grad_q - h * (grad_ahead + grad_q)
        total += on_w + RATIO * (ahead - h) * grad_h
    return total


@cache
def program(agent, inputs, actions, hidden):
    spec = Spec((inputs,), actions, hidden, None)
    weights, shape = flat(agent.start(spec, jax.random.key(1))), control.shape_of(agent, spec)
    options = control.Options(agent, spec, Learning(optimizer="sgd", replay=False), hard=True)
    fresh = control.start(options, jnp.zeros(inputs), weights, jax.random.key(0))

    @jax.jit
    def step(hypers, weights, traces, s, s2, a, r, g, greedy, done):
        run = fresh._replace(weights=weights, traces=traces)
        return streaming.update(options, shape, hypers, run, s[:, None], s2[:, None], Streamed(a, r, g, greedy), done)

    return step, fresh.traces, len(weights)


def learned(agent, x, hypers=HYPERS, w=None, frozen=False, inputs=I, actions=A, hidden=(F,)):
    """The same by the program, from random weights; and these."""
    step, traces, size = program(agent, inputs, actions, hidden)
    first = jnp.asarray(0.5 * np.random.default_rng(0).normal(size=size) if w is None else w, jnp.float32)
    numbers = Hypers(*(jnp.float32(y) for y in hypers))
    weights, total = first, np.zeros(size)
    with jax.numpy_rank_promotion("raise"):
        for k in range(T):
            row = [jnp.asarray(x[name][k], jnp.float32) for name in ("s", "s2")]
            rest = (jnp.int32(x["a"][k]), jnp.float32(x["r"][k]), jnp.float32(x["g"][k]))
            new, _, traces = step(
                numbers, weights, traces, *row, *rest, jnp.bool(x["greedy"][k]), jnp.bool(x["done"][k])
            )
            total += (np.asarray(new, float) - np.asarray(weights, float)) / hypers.step_size
            weights = weights if frozen else new
    return (total if frozen else np.asarray(weights, float)), np.asarray(first, float)


CASES = {
    "q-lambda": {"form": "none"},
    "stream-q": {"form": "none", "bounded": True},
    "qc-lambda": {"beta": 0.0},
    "qrc-lambda": {},
    "gq-lambda": {"form": "saddlepoint"},
    "qrc-lambda, a network of its own": {"basis": "network"},
    "qrc-lambda, gradients": {"basis": "gradient"},
    "gq-lambda, gradients": {"form": "saddlepoint", "basis": "gradient"},
    "qrc-lambda, cut after": {"cut": "after"},
    "q-lambda, never cut": {"form": "none", "cut": "never"},
}
TRACED = {name for name, a in ALGORITHMS.items() if isinstance(a.make(), TracedValues)}
assert {name.split(",")[0] for name in CASES} == TRACED


def made(name):
    record = ALGORITHMS[name.split(",")[0]]
    agent = record.varied(**{k: v for k, v in CASES[name].items() if k in ("basis", "cut")}).make()
    step_size = 1.0 if name == "stream-q" else ALPHA
    return agent, HYPERS._replace(**record.fixed | {"step_size": step_size})


@pytest.mark.parametrize("name", CASES)
def test_steps_are_the_equations_by_hand_through_ends_cutoffs_and_exploration(name):
    agent, hypers = made(name)
    got, w = learned(agent, stream(), hypers)
    want = backward(w, stream(), **CASES[name], alpha=hypers.step_size)
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
    assert np.abs(want - w).max() > 0.01


@pytest.mark.parametrize("name", ["q-lambda", "qc-lambda", "gq-lambda", "qrc-lambda, gradients"])
def test_forward_and_backward_views_agree_in_sum_with_frozen_weights(name):
    agent, hypers = made(name)
    got, w = learned(agent, stream(), hypers._replace(beta=0.0, step_size=1.0), frozen=True)
    axes = {k: v for k, v in CASES[name].items() if k in ("form", "basis")}
    want = forward(w, stream(), **axes)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)
    assert np.abs(want).max() > 5


def linear_directions(x, w, h, lam, update):
    """Of linear TDRC(lambda) or GTD2(lambda) with beta = 0, from the room of linear prediction, on (S, 1)."""
    trace, gamma, one = Trace(np.zeros(I + 1), 0.0, 1.0), 0.0, np.ones(1)
    for s, _, r, g, s2 in rows(x):
        features, after = np.concatenate([s, one]), np.concatenate([s2, one])
        trace, emphasis = advance(trace, features, gamma, 1.0, lam, "none")
        yield update(Step(features, after, r, g, 1.0, lam, trace.e, emphasis), w, h)
        gamma = g


@pytest.mark.parametrize(("name", "update"), [("qc-lambda", gradient_correction), ("gq-lambda", saddlepoint)])
@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_on_linear_features_with_one_action_it_is_linear_prediction(name, update, lam):
    """With one action the policy is fixed. The two samples of the correction differ step by step; their sums do not.

    sum_k h_k x_k + z_k (gamma x_{k+1} - x_k) = sum_k gamma (1 - lam) z_k x_{k+1} within an episode, as z_k - h_k is
    gamma lam z_{k-1}.
    """
    x = stream(actions=1) | {"done": np.isin(np.arange(T), (*ENDS, T - 1)), "greedy": np.full(T, True)}
    x["s2"] = np.where(x["done"][:, None], x["s2"], np.roll(x["s"], -1, axis=0))
    x["g"] = GAMMA * ~x["done"]
    w, h = np.random.default_rng(1).normal(size=(2, I + 1))
    weights = np.concatenate([w[:I], h[:I], w[I:], h[I:]])
    hypers = HYPERS._replace(beta=0.0, ratio=1.0, step_size=1.0, lam=lam)
    got, _ = learned(ALGORITHMS[name].make(), x, hypers, weights, frozen=True, actions=1, hidden=())
    got_w, got_h = (np.concatenate([got[k * I : (k + 1) * I], got[2 * I + k :][:1]]) for k in (0, 1))
    steps = list(linear_directions(x, w, h, lam, update))
    np.testing.assert_allclose(got_w, sum(on_w for on_w, _ in steps), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got_h, sum(on_h for _, on_h in steps), rtol=1e-4, atol=1e-4)


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


@pytest.mark.parametrize("name", ["q-lambda", "qrc-lambda", "gq-lambda", "qrc-lambda, gradients"])
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
    axes = {k: v for k, v in CASES[name].items() if k in ("form", "basis")}
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
