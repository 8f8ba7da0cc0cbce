"""Every linear algorithm: what it solves, what it does in expectation, and that its samples do the same."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe import exact, mdp
from gpbe.algorithms.linear import (
    ALGORITHMS,
    DIRECTIONS,
    Algorithm,
    Hypers,
    Limits,
    Step,
    expected_system,
    product_weighting,
)
from gpbe.algorithms.linear.least_squares import trace_sequence
from gpbe.learn.linear.recorded import recorded
from gpbe.learn.linear.streams import simulated
from gpbe.learn.linear.tracking import Stream, observe, start_tracker, transitions
from helpers.linear_cases import (
    BETA,
    C_BAR,
    DECAY,
    DIRECTED,
    EVERY,
    LAM,
    NOT_SOUND,
    PROBLEMS,
    TRACES,
    WEIGHTING,
    fixed_point,
    lambdas,
    problem_of,
    system_of,
    update_of,
)
from helpers.samples import few

# ---------------------------------------------------------------- the table


def test_weightings_and_soundness_are_those_of_the_papers_table():
    assert {name: a.weighting for name, a in ALGORITHMS.items()} == WEIGHTING
    assert {name for name, a in ALGORITHMS.items() if not a.sound} == NOT_SOUND


# ---------------------------------------------------------------- in expectation


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("name", DIRECTED)
def test_expected_update_vanishes_at_the_fixed_point_and_nowhere_near(name, make):
    problem = make()
    A, b, _ = system_of(problem, name)
    w, nothing = np.linalg.solve(A, b), np.zeros(len(b))
    for direction in update_of(problem, name, w, nothing):
        np.testing.assert_allclose(direction, 0, atol=1e-10)
    if EVERY[name].bootstrapping == "importance" and not EVERY[name].decayed_followon:
        np.testing.assert_allclose(fixed_point(problem, name, LAM), w, atol=1e-9)
    away = np.concatenate(update_of(problem, name, w + 0.1, nothing))
    assert np.abs(away).max() > 1e-3


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("name", DIRECTED)
def test_expected_update_is_the_closed_form(name, make):
    """TD b - A w; TDC (b - A w) - (C - A)'h and (b - A w) - C h; GTD2 A'h; HTD with A_b of the behavior's trace."""
    problem, a = make(), EVERY[name]
    A, b, C = system_of(problem, name)
    w, h = np.random.default_rng(1).standard_normal((2, len(b)))
    if a.update == "hybrid":
        A_b = system_of(problem.replace(target=problem.behavior), name, scaled_by=problem).A
        expected = b - A @ w + (A - A_b).T @ h, b - A @ w - A_b.T @ h
    else:
        main = {"td": b - A @ w, "gradient-correction": b - A @ w - (C - A).T @ h}.get(a.update, A.T @ h)
        expected = main, 0 * h if a.update == "td" else b - A @ w - C @ h
    if a.regularized:
        expected = expected[0], expected[1] - BETA * h
    for actual, direction in zip(update_of(problem, name, w, h), expected, strict=True):
        np.testing.assert_allclose(actual, direction, atol=1e-12)


@pytest.mark.parametrize("name", ["gtd2", "emphatic-gtd2", "alternative-life-gtd2", "gradient-tree-backup"])
def test_saddlepoint_update_at_the_best_h_is_the_gradient_of_the_pbe(name):
    """A'C^-1 (b - A w) = -1/2 grad ||b - A w||^2 in the norm of C^-1, here by central differences."""
    problem = problem_of(8)
    A, b, C = system_of(problem, name)

    def pbe(w: np.ndarray) -> float:
        return (b - A @ w) @ np.linalg.solve(C, b - A @ w)

    w, eps = np.random.default_rng(2).standard_normal(5), 1e-4
    gradient = [(pbe(w + eps * i) - pbe(w - eps * i)) / (2 * eps) for i in np.eye(5)]
    d_w, d_h = update_of(problem, name, w, np.linalg.solve(C, b - A @ w))
    np.testing.assert_allclose(d_w, -0.5 * np.array(gradient), atol=1e-7)
    np.testing.assert_allclose(d_h, 0, atol=1e-11)


def test_alternative_lives_are_as_long_as_the_targets_episodes():
    """Gambler's ruin on 5 states from the middle: 9 steps under 50/50; z/(q-p) - N/(q-p) (1-r^z)/(1-r^N) otherwise."""
    problem = mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), [0.4, 0.6], [0.5, 0.5])
    p, q, r = 0.6, 0.4, 0.4 / 0.6
    length = 3 / (q - p) - 6 / (q - p) * (1 - r**3) / (1 - r**6)
    product = product_weighting(problem)
    assert product.sum() == pytest.approx(length / 9)
    np.testing.assert_allclose(product / product.sum(), exact.weighting(problem, "target"), rtol=1e-12)


@pytest.mark.parametrize("rho_bar", [0.4, 1.0, 1.3, np.inf])
def test_v_trace_evaluates_the_policy_between_behavior_and_target(rho_bar):
    """Espeholt et al. (2018), theorem 1: in a table, v of the policy proportional to min(rho_bar b, pi)."""
    problem = problem_of(4).with_features(np.eye(7))
    between = np.minimum(rho_bar * problem.behavior, problem.target)
    between /= between.sum(1, keepdims=True)
    A, b, _ = expected_system(problem, "v-trace", LAM, Limits(C_BAR, rho_bar))
    np.testing.assert_allclose(np.linalg.solve(A, b), problem.replace(target=between).values, rtol=1e-9)


# ---------------------------------------------------------------- traces


@pytest.mark.parametrize("name", TRACES.values())
def test_traces_are_the_sums_over_the_past_that_the_equations_unroll_to(name):
    problem, a, n = problem_of(6), EVERY[name], 61
    data = mdp.simulate(problem.mdp, problem.behavior, n, seed=4)
    state, action, gamma = data.state[0], data.action[0], data.discount[0]
    rho, lam = problem.ratios[state, action], lambdas(problem, a, LAM, problem)[state, action, data.next_state[0]]
    fades = DECAY * (gamma > 0) if a.decayed_followon else gamma
    assert (gamma == 0).sum() > 5

    emphases, traces = [], []
    for t in range(n):
        # On the way from k to t: what the followon and the trace keep. The product lasts as long as the episode.
        followon = sum(np.prod(fades[k:t] * rho[k:t]) for k in range(t + 1))
        began = max((k + 1 for k in range(t) if gamma[k] == 0), default=0)
        arrival = lam[t - 1] if t else 0.0
        by_prior = {"none": 1, "emphatic": arrival + (1 - arrival) * followon, "alternative-life": rho[began:t].prod()}
        emphases.append(by_prior[a.prior])
        kept = [np.prod(gamma[k:t] * lam[k:t] * rho[k:t]) for k in range(t + 1)]
        traces.append(np.multiply(kept, emphases) @ problem.features[state[: t + 1]])

    # The log is longer, so that it holds the most and the least likely action, which scale AB-Trace.
    log = mdp.Log.simulate(problem, 1001, seed=4)
    found = trace_sequence(log, a, LAM, Limits(C_BAR, followon_decay=DECAY))
    np.testing.assert_allclose(found.e[:n], traces, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.emphasis[:n], emphases, rtol=1e-9)
    np.testing.assert_allclose(found.rho[:n], rho)
    np.testing.assert_allclose(found.lam[:n], lam, rtol=1e-12)
    compiled = steps_of(a, recorded(log))
    np.testing.assert_allclose(compiled.e[:n], traces, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(compiled.emphasis[:n], emphases, rtol=2e-5)


def steps_of(a: Algorithm, stream: Stream, rho_bar: float = np.inf) -> Step:
    """What the compiled loop hands to an update, for every transition of a stream of one run."""
    numbers = a.defaults() | {"lam": LAM, "c_bar": C_BAR, "rho_bar": rho_bar, "followon_decay": DECAY}
    hypers = Hypers(**{k: jnp.asarray(v, jnp.float32) for k, v in numbers.items()})
    see = partial(observe, a, hypers, stream)
    start = start_tracker(stream, jnp.zeros(stream.features.shape[-1]))
    return jax.jit(lambda xs: jax.lax.scan(see, start, xs)[1])(jax.tree.map(lambda x: x[0], transitions(stream)))


# ---------------------------------------------------------------- samples


BATCHES, LENGTH = 151, 1001
STATE_LAM = np.array([1, 0.6, 0.9, 1, 0.3, 0.8, 0.7])


@cache
def mild_problem() -> mdp.PredictionProblem:
    """Ratios so mild that even their product over an episode has a fourth moment."""
    rng = np.random.default_rng(21)
    m = mdp.random_mdp(7, 3, 3, gamma=0.95, rng=rng, termination=0.3)
    target = rng.dirichlet(np.ones(3), 7)
    problem = mdp.PredictionProblem(m, target, 0.6 * target + 0.4 / 3, rng.standard_normal((7, 5)))
    goes_on = m.transition * (m.discount > 0)
    growth = np.einsum("sa,san->sn", problem.behavior * problem.ratios**4, goes_on)
    assert np.abs(np.linalg.eigvals(growth)).max() < 1
    return problem


@cache
def mild_stream() -> Stream:
    return simulated(mild_problem(), BATCHES * LENGTH, runs=1, seed=9, state_lam=STATE_LAM)


@cache
def sampled_steps(prior: str, rule: str, decayed: bool, hybrid: bool, rho_bar: float) -> Step:
    """Shared by all updates that use the same trace."""
    a = Algorithm(prior, rule, "hybrid" if hybrid else "td", decayed_followon=decayed)
    stream = mild_stream()._replace(lam=jnp.ones(7)) if rule == "ab-trace" else mild_stream()
    return steps_of(a, stream, rho_bar)


@cache
def directions(update: str):
    return jax.jit(lambda steps, w, h: jax.vmap(lambda step: DIRECTIONS[update](step, w, h))(steps))


@pytest.mark.parametrize("name", few(DIRECTED, [*DIRECTED][::3]))
def test_sampled_updates_average_to_the_expected_update(name):
    """Within five standard errors of batch means; episodes last 3 steps, so batches are as good as independent.

    lambda depends on the state, but for AB-Trace.
    """
    a = EVERY[name]
    w, h = np.random.default_rng(3).standard_normal((2, 5))
    lam = LAM if a.bootstrapping == "ab-trace" else LAM * STATE_LAM
    rho_bar = 1.1 if name == "v-trace" else np.inf
    steps = sampled_steps(a.prior, a.bootstrapping, a.decayed_followon, a.update == "hybrid", rho_bar)
    expected = update_of(mild_problem(), name, w, h, lam, rho_bar)
    if a.regularized:
        expected = expected[0], expected[1] + BETA * h  # not part of the direction: the loop adds it
    sampled = directions(a.update)(steps, w, h)
    for each, truth in list(zip(sampled, expected, strict=True))[: 1 + a.second_weights]:
        means = np.asarray(each, dtype=float).reshape(BATCHES, LENGTH, 5).mean(1)
        error = means.std(0, ddof=1) / np.sqrt(BATCHES)
        assert error.max() < 0.02 * np.linalg.norm(truth)  # so that a wrong factor would show
        np.testing.assert_array_less(np.abs(means.mean(0) - truth) / error, 5)
