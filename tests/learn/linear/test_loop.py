"""Learning with every linear algorithm: where it ends up, and which algorithms are the same one."""

import os
import platform
import subprocess
import sys
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import gpbe
from gpbe import linalg, mdp
from gpbe.algorithms.linear import ALGORITHMS, DIRECTIONS, Limits, Step, expected_system, find
from gpbe.algorithms.linear.least_squares import accumulate, trace_sequence
from helpers.linear_cases import C_BAR, DECAY, LAM, fixed_point, problem_of
from helpers.samples import few
from helpers.seeds import seed

MODEST = 0.4
"""A trace parameter with which even prior corrections have a modest variance."""


@cache
def easy_problem(on_policy: bool = False) -> mdp.PredictionProblem:
    """Well conditioned, and the fixed points under d_b, m and d_pi lie apart (seven states, five actions)."""
    rng = np.random.default_rng(156)
    m = mdp.random_mdp(7, 5, 3, gamma=0.7, rng=rng, termination=0.25)
    target = rng.dirichlet(np.full(5, 0.3), 7)
    behavior = target if on_policy else 0.6 * target + 0.4 / 5
    x = np.linalg.qr(rng.standard_normal((7, 3)))[0] * np.sqrt(7)
    return mdp.PredictionProblem(m, target, behavior, x)


@cache
def long_log(on_policy: bool = False) -> mdp.Log:
    return mdp.Log.simulate(easy_problem(on_policy), 4001, seed=seed(3))


KINDS = ("td", "tdrc", "etd", "tree-backup", "lstd")
"""One of each kind of prior correction and bootstrapping, and both ways to learn."""


def learn(algorithm: str, source: mdp.Log | mdp.PredictionProblem, steps: int = 501, runs: int = 1, **given):
    """Final weights of each run, with a step size that falls as 1 / t."""
    given = {"lam": MODEST} | given
    if find(algorithm).update != "least-squares":
        given = {"step_size": 0.02, "power": 1.0, "delay": 200.0} | given
    n = {"steps": len(source)} if isinstance(source, mdp.Log) else {"steps": steps, "runs": runs}
    common = {"every": n["steps"], "metrics": (), "initial_weights": [3, 3, 3], "seed": seed(5)}
    result = gpbe.predict(source, algorithm, **n, **common, **given)
    assert (result.diverged_at == -1).all()
    return result.weights


@pytest.mark.learning
@pytest.mark.parametrize("name", few((name for name, a in ALGORITHMS.items() if not a.finite_sum), KINDS))
def test_learning_converges_to_the_algorithms_own_fixed_point(name):
    """The median of 64 runs does, to four standard errors and what little is left of the start.

    In any case to less than what separates the fixed points of different weightings. Means would not do: products of
    ratios have tails so heavy that one run in some hundreds is far away.
    """
    problem, runs, apart = easy_problem(), 64, 0.1
    by_weighting = [fixed_point(problem, other, MODEST) for other in ("td", "etd", "alternative-life-td")]
    assert min(np.linalg.norm(a - b) for a, b in combinations(by_weighting, 2)) > apart
    assert min(np.linalg.norm(a - [3, 3, 3]) for a in by_weighting) > 4
    given = {"v-trace": {"c_bar": C_BAR, "rho_bar": 1.0}, "etd-beta": {"followon_decay": DECAY}}.get(name, {})
    A, b, _ = expected_system(problem, name, MODEST, Limits(**given))
    own = np.linalg.solve(A, b)
    if find(name).bootstrapping == "importance" and name != "etd-beta":
        np.testing.assert_allclose(own, fixed_point(problem, name, MODEST), atol=1e-9)
    steps = 10_000
    if find(name).prior == "alternative-life" and find(name).update != "least-squares":
        given, steps = {"step_size": 0.005, "delay": 1600.0}, 40_000  # shorter, since few products of ratios are large
    learned = learn(name, problem, steps, runs, **given)
    middle = np.median(learned, axis=0)
    spread = 1.48 * np.median(np.abs(learned - middle), axis=0)  # of normal numbers, the standard deviation
    allowed = 4 * 1.25 * np.linalg.norm(spread) / np.sqrt(runs) + 0.03
    assert np.linalg.norm(middle - own) < min(allowed, apart)


@pytest.mark.learning
@pytest.mark.parametrize("name", few((name for name, a in ALGORITHMS.items() if a.finite_sum), ("svrg",)))
def test_finite_sum_methods_solve_the_data_set(name):
    """Noise of single terms vanishes: the solution of the data set, not a cloud around it."""
    log = mdp.Log.simulate(easy_problem(), 201, seed=2)
    A, b, C = accumulate(log, name, MODEST)
    # Over the data, the mean direction is that of the saddlepoint problem: not only in expectation, as for GTD2.
    w, h = np.random.default_rng(6).standard_normal((2, 3))
    t = trace_sequence(log, name, MODEST)
    steps = [
        Step(*row)
        for row in zip(
            log.features, log.next_features, log.reward, log.discount, t.rho, t.lam, t.e, t.emphasis, strict=True
        )
    ]
    terms = [DIRECTIONS["finite-sum"](step, w, h) for step in steps]
    for mean, expected in zip(np.mean(terms, axis=0), (A.T @ h, b - A @ w - C @ h), strict=True):
        np.testing.assert_allclose(mean, expected, atol=1e-12)

    solution = np.linalg.solve(A, b)
    result = gpbe.predict(log, name, step_size=0.03, epochs=100, every=201, lam=MODEST, metrics=(), seed=seed())
    np.testing.assert_allclose(result.weights[0], solution, atol=1e-4 * np.linalg.norm(solution))
    true = fixed_point(easy_problem(), name, MODEST)
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


AGREE, ONES, HALF = {"on_policy": True}, {"state_lam": np.ones(7)}, {"state_lam": np.full(7, 0.5)}
SAME = {
    "gtd is tdc": ("gtd", {}, "tdc", {}),
    "tdrc with beta 0 is tdc": ("tdrc", {"beta": 0.0}, "tdc", {}),
    "huber tdc without a bound is tdc": ("huber-tdc", {"huber": np.inf}, "tdc", {}),
    "huber gtd2 without a bound is gtd2": ("huber-gtd2", {"huber": np.inf}, "gtd2", {}),
    "tdc with lam 1 is td": ("tdc", {"lam": 1.0}, "td", {"lam": 1.0}),
    "v-trace without clips is td": ("v-trace", {"c_bar": np.inf, "rho_bar": np.inf}, "td", {}),
    "v-trace with lam 0 is td": ("v-trace", {"lam": 0.0, "rho_bar": np.inf}, "td", {"lam": 0.0}),
    "tree backup with lam 0 is td": ("tree-backup", {"lam": 0.0}, "td", {"lam": 0.0}),
    "ab-trace with zeta 0 is td": ("ab-trace", {"lam": 0.0}, "td", {"lam": 0.0}),
    "gradient tree backup with lam 0 is gtd2": ("gradient-tree-backup", {"lam": 0.0}, "gtd2", {"lam": 0.0}),
    "etd without followon is td": ("etd-beta", {"followon_decay": 0.0}, "td", {}),
    "etd with the discount as decay is etd": ("etd-beta", {"followon_decay": 0.7}, "etd", {}),
    "etd with lam 1 is td": ("etd", {"lam": 1.0}, "td", {"lam": 1.0}),
    "emphatic gtd with lam 1 is gtd": ("emphatic-gtd", {"lam": 1.0}, "gtd", {"lam": 1.0}),
    "on-policy htd is td": ("htd", AGREE, "td", AGREE),
    "on-policy emphatic htd is etd": ("emphatic-htd", AGREE, "etd", AGREE),
    "on-policy alternative life is td": ("alternative-life-td", AGREE, "td", AGREE),
    "on-policy alternative-life gtd is gtd": ("alternative-life-gtd", AGREE, "gtd", AGREE),
    "lam in every state is lam": ("etd", {"lam": 0.8} | ONES, "etd", {"lam": 0.8}),
    "lam is a product": ("etd", {"lam": 0.8} | HALF, "etd", {"lam": 0.4} | ONES),
}


def pair(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the special case and of the general one, from the same transitions."""
    special, given, general, also = SAME[name]
    if "state_lam" in given:  # which a log cannot have
        return learn(special, easy_problem(), **given), learn(general, easy_problem(), **also)
    log = long_log("on_policy" in given)
    return tuple(
        learn(algorithm, log, **{k: v for k, v in options.items() if k != "on_policy"})
        for algorithm, options in ((special, given), (general, also))
    )


@pytest.mark.learning
@pytest.mark.parametrize("name", SAME)
def test_special_cases_coincide(name):
    """But for the last few bits: of products that are added, XLA fuses one, unrounded, and which one depends on the
    rest of the program. Learning forgets the roundings of long ago.
    """
    special, general = pair(name)
    np.testing.assert_allclose(special, general, rtol=1e-5)


@pytest.mark.slow
def test_special_cases_coincide_to_the_last_bit_without_fused_multiply_add():
    """In a process of its own: instruction sets are chosen when JAX starts, and AVX has no fused multiply-add."""
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("AVX is an instruction set of x86")
    code = "import test_loop as t; print([n for n in t.SAME if not t.np.array_equal(*t.pair(n))])"
    # First, since XLA reads no further than to a word that does not begin with a dash.
    flags = f"--xla_cpu_max_isa=AVX {os.environ.get('XLA_FLAGS', '')}"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env=os.environ | {"XLA_FLAGS": flags, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "[]", run.stdout + run.stderr


@pytest.mark.learning
def test_corrections_that_matter_change_the_weights():
    """The identities above do not hold because something is ignored."""
    log = long_log()
    td = learn("td", log)
    others = [learn(name, log) for name in ("tdc", "htd", "tree-backup", "ab-trace", "etd", "alternative-life-td")]
    others += [learn("v-trace", log, c_bar=1.0, rho_bar=np.inf), learn("v-trace", log, c_bar=1e9, rho_bar=1.0)]
    others += [learn("tdrc", log), learn("etd-beta", log, followon_decay=0.5), td, learn("td", log, lam=0.0)]
    assert min(np.abs(a - b).max() for a, b in combinations(others, 2)) > 1e-5


def test_td_does_not_mind_a_followon_that_overflows():
    """Only emphatic methods look at F: where the log follows the target, it doubles with every transition."""
    n = 301
    x = np.random.default_rng(1).standard_normal((n, 3))
    log = mdp.Log(x, np.ones(n), np.full(n, 0.5), target=np.ones(n), behavior=np.full(n, 0.25))
    twice = mdp.Log(x, np.ones(n), np.full(n, 0.5), target=np.full(n, 0.5), behavior=np.full(n, 0.5))
    assert np.isfinite(gpbe.predict(twice, "td", step_size=0.04).weights).all()
    a, b = gpbe.predict(log, "td", step_size=0.01), gpbe.predict(twice, "td", step_size=0.04)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-5)


@pytest.mark.parametrize("algorithm", ["alternative-life-td", "etd"])
def test_an_episode_that_overflows_does_not_spoil_the_next(algorithm):
    """Six hundred ratios of 4 are beyond 64-bit floats; the traces of the next episode do not remember them."""
    long, n = 600, 640
    x = np.random.default_rng(2).standard_normal((n, 3))
    behavior = np.where(np.arange(n) < long, 0.25, 0.5)
    discount = np.where(np.arange(n) == long - 1, 0.0, 0.9)
    both = mdp.Log(x, np.ones(n), discount, np.ones(n), behavior)
    alone = mdp.Log(x[long:], np.ones(n - long), discount[long:], np.ones(n - long), behavior[long:])
    with np.errstate(all="ignore"):
        e = trace_sequence(both, algorithm, lam=0.5).e
    assert not np.isfinite(e[long - 1]).all()
    np.testing.assert_allclose(e[long:], trace_sequence(alone, algorithm, lam=0.5).e, rtol=1e-12)


def test_lstd_without_a_ridge_says_where_it_has_no_solution():
    """After one transition the sum has rank 1; after many it is regular, and the record stays."""
    log = mdp.Log(np.eye(3)[[0, 1, 2] * 5], np.ones(15), np.full(15, 0.5), np.ones(15), np.ones(15))
    assert gpbe.predict(log, "lstd", ridge=0.0, metrics=(), every=1).diverged_at.tolist() == [1]
    assert gpbe.predict(log, "lstd", ridge=1e-3, metrics=(), every=1).diverged_at.tolist() == [-1]
