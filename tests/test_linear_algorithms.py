"""Every linear algorithm: what it solves, what it does in expectation, and that its samples do the same."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe import exact, linalg, mdp
from gpbe.algorithms.linear import (
    ALGORITHMS,
    DIRECTIONS,
    Algorithm,
    Step,
    expected_system,
    expected_update,
    find,
    product_weighting,
)
from gpbe.algorithms.linear.least_squares import accumulate, trace_sequence
from gpbe.learn.hypers import defaults_for
from gpbe.learn.linear import Hypers, Options, Stream, observe, start_tracker, transitions
from gpbe.learn.predict import Prediction
from gpbe.learn.streams import recorded, simulated

# Table of methods in the paper's appendix, with LSTD and TDRC where their objectives put them.
PAPER = {
    "d_b": "td gtd tdc gtd2 gtd2-mp htd tdrc tree-backup gradient-tree-backup v-trace ab-trace svrg saga lstd",
    "m": "etd lsetd emphatic-gtd emphatic-htd emphatic-gtd2 emphatic-gtd2-mp emphatic-tdrc emphatic-svrg emphatic-saga",
    "between d_b and m": "etd-beta",
    "d_pi": "alternative-life-td alternative-life-gtd alternative-life-htd alternative-life-gtd2 "
    "alternative-life-gtd2-mp alternative-life-tdrc alternative-life-svrg alternative-life-saga alternative-life-lstd",
}
WEIGHTING = {name: weighting for weighting, names in PAPER.items() for name in names.split()}
# TD without prior corrections is not guaranteed to converge (section 3.1), whatever its trace (Touati et al. 2018);
# ETD(lambda, beta) is if beta is large enough (Hallak et al. 2016).
NOT_SOUND = {"td", "tree-backup", "v-trace", "ab-trace", "etd-beta"}

# Points of the algebra that have no name: the axes are free to combine.
COMBINED = {
    "emphatic tree backup, gradient": Algorithm("emphatic", "tree-backup", "gradient-correction"),
    "emphatic ab-trace, hybrid": Algorithm("emphatic", "ab-trace", "hybrid"),
    "decayed tree backup": Algorithm("emphatic", "tree-backup", decayed_followon=True),
    "alternative-life v-trace, saddlepoint": Algorithm("alternative-life", "v-trace", "saddlepoint"),
}
EVERY = {**ALGORITHMS, **COMBINED}
DIRECTED = [name for name, a in EVERY.items() if a.update != "least-squares"]
TRACES = {(a.prior, a.bootstrapping, a.decayed_followon): name for name, a in EVERY.items()}
"""One algorithm for each kind of trace."""

LAM, C_BAR, DECAY, BETA = 0.6, 0.8, 0.5, 0.7


def problem_of(seed: int, on_policy: bool = False) -> mdp.PredictionProblem:
    """Seven states, three actions, five features; ratios below 2."""
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(7, 3, 3, gamma=0.8, rng=rng, termination=0.25)
    target = rng.dirichlet(np.ones(3), 7)
    behavior = target if on_policy else 0.5 * target + 0.5 / 3
    return mdp.PredictionProblem(m, target, behavior, rng.standard_normal((7, 5)))


def walk() -> mdp.PredictionProblem:
    """Behaviour and target end episodes at different rates; a2 has probability 0 in one state."""
    target = np.array([[0.4, 0.6], [0.0, 1.0], [0.3, 0.7], [0.5, 0.5], [0.4, 0.6]])
    x = np.random.default_rng(5).standard_normal((5, 3))
    return mdp.PredictionProblem(mdp.random_walk(5, gamma=0.9), target, [0.5, 0.5], x)


PROBLEMS = {"random": partial(problem_of, 3), "walk": walk}


# ---------------------------------------------------------------- what `exact` says about an algorithm


def lambdas(problem: mdp.PredictionProblem, a: Algorithm, lam) -> np.ndarray:
    """lam(s, a, s') by the definitions: V-trace from min(c_bar, rho), AB-Trace from Mahmood et al. (2017)."""
    b, pi = problem.behavior, problem.target
    largest = np.maximum(b, pi)
    psi_0, psi_max = 1 / largest.max(), 1 / largest[b > 0].min()
    psi = 2 * LAM * psi_0 + max(0, 2 * LAM - 1) * (psi_max - 2 * psi_0)
    table = np.zeros(problem.mdp.transition.shape)
    for s, i, n in np.ndindex(table.shape):
        arrival = np.broadcast_to(lam, problem.mdp.n_states)[n]
        if a.bootstrapping == "importance":
            table[s, i, n] = arrival
        elif a.bootstrapping == "tree-backup":
            table[s, i, n] = arrival * b[s, i]  # so that lam rho = lam pi
        elif a.bootstrapping == "v-trace":
            rho = pi[s, i] / b[s, i]
            table[s, i, n] = arrival * (min(C_BAR, rho) / rho if rho else 1)
        else:
            table[s, i, n] = min(psi, 1 / max(b[s, i], pi[s, i])) * b[s, i]
    return table


def end_rate(problem: mdp.PredictionProblem, policy: np.ndarray, d: np.ndarray) -> float:
    """Episodes that end per transition."""
    ends = (problem.mdp.transition * (problem.mdp.discount == 0)).sum(-1)
    return float(d @ (policy * ends).sum(-1))


def weights_of(problem: mdp.PredictionProblem, a: Algorithm, table: np.ndarray) -> np.ndarray:
    """The state weighting of the algorithm's objective, from `exact` alone."""
    if a.prior == "none":
        return exact.weighting(problem, "behavior")
    if a.prior == "emphatic":
        return exact.weighting(problem, "emphatic", table, beta=DECAY if a.decayed_followon else None)
    d_b, d_pi = exact.weighting(problem, "behavior"), exact.weighting(problem, "target")
    # There are as many alternative lives as episodes of the behaviour, each as long as the target's.
    return d_pi * end_rate(problem, problem.behavior, d_b) / end_rate(problem, problem.target, d_pi)


def system_of(problem: mdp.PredictionProblem, name: str, lam=LAM) -> exact.LinearSystem:
    a = EVERY[name]
    table = lambdas(problem, a, lam)
    return exact.linear_system(problem, weights_of(problem, a, table), table)


def update_of(problem: mdp.PredictionProblem, name: str, w, h, lam=LAM, rho_bar=np.inf):
    a = EVERY[name]
    beta = BETA if a.regularized else 0.0
    return expected_update(problem, a, w, h, lam, c_bar=C_BAR, rho_bar=rho_bar, followon_decay=DECAY, beta=beta)


def fixed_point(problem: mdp.PredictionProblem, name: str, lam: float) -> np.ndarray:
    """From the table of the paper: the PBE under d_b, m or d_pi."""
    d = {"d_b": "behavior", "d_pi": "target", "m": exact.weighting(problem, "emphatic", lam)}[WEIGHTING[name]]
    return exact.fixed_point(problem, "pbe", d, lam=lam)


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
    """TD b - A w; TDC (b - A w) - (C - A)'h and (b - A w) - C h; GTD2 A'h; HTD with A_b of the behaviour's trace."""
    problem, a = make(), EVERY[name]
    A, b, C = system_of(problem, name)
    w, h = np.random.default_rng(1).standard_normal((2, len(b)))
    if a.update == "hybrid":
        A_b = system_of(problem.replace(target=problem.behavior), name).A
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
    A, b, _ = expected_system(problem, "v-trace", LAM, c_bar=C_BAR, rho_bar=rho_bar)
    np.testing.assert_allclose(np.linalg.solve(A, b), problem.replace(target=between).values, rtol=1e-9)


# ---------------------------------------------------------------- traces


@pytest.mark.parametrize("name", TRACES.values())
def test_traces_are_the_sums_over_the_past_that_the_equations_unroll_to(name):
    problem, a, n = problem_of(6), EVERY[name], 61
    data = mdp.simulate(problem.mdp, problem.behavior, n, seed=4)
    state, action, gamma = data.state[0], data.action[0], data.discount[0]
    rho, lam = problem.ratios[state, action], lambdas(problem, a, LAM)[state, action, data.next_state[0]]
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
    found = trace_sequence(log, a, LAM, c_bar=C_BAR, followon_decay=DECAY)
    np.testing.assert_allclose(found.e[:n], traces, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.emphasis[:n], emphases, rtol=1e-9)
    np.testing.assert_allclose(found.rho[:n], rho)
    np.testing.assert_allclose(found.lam[:n], lam, rtol=1e-12)
    compiled = steps_of(a, recorded(log))
    np.testing.assert_allclose(compiled.e[0, :n], traces, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(compiled.emphasis[0, :n], emphases, rtol=2e-5)


def steps_of(a: Algorithm, stream: Stream, rho_bar: float = np.inf) -> Step:
    """What the compiled loop hands to an update, for every transition of every run."""
    numbers = defaults_for(a) | {"lam": LAM, "c_bar": C_BAR, "rho_bar": rho_bar, "followon_decay": DECAY}
    hypers = Hypers(**{k: jnp.asarray(v, jnp.float32) for k, v in numbers.items()})
    options = Options(a, every=1, adam=False, schedule=False)

    def run(xs):
        start = start_tracker(stream, jnp.zeros(stream.features.shape[-1]))
        return jax.lax.scan(partial(observe, options, hypers, stream), start, xs)[1]

    return jax.jit(jax.vmap(run))(transitions(stream))


# ---------------------------------------------------------------- samples


RUNS, BURN_IN = 129, 100
STATE_LAM = np.array([1, 0.2, 0.9, 1, 0, 0.5, 0.7])


@cache
def mild_problem() -> mdp.PredictionProblem:
    """Ratios so mild that even the product over an episode has a fourth moment."""
    rng = np.random.default_rng(21)
    m = mdp.random_mdp(7, 3, 3, gamma=0.8, rng=rng, termination=0.4)
    target = rng.dirichlet(np.ones(3), 7)
    problem = mdp.PredictionProblem(m, target, 0.65 * target + 0.35 / 3, rng.standard_normal((7, 5)))
    assert (0.6 * (problem.behavior * problem.ratios**4).sum(1)).max() < 1
    return problem


@cache
def sampled_steps(a: Algorithm, rho_bar: float) -> Step:
    state_lam = None if a.bootstrapping == "ab-trace" else STATE_LAM
    return steps_of(a, simulated(mild_problem(), BURN_IN + 2000, RUNS, seed=9, state_lam=state_lam), rho_bar)


@cache
def mean_directions(update: str):
    def mean(steps: Step, w, h):
        each = jax.vmap(lambda step: DIRECTIONS[update](step, w, h))(steps)
        return tuple(d[BURN_IN:].mean(0) for d in each)

    return jax.jit(jax.vmap(mean, in_axes=(0, None, None)))


@pytest.mark.parametrize("name", DIRECTED)
def test_sampled_updates_average_to_the_expected_update(name):
    """Runs are independent, so their means have a standard error; lambda depends on the state."""
    problem, a = mild_problem(), EVERY[name]
    w, h = np.random.default_rng(3).standard_normal((2, 5))
    lam = LAM if a.bootstrapping == "ab-trace" else LAM * STATE_LAM
    rho_bar = 1.1 if name == "v-trace" else np.inf
    kind = Algorithm(
        a.prior, a.bootstrapping, "hybrid" if a.update == "hybrid" else "td", decayed_followon=a.decayed_followon
    )
    sampled = mean_directions(a.update)(sampled_steps(kind, rho_bar), w, h)
    expected = update_of(problem, name, w, h, lam, rho_bar)
    if a.regularized:
        expected = expected[0], expected[1] + BETA * h  # not part of the direction: the loop adds it
    for means, truth in zip(sampled[: 1 + a.second_weights], expected, strict=False):
        error = np.std(means, axis=0, ddof=1) / np.sqrt(RUNS)
        assert error.max() < 0.03 * np.linalg.norm(truth)  # so that a wrong factor would show
        np.testing.assert_array_less(np.abs(np.mean(means, axis=0, dtype=float) - truth) / error, 5)


# ---------------------------------------------------------------- learning


STEPS, SETTLED = 2000, 0.4


@cache
def easy_problem(on_policy: bool = False) -> mdp.PredictionProblem:
    """Well conditioned, and the fixed points under d_b, m and d_pi lie apart (seven states, five actions)."""
    rng = np.random.default_rng(156)
    m = mdp.random_mdp(7, 5, 3, gamma=0.7, rng=rng, termination=0.25)
    target = rng.dirichlet(np.full(5, 0.3), 7)
    behavior = target if on_policy else 0.6 * target + 0.4 / 5
    x = np.linalg.qr(rng.standard_normal((7, 3)))[0] * np.sqrt(7)
    return mdp.PredictionProblem(m, target, behavior, x, initial_weights=[3, 3, 3])


def learn(algorithm: str, on_policy: bool = False, **hyperparameters) -> Prediction:
    """Of one shape always, so that an algorithm is compiled once for all tests here."""
    given = {"lam": SETTLED, **hyperparameters}
    if find(algorithm).update != "least-squares":
        given = {"step_size": 0.05, "power": 0.8, "delay": 300.0} | given
    return gpbe.predict(
        easy_problem(on_policy), algorithm, steps=STEPS, runs=199, every=STEPS // 2, metrics=("distance",), **given
    )


STREAMING = [name for name, a in ALGORITHMS.items() if not a.finite_sum]


@pytest.mark.parametrize("name", STREAMING)
def test_learning_converges_to_the_algorithms_own_fixed_point(name):
    problem, a = easy_problem(), find(name)
    slow = {"step_size": 0.02, "delay": 1000.0} if a.prior == "alternative-life" and a.update != "least-squares" else {}
    clips = {"c_bar": C_BAR, "rho_bar": 1.0} if name == "v-trace" else {}
    decay = {"followon_decay": DECAY} if name == "etd-beta" else {}
    result = learn(name, **slow, **clips, **decay)
    assert (result.diverged_at == -1).all()
    assert result.curves["distance"][:, -1].mean() < 0.1 * result.initial["distance"]
    # The mean over runs is nearer to its own fixed point than the fixed points are to one another.
    A, b, _ = expected_system(problem, name, SETTLED, **clips, **decay)
    own = np.linalg.solve(A, b)
    if a.bootstrapping == "importance" and not a.decayed_followon:
        np.testing.assert_allclose(own, fixed_point(problem, name, SETTLED), atol=1e-9)
    others = [fixed_point(problem, other, SETTLED) for other in ("td", "etd", "alternative-life-td")]
    between = min(np.linalg.norm(others[i] - others[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert between > 0.1
    assert np.linalg.norm(result.weights.mean(0) - own) < 0.05


@pytest.mark.parametrize("name", [name for name, a in ALGORITHMS.items() if a.finite_sum])
def test_finite_sum_methods_solve_the_data_set(name):
    """Noise of single terms vanishes: the solution of the data set, not a cloud around it."""
    log = mdp.Log.simulate(easy_problem(), 201, seed=2)
    A, b, _ = accumulate(log, name, SETTLED)
    solution = np.linalg.solve(A, b)
    result = gpbe.predict(log, name, step_size=0.02, epochs=300, every=201, lam=SETTLED, metrics=("distance",))
    np.testing.assert_allclose(result.weights[0], solution, atol=1e-4 * np.linalg.norm(solution))
    true = fixed_point(easy_problem(), name, SETTLED)
    assert np.linalg.norm(solution - true) > 0.01 * np.linalg.norm(solution)  # sampling noise is far larger


@pytest.mark.parametrize("name", ["lstd", "lsetd", "alternative-life-lstd"])
def test_least_squares_solves_the_sums(name):
    log, ridge = mdp.Log.simulate(problem_of(7), 301, seed=1), 0.5
    traces = trace_sequence(log, name, LAM)
    A, b = np.zeros((5, 5)), np.zeros(5)
    for t in range(301):
        z = traces.rho[t] * traces.e[t]
        A += np.outer(z, log.features[t] - log.discount[t] * log.next_features[t])
        b += z * log.reward[t]
    system = accumulate(log, name, LAM)
    np.testing.assert_allclose(system.A * 301, A, rtol=1e-9)
    np.testing.assert_allclose(system.b * 301, b, rtol=1e-9)
    learned = gpbe.predict(log, name, lam=LAM, ridge=ridge, every=43, metrics=("distance",))
    expected = np.linalg.solve(A + ridge * np.eye(5), b)
    np.testing.assert_allclose(learned.weights[0], expected, rtol=1e-3)
    np.testing.assert_allclose(
        learned.curves["distance"][0, -1], np.linalg.norm(expected - linalg.least_squares(A, b).solution), rtol=1e-2
    )


# ---------------------------------------------------------------- special cases


SAME = {
    "gtd is tdc": ("gtd", {}, "tdc", {}),
    "tdrc with beta 0 is tdc": ("tdrc", {"beta": 0.0}, "tdc", {}),
    "tdc with lam 1 is td": ("tdc", {"lam": 1.0}, "td", {"lam": 1.0}),
    "on-policy htd is td": ("htd", {"on_policy": True}, "td", {"on_policy": True}),
    "on-policy emphatic htd is etd": ("emphatic-htd", {"on_policy": True}, "etd", {"on_policy": True}),
    "on-policy alternative life is td": ("alternative-life-td", {"on_policy": True}, "td", {"on_policy": True}),
    "on-policy alternative-life gtd is gtd": ("alternative-life-gtd", {"on_policy": True}, "gtd", {"on_policy": True}),
    "v-trace without clips is td": ("v-trace", {"c_bar": np.inf, "rho_bar": np.inf}, "td", {}),
    "v-trace with lam 0 is td": ("v-trace", {"lam": 0.0, "rho_bar": np.inf}, "td", {"lam": 0.0}),
    "tree backup with lam 0 is td": ("tree-backup", {"lam": 0.0}, "td", {"lam": 0.0}),
    "ab-trace with zeta 0 is td": ("ab-trace", {"lam": 0.0}, "td", {"lam": 0.0}),
    "gradient tree backup with lam 0 is gtd2": ("gradient-tree-backup", {"lam": 0.0}, "gtd2", {"lam": 0.0}),
    "etd without followon is td": ("etd-beta", {"followon_decay": 0.0}, "td", {}),
    "etd with the discount as decay is etd": ("etd-beta", {"followon_decay": 0.7}, "etd", {}),
    "etd with lam 1 is td": ("etd", {"lam": 1.0}, "td", {"lam": 1.0}),
    "emphatic gtd with lam 1 is gtd": ("emphatic-gtd", {"lam": 1.0}, "gtd", {"lam": 1.0}),
    "lam 1 in every state is lam": ("tdc", {"state_lam": np.ones(7)}, "tdc", {}),
    "lam is a product": ("etd", {"state_lam": np.full(7, 0.5), "lam": 0.8}, "etd", {"lam": 0.4}),
}


@pytest.mark.parametrize(("special", "given", "general", "also"), SAME.values(), ids=SAME)
def test_special_cases_coincide_to_the_last_bit(special, given, general, also):
    a, b = learn(special, **given), learn(general, **also)
    assert np.isfinite(a.weights).all()
    np.testing.assert_array_equal(a.weights, b.weights)
    plain = learn(general, **{k: v for k, v in also.items() if k == "on_policy"}, lam=0.123)
    assert not np.array_equal(plain.weights, b.weights)  # it does learn


def test_corrections_that_matter_change_the_weights():
    """The identities above are not there because a hyperparameter is ignored."""
    td = learn("td").weights
    for name in ("tdc", "htd", "tree-backup", "ab-trace", "etd", "alternative-life-td"):
        assert not np.array_equal(learn(name).weights, td)
    assert not np.array_equal(learn("v-trace", c_bar=1.0, rho_bar=np.inf).weights, td)
    assert not np.array_equal(learn("v-trace", c_bar=1e9, rho_bar=1.0).weights, td)
    assert not np.array_equal(learn("td", state_lam=STATE_LAM).weights, td)
    assert not np.array_equal(learn("tdrc").weights, learn("tdc").weights)
    assert not np.array_equal(learn("etd-beta", followon_decay=0.5).weights, learn("etd").weights)


def test_td_does_not_mind_a_followon_that_overflows():
    """Only emphatic methods look at F: where the log follows the target, it doubles with every transition."""
    n = 301
    x = np.random.default_rng(1).standard_normal((n, 3))
    log = mdp.Log(x, np.ones(n), np.full(n, 0.5), target=np.ones(n), behavior=np.full(n, 0.25))
    twice = mdp.Log(x, np.ones(n), np.full(n, 0.5), target=np.full(n, 0.5), behavior=np.full(n, 0.5))
    assert np.isfinite(gpbe.predict(twice, "td", step_size=0.04).weights).all()
    a, b = gpbe.predict(log, "td", step_size=0.01), gpbe.predict(twice, "td", step_size=0.04)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-5)
