"""Every control update against float64 arithmetic done by hand: one hidden layer, plain steps, unequal odd sizes."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe.algorithms.control import ALGORITHMS, Hypers, Spec, Tracing
from gpbe.learn.control import loop as control
from gpbe.learn.control.learning import Learning
from gpbe.nets import flat
from helpers.hand_network import Net, one_hot
from helpers.samples import few

B, I, F, A = 7, 3, 11, 5
GAMMA, TAU, BETA, ETA, NU, ALPHA, EPSILON = 0.9, 0.7, 0.5, 0.3, 0.25, 0.1, 0.2
HUBER = 0.4
HYPERS = Hypers(ALPHA, BETA, TAU, ETA, NU, EPSILON, EPSILON, 0.0, GAMMA, HUBER, lam=0.0, ratio=1.0, kappa=1.0)


def mellow(q):
    e = np.exp(q / TAU)
    return TAU * np.log(e.mean()), e / e.sum()


def expected(q):
    """Under the epsilon-greedy policy: a random action in one of five times, otherwise the best."""
    pi = np.full(A, 0.2 / A) + 0.8 * (q == q.max())
    return pi @ q, pi


def action_values(
    w, t, form="correction", basis="head", width=F, curvature=False, beta=BETA, greedy=mellow, huber=None
):
    """Mean direction for [w, theta] of the family of Q-learning, QRC and GQ."""
    size = F * I + F + A * F + A
    out = np.zeros(len(w))
    for s, a, r, g, s2 in zip(t["s"], t["a"], t["r"], t["g"], t["s2"], strict=True):
        q_net = Net(w, I, F, 2 * A, A) if basis == "head" and form != "none" else Net(w[:size], I, F, A)
        q, q2 = q_net.out(s)[:A], q_net.out(s2)[:A]
        m, soft = greedy(q2)
        delta = r + g * m - q[a]
        pad = np.zeros(len(w) - len(q_net.grad(s, q_net.out(s))))
        on_q = lambda x, c, net=q_net, pad=pad: np.concatenate(  # noqa: E731
            [net.grad(x, np.concatenate([c, np.zeros(len(net.bo) - A)])), pad]
        )
        grad_q, grad_m = on_q(s, one_hot(a, A)), on_q(s2, soft)
        if form == "none":
            out += delta * grad_q
            continue
        if basis == "head":
            h = q_net.out(s)[A + a]
            grad_h = q_net.grad(s, one_hot(A + a, 2 * A))  # live outputs only reach the body, so this is the head alone
        elif basis == "network":
            net = Net(w[size:], I, width, A)
            h = net.out(s)[a]
            grad_h = np.concatenate([np.zeros(size), net.grad(s, one_hot(a, A))])
        else:
            theta, feature = w[size:], grad_q[:size]
            h, grad_h = theta @ feature, np.concatenate([np.zeros(size), feature])
        c = h if huber is None else min(max(h, -huber), huber)
        first = c + delta - h if form == "correction" else c
        out += first * grad_q - g * c * grad_m + (delta - h) * grad_h
        if curvature:
            e = 1e-5  # q is piecewise smooth in w, and this stays on one piece
            ahead, behind = (Net(w[:size] + sign * e * w[size:], I, F, A).grad(s, one_hot(a, A)) for sign in (1, -1))
            out[:size] -= (delta - h) * (ahead - behind) / (2 * e)
    out /= B
    if form != "none":
        mask = np.zeros(len(w))
        if basis == "head":
            rows = F * I + F
            mask[rows + A * F : rows + 2 * A * F] = 1
            mask[rows + 2 * A * F + A :] = 1
        else:
            mask[size:] = 1
        out -= beta * mask * w
    return out


def actor_critic(w, t, kind, ratios=False, dai=False):
    """SBEED (rho of A outputs) and TDRC-PG (h of one); with `dai`, rho has the entropy's term to estimate too."""
    second = A if kind == "sbeed" else 1
    size = F * I + F + (1 + second) * F + 1 + second
    critic, policy = Net(w[:size], I, F, 1 + second, 1), Net(w[size:], I, F, A)
    out = np.zeros(len(w))
    for s, a, r, g, p, s2 in zip(t["s"], t["a"], t["r"], t["g"], t["p"], t["s2"], strict=True):
        v, v2 = critic.out(s)[0], critic.out(s2)[0]
        logits = policy.out(s)
        pi = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        grad_log = policy.grad(s, one_hot(a, A) - pi)
        e = lambda i: one_hot(i, 1 + second)  # noqa: E731
        if kind == "sbeed":
            rho = critic.out(s)[1 + a]
            delta = r + g * v2 - TAU * np.log(pi[a]) - v
            surprise = r + g * v2 - rho - (TAU * np.log(pi[a]) if dai else 0)
            out[:size] += delta * critic.grad(s, e(0)) - g * (delta - ETA * surprise) * critic.grad(s2, e(0))
            out[:size] += surprise * critic.grad(s, e(1 + a))
            out[size:] += NU * TAU * (delta - (ETA * surprise if dai else 0)) * grad_log
        else:
            ratio = pi[a] / p if ratios else 1
            delta, h = r + g * v2 - v, critic.out(s)[1]
            out[:size] += ratio * delta * critic.grad(s, e(0)) - ratio * g * h * critic.grad(s2, e(0))
            out[:size] += (ratio * delta - h) * critic.grad(s, e(1))
            out[size:] += NU * ratio * delta * grad_log
    out /= B
    if kind != "sbeed":
        mask = np.zeros(len(w))
        mask[F * I + F + F : F * I + F + 2 * F] = 1
        mask[size - 1] = 1
        out -= BETA * mask * w
    return out


def sbeed_q(w, t, eta=ETA):
    net, out = Net(w, I, F, 2 * A, A), np.zeros(len(w))
    for s, a, r, g, s2 in zip(t["s"], t["a"], t["r"], t["g"], t["s2"], strict=True):
        q, rho = net.out(s)[a], net.out(s)[A + a]
        m, soft = mellow(net.out(s2)[:A])
        delta, surprise = r + g * m - q, r + g * m - rho
        next_ = np.concatenate([soft, np.zeros(A)])
        out += delta * net.grad(s, one_hot(a, 2 * A)) - g * (delta - eta * surprise) * net.grad(s2, next_)
        out += surprise * net.grad(s, one_hot(A + a, 2 * A))
    return out / B


CHOICES = {
    "qrc-sep": {"width": 13 / F},
    "tdrc-pg with ratios": {"ratios": True},
    "expected-sarsa corrected": {"form": "correction"},
    "qrc-huber saddlepoint": {"form": "saddlepoint"},
    "qrc-huber with a network": {"basis": "network"},
}
REFERENCES = {
    "q-learning": lambda w, t: action_values(w, t, "none"),
    "expected-sarsa": lambda w, t: action_values(w, t, "none", greedy=expected),
    "expected-sarsa corrected": lambda w, t: action_values(w, t, greedy=expected),
    "qc": lambda w, t: action_values(w, t, beta=0.0),
    "qrc": action_values,
    "qrc-huber": lambda w, t: action_values(w, t, huber=HUBER),
    "qrc-huber saddlepoint": lambda w, t: action_values(w, t, "saddlepoint", huber=HUBER),
    "qrc-huber with a network": lambda w, t: action_values(w, t, basis="network", huber=HUBER),
    "qrc-sep": lambda w, t: action_values(w, t, basis="network", width=13),
    "qrc-grad": lambda w, t: action_values(w, t, basis="gradient"),
    "qc-ll": lambda w, t: action_values(w, t, basis="gradient", curvature=True, beta=0.0),
    "gq": lambda w, t: action_values(w, t, "saddlepoint"),
    "gq-grad": lambda w, t: action_values(w, t, "saddlepoint", "gradient"),
    "sbeed": lambda w, t: actor_critic(w, t, "sbeed"),
    "sbeed-dai": lambda w, t: actor_critic(w, t, "sbeed", dai=True),
    "sbeed-q": sbeed_q,
    "tdrc-pg": lambda w, t: actor_critic(w, t, "tdrc-pg"),
    "tdrc-pg with ratios": lambda w, t: actor_critic(w, t, "tdrc-pg", ratios=True),
}
REPLAYED = {name for name, a in ALGORITHMS.items() if not isinstance(a.make(), Tracing)}
assert {name.split(" ")[0] for name in REFERENCES} == REPLAYED


def transitions(seed=4):
    rng = np.random.default_rng(seed)
    discount = GAMMA * (rng.uniform(size=B) > 0.3)
    return {
        "s": rng.normal(size=(B, I)),
        "s2": rng.normal(size=(B, I)),
        "a": rng.integers(0, A, B),
        "r": rng.normal(size=B),
        "g": discount,
        "p": rng.uniform(0.2, 0.9, B),
    }


@cache
def program(agent, hidden, target):
    spec = Spec((I,), A, hidden, None)
    weights, shape = flat(agent.start(spec, jax.random.key(1))), control.shape_of(agent, spec)
    learning = Learning(B, 100, 10, "sgd", 10**6 if target else 0)
    options = control.Options(agent, spec, learning, hard=False)
    run = control.start(options, jnp.zeros(I), weights, jax.random.key(0))

    def step(hypers, weights, target, batch):
        return control.update(options, shape, hypers, run._replace(weights=weights, target=target), batch, jnp.int32(9))

    return jax.jit(step), len(weights)


def change(agent, hypers, t, weights=None, hidden=(F,), target=None):
    """What one plain step adds to random weights, over the step size; and these weights."""
    step, size = program(agent, hidden, target is not None)
    w = jnp.asarray(0.5 * np.random.default_rng(0).normal(size=size) if weights is None else weights, jnp.float32)
    batch = jnp.asarray(np.column_stack([t["s"], t["s2"], t["a"], t["r"], t["g"], t["p"]]), jnp.float32)
    as_arrays = Hypers(*(jnp.float32(x) for x in hypers))
    with jax.numpy_rank_promotion("raise"):
        new, _, _ = step(as_arrays, w, None if target is None else jnp.asarray(target, jnp.float32), batch)
    return (np.asarray(new, float) - np.asarray(w, float)) / hypers.step_size, np.asarray(w, float)


QUICK = ("expected-sarsa", "qrc", "qrc-huber", "qrc-sep", "qc-ll", "gq-grad", "sbeed", "sbeed-q", "tdrc-pg")


@pytest.mark.parametrize("name", few(REFERENCES, QUICK))
def test_update_is_the_papers_equations_by_hand(name):
    a = ALGORITHMS[name.split(" ")[0]].varied(**CHOICES.get(name, {}))
    hypers = HYPERS._replace(**a.fixed)
    got, w = change(a.make(), hypers, transitions())
    want = REFERENCES[name](w, transitions())
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
    assert np.abs(want).max() > 0.05


@pytest.mark.parametrize(("form", "plain"), [("correction", "qrc"), ("saddlepoint", "gq")])
def test_the_huber_error_without_a_bound_is_the_squared_one_and_with_one_is_another(form, plain):
    robust, t = ALGORITHMS["qrc-huber"].varied(form=form).make(), transitions()
    squared, _ = change(ALGORITHMS[plain].make(), HYPERS, t)
    np.testing.assert_allclose(change(robust, HYPERS._replace(huber=np.inf), t)[0], squared, rtol=1e-5, atol=1e-6)
    assert np.abs(change(robust, HYPERS, t)[0] - squared).max() > 0.1


@pytest.mark.parametrize("choices", [{"form": "none"}, {"basis": "gradient", "curvature": True}])
def test_the_huber_error_needs_an_h_to_clip(choices):
    with pytest.raises(gpbe.InputError, match="clips an h that learns, without the term of the curvature"):
        ALGORITHMS["qrc-huber"].varied(**choices).make()


def split_linear(vector):
    """Of a linear network with q and h: weights and biases of q, and of h."""
    weight, bias = vector[: 2 * A * I].reshape(2 * A, I), vector[2 * A * I :]
    parts = (weight[:A], bias[:A], weight[A:], bias[A:])
    return tuple(np.concatenate([w.ravel(), b]) for w, b in (parts[:2], parts[2:]))


@pytest.mark.parametrize(("with_gradients", "with_head"), [("qrc-grad", "qrc"), ("qc-ll", "qc"), ("gq-grad", "gq")])
def test_gradient_features_of_a_linear_network_are_its_features(with_gradients, with_head):
    rng, t = np.random.default_rng(3), transitions()
    head = rng.normal(size=2 * A * (I + 1))
    q, h = split_linear(head)
    hypers = HYPERS._replace(**ALGORITHMS[with_head].fixed)
    got, _ = change(ALGORITHMS[with_gradients].make(), hypers, t, np.concatenate([q, h]), hidden=())
    want, _ = change(ALGORITHMS[with_head].make(), hypers, t, head, hidden=())
    np.testing.assert_allclose(got, np.concatenate(split_linear(want)), rtol=1e-4, atol=1e-5)


def test_sbeed_q_with_eta_1_is_the_gradient_correction_with_h_for_rho_minus_q():
    """q moves as in QC whose head says h(s, a) = rho(s, a) - q(s, a)."""
    t, rng = transitions(), np.random.default_rng(5)
    q, rho = rng.normal(size=(2, A * (I + 1)))
    join = lambda a, b: np.concatenate([a[: A * I], b[: A * I], a[A * I :], b[A * I :]])  # noqa: E731
    sbeed, _ = change(ALGORITHMS["sbeed-q"].make(), HYPERS._replace(eta=1.0), t, join(q, rho), hidden=())
    qc, _ = change(ALGORITHMS["qc"].make(), HYPERS._replace(beta=0.0), t, join(q, rho - q), hidden=())
    np.testing.assert_allclose(split_linear(sbeed)[0], split_linear(qc)[0], rtol=1e-4, atol=1e-5)


def test_sbeed_with_eta_0_descends_the_td_error():
    """The residual gradient: minus half of the gradient of mean delta^2, by finite differences."""
    t, e = transitions(), 1e-5
    got, w = change(ALGORITHMS["sbeed-q"].make(), HYPERS._replace(eta=0.0), t)

    def half_square(w):
        net = Net(w, I, F, 2 * A, A)
        target = [r + g * mellow(net.out(s2)[:A])[0] for r, g, s2 in zip(t["r"], t["g"], t["s2"], strict=True)]
        q = [net.out(s)[a] for s, a in zip(t["s"], t["a"], strict=True)]
        return 0.5 * np.mean((np.array(target) - np.array(q)) ** 2)

    live = np.ones(len(w), bool)
    rows = F * I + F
    live[rows + A * F : rows + 2 * A * F] = live[rows + 2 * A * F + A :] = False  # rho's own head
    slope = np.array([(half_square(w + e * d) - half_square(w - e * d)) / (2 * e) for d in np.eye(len(w))])
    np.testing.assert_allclose(got[live], -slope[live], rtol=1e-3, atol=1e-4)


def test_sbeed_with_tau_0_leaves_the_policy_as_it_began():
    got, w = change(ALGORITHMS["sbeed"].make(), HYPERS._replace(tau=0.0), transitions())
    policy = len(w) - (F * I + F + A * F + A)
    assert np.abs(got[:policy]).max() > 0.01
    np.testing.assert_array_equal(got[policy:], 0)


def test_qrc_with_a_very_large_beta_is_q_learning():
    """h is pulled to 0 at once, and then q moves as in Q-learning: 300 plain steps from the same weights."""
    t, rng = transitions(), np.random.default_rng(0)
    w = 0.3 * rng.normal(size=2 * A * F + F * I + F + 2 * A)
    rows = F * I + F
    q_only = np.r_[:rows, rows : rows + A * F, rows + 2 * A * F : rows + 2 * A * F + A]
    theta = np.setdiff1d(np.arange(len(w)), q_only)
    w[theta] = 0
    qrc, q = w.copy(), w[q_only].copy()
    beta, alpha = 1e4, 1e-4  # alpha beta = 1: theta is what the last batch alone made of it, times alpha
    hypers = HYPERS._replace(beta=beta, step_size=alpha)
    for _ in range(300):
        qrc += alpha * change(ALGORITHMS["qrc"].make(), hypers, t, qrc)[0]
        q += alpha * change(ALGORITHMS["q-learning"].make(), hypers, t, q)[0]
    moved = np.abs(q - w[q_only]).max()
    assert moved > 5e-3
    assert np.abs(qrc[q_only] - q).max() < 0.01 * moved


def test_a_target_network_values_the_next_state_and_is_not_moved():
    t, rng = transitions(), np.random.default_rng(2)
    agent = ALGORITHMS["q-learning"].make()
    target = rng.normal(size=F * I + F + A * F + A)
    got, w = change(agent, HYPERS, t, target=target)
    other = Net(target, I, F, A)
    want = np.zeros(len(w))
    for s, a, r, g, s2 in zip(t["s"], t["a"], t["r"], t["g"], t["s2"], strict=True):
        delta = r + g * mellow(other.out(s2))[0] - Net(w, I, F, A).out(s)[a]
        want += delta * Net(w, I, F, A).grad(s, one_hot(a, A)) / B
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_the_h_head_recovers_the_expected_td_error():
    """On fixed data with q held still (beta = 0, steps on h alone), h(s, a) becomes the mean delta of each (s, a)."""
    rng, states, n = np.random.default_rng(1), np.eye(I), 60
    agent = ALGORITHMS["qc"].make()
    s, a = rng.integers(0, I, n), rng.integers(0, A, n)
    s2, r = rng.integers(0, I, n), rng.normal(size=n)
    weights = rng.normal(size=2 * A * (I + 1))  # linear in one-hot states: h is a table, and can be anything
    q, _ = split_linear(weights)
    table = q[: A * I].reshape(A, I).T + q[A * I :]
    delta = r + GAMMA * np.array([mellow(table[k])[0] for k in s2]) - table[s, a]
    batch = jnp.asarray(np.column_stack([states[s], states[s2], a, r, np.full(n, GAMMA), np.ones(n)]), jnp.float32)
    spec = Spec((I,), A, (), None)
    shape, options = (
        control.shape_of(agent, spec),
        control.Options(agent, spec, Learning(n, 100, 10, "sgd"), hard=False),
    )
    hypers = Hypers(*(jnp.float32(x) for x in HYPERS._replace(beta=0.0, step_size=2.0)))
    run = control.start(options, jnp.zeros(I), jnp.asarray(weights, jnp.float32), jax.random.key(0))
    only_h = jnp.concatenate([jnp.repeat(jnp.arange(2 * A) >= A, I), jnp.arange(2 * A) >= A])

    def step(run, _):
        new, _, _ = control.update(options, shape, hypers, run, batch, jnp.int32(0))
        return run._replace(weights=jnp.where(only_h, new, run.weights)), None

    run, _ = jax.lax.scan(step, run, None, length=4000)
    _, h = split_linear(np.asarray(run.weights))
    got = h[: A * I].reshape(A, I).T + h[A * I :]
    for i in range(I):
        for j in range(A):
            if ((s == i) & (a == j)).any():
                np.testing.assert_allclose(got[i, j], delta[(s == i) & (a == j)].mean(), atol=2e-3)
