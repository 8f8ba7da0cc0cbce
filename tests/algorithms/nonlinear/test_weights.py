"""How much each state counts, whatever the return: means over every path, recursions, and the forward view."""

import itertools
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe import exact, mdp
from gpbe.algorithms.linear import Trace, advance
from gpbe.algorithms.nonlinear.updates import Window, parts
from gpbe.algorithms.nonlinear.weights import state_weights

LAYERS, WIDTH, ACTIONS = 3, 2, 2
STATES = LAYERS * WIDTH
RETURNS = [(1, 1.0), (2, 0.6), (3, 0.6), (9, 0.6)]


@cache
def layered() -> mdp.PredictionProblem:
    """Episodes of three transitions, one to each next layer; discounts differ, and the last is 0."""
    rng = np.random.default_rng(2)
    transition, discount = np.zeros((STATES, ACTIONS, STATES)), rng.uniform(0.5, 1, (STATES, ACTIONS, STATES))
    for s in range(STATES):
        after = (s // WIDTH + 1) % LAYERS
        there = slice(WIDTH * after, WIDTH * (after + 1))
        transition[s, :, there] = rng.dirichlet(np.ones(WIDTH), ACTIONS)
        if after == 0:
            transition[s, :, there] = [0.3, 0.7]  # the start distribution
            discount[s] = 0
    start = np.array([0.3, 0.7] + [0] * (STATES - WIDTH))
    m = mdp.FiniteMDP(transition, rng.standard_normal((STATES, ACTIONS, STATES)), discount, start)
    target, behavior = rng.dirichlet(np.ones(ACTIONS), STATES), rng.dirichlet(3 * np.ones(ACTIONS), STATES)
    return mdp.PredictionProblem(m, target, behavior, rng.standard_normal((STATES, 4)))


@cache
def episodes():
    """Every episode there is: its probability under the behavior (E,), states (E, 4) and actions (E, 3)."""
    p, m = layered(), layered().mdp
    states = np.array(list(itertools.product(range(2), range(2, 4), range(4, 6), range(2))))
    actions = np.array(list(itertools.product(range(ACTIONS), repeat=LAYERS)))
    states, actions = np.repeat(states, len(actions), axis=0), np.tile(actions, (len(states), 1))
    s, s2 = states[:, :-1], states[:, 1:]
    return m.start[s[:, 0]] * (p.behavior[s, actions] * m.transition[s, actions, s2]).prod(1), states, actions


def columns(lam: np.ndarray):
    """Discounts, ratios, trace parameters on arrival and what follows, of every episode (E, 3)."""
    p, (_, states, actions) = layered(), episodes()
    s, s2 = states[:, :-1], states[:, 1:]
    follows = np.broadcast_to([True, True, False], s.shape)
    return as_float32(p.mdp.discount[s, actions, s2], p.ratios[s, actions], lam[s2], follows)


def mean_weights(prior: str, n: int, lam: np.ndarray) -> np.ndarray:
    """E[M; S = s] over every episode."""
    chance, states, _ = episodes()
    weights = jax.jit(jax.vmap(partial(state_weights, prior, n)))(*columns(lam))
    mean = np.zeros(STATES)
    np.add.at(mean, states[:, :-1], chance[:, None] * np.asarray(weights, dtype=float) / LAYERS)
    return mean


def as_float32(*columns):
    return [jnp.asarray(c, bool if c.dtype == bool else jnp.float32) for c in columns]


def bootstrapping(p: mdp.PredictionProblem, n: int, lam: np.ndarray) -> np.ndarray:
    """B(s, s'): how much the return from s bootstraps from s', from powers of P."""
    carry, left, total = p.discounted_transition, np.eye(STATES), np.zeros((STATES, STATES))
    for k in range(n):
        left = left @ carry
        kept = lam if k < n - 1 else 0 * lam
        total = total + left * (1 - kept)
        left = left * kept
    return total


@pytest.mark.parametrize(("n", "lam"), RETURNS)
def test_their_mean_solves_the_equation_of_the_return_in_use(n, lam):
    """m = d_b + B'm, over every episode that there is; lam depends on the state."""
    p = layered()
    by_state = lam * np.linspace(0.4, 1, STATES) if n == 3 else np.full(STATES, lam)
    mean, d = mean_weights("emphatic", n, by_state), p.behavior_distribution
    key = np.eye(STATES) - bootstrapping(p, n, by_state)
    np.testing.assert_allclose(mean, np.linalg.solve(key.T, d), rtol=1e-5)
    np.testing.assert_allclose(mean @ key, d, rtol=1e-5)  # the sums of columns that make the key matrix definite
    if n == 1:
        np.testing.assert_allclose(mean, exact.weighting(p, "followon"), rtol=1e-5)
    if n >= LAYERS:
        np.testing.assert_allclose(mean, exact.weighting(p, "emphatic", by_state), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 3])
def test_alternative_life_weights_make_states_those_of_the_target_whatever_the_return(n):
    mean = mean_weights("alternative-life", n, np.ones(STATES))
    np.testing.assert_allclose(mean, layered().target_distribution, rtol=1e-5)


def random_stream(seed: int = 0, length: int = 40):
    rng = np.random.default_rng(seed)
    discount, rho, lam = rng.uniform(0.3, 1, length), rng.uniform(0, 2, length), rng.uniform(0, 1, length)
    follows = rng.random(length) < 0.8
    follows[-1] = False
    return discount, rho, lam, follows


def test_published_recursions_are_special_cases():
    discount, rho, lam, follows = random_stream()
    t, ones = len(rho), np.ones_like(rho)
    followon = np.ones(t)
    for i in range(1, t):
        followon[i] = 1 + follows[i - 1] * rho[i - 1] * discount[i - 1] * followon[i - 1]
    found = jax.jit(partial(state_weights, "emphatic", 1))(*as_float32(discount, rho, lam, follows))
    np.testing.assert_allclose(found, followon, rtol=1e-5)

    arrival = np.append(0.0, lam[:-1])  # F = 1 where an episode begins, so lam does not matter there
    found = jax.jit(partial(state_weights, "emphatic", t))(*as_float32(discount, rho, lam, follows))
    np.testing.assert_allclose(found, arrival + (1 - arrival) * followon, rtol=1e-5)

    skipping, n = np.ones(t), 3  # Jiang et al.: M_t = product of the n last rho gamma, times M_{t-n}, and 1
    for i in range(n, t):
        skipping[i] += np.prod((follows * rho * discount)[i - n : i]) * skipping[i - n]
    found = jax.jit(partial(state_weights, "emphatic", n))(*as_float32(discount, rho, ones, follows))
    np.testing.assert_allclose(found, skipping, rtol=1e-5)


@pytest.mark.parametrize("prior", ["none", "emphatic", "alternative-life"])
def test_forward_view_of_whole_episodes_is_the_backward_view_of_the_linear_algorithms(prior):
    """sum_t M_t Delta_t x_t = sum_t rho_t delta_t e_t, with the trace and the emphasis of `algorithms.linear`."""
    discount, rho, lam, follows = random_stream(1)
    t, rng = len(rho), np.random.default_rng(5)
    discount = np.where(follows, discount, 0.0)
    x, w, reward = rng.standard_normal((t + 1, 3)), rng.standard_normal(3), rng.standard_normal(t)
    v = x @ w
    trace, backward = Trace(np.zeros(3), 0.0, 0.0), np.zeros(3)
    for i in range(t):
        gamma, ratio, arrival = (discount[i - 1], rho[i - 1], lam[i - 1]) if i else (0.0, 0.0, 0.0)
        trace, _ = advance(trace, x[i], gamma, ratio, arrival, prior)
        backward += rho[i] * (reward[i] + discount[i] * v[i + 1] - v[i]) * trace.e

    weights = jax.jit(partial(state_weights, prior, t))(*as_float32(discount, rho, lam, follows))
    error = jax.jit(jax.vmap(lambda v, *c: parts(v, Window(*c, jnp.ones(()))).error))
    late = np.minimum(np.arange(t)[:, None] + np.arange(t), t - 1)  # the rows of each window; the last ends an episode
    errors = error(
        *as_float32(v[np.minimum(np.arange(t)[:, None] + np.arange(t + 1), t)]),
        *as_float32(*(c[late] for c in (reward, discount, rho, lam))),
    )
    np.testing.assert_allclose(np.asarray(weights * errors, dtype=float) @ x[:t], backward, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_emphatic_td_over_whole_episodes_rests_where_etd_does(lam):
    """The mean of M Delta x over every episode is b - A w of ETD(lam): 0 at its fixed point, and not elsewhere."""
    p, (chance, states, actions) = layered(), episodes()
    A, b, _ = exact.linear_system(p, exact.weighting(p, "emphatic", lam), lam)
    s, s2 = states[:, :-1], states[:, 1:]
    reward, *rest = as_float32(p.mdp.reward[s, actions, s2], *(np.asarray(c) for c in columns(np.full(STATES, lam))))

    def one(x, v, reward, discount, rho, lam, follows):
        """sum_t M_t Delta_t x_t of an episode."""
        weights = state_weights("emphatic", LAYERS, discount, rho, lam, follows)
        windows = [Window(reward[i:], discount[i:], rho[i:], lam[i:], jnp.ones(())) for i in range(LAYERS)]
        errors = jnp.stack([parts(v[i:], t).error for i, t in enumerate(windows)])
        return (weights * errors) @ x

    for w in (np.linalg.solve(A, b), np.ones(4)):
        x, v = as_float32(p.features[s], p.features[states] @ w)
        sums = np.asarray(jax.jit(jax.vmap(one))(x, v, reward, *rest), dtype=float)
        np.testing.assert_allclose(chance @ sums / LAYERS, b - A @ w, atol=1e-5)
