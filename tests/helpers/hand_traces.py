"""Traces by hand, in float64: a stream of transitions, what it does to the weights, and the program that does it."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.control import ALGORITHMS, Hypers, Spec, Streamed
from gpbe.learn.control import loop as control
from gpbe.learn.control import streaming
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
    for k in reversed(range(len(x["a"]))):
        s, a, *_ = row = rows(x)[k]
        delta, grad_q, grad_delta = now.errors(*row)
        goes_on = not x["done"][k] and k + 1 < len(x["a"]) and x["greedy"][k + 1]
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
        for k in range(len(x["a"])):
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


def made(name):
    record = ALGORITHMS[name.split(",")[0]]
    agent = record.varied(**{k: v for k, v in CASES[name].items() if k in ("basis", "cut")}).make()
    step_size = 1.0 if name == "stream-q" else ALPHA
    return agent, HYPERS._replace(**record.fixed | {"step_size": step_size})
