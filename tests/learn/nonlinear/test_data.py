"""Learning with networks from recorded transitions: where returns end in a log, and what is measured there."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe import mdp
from gpbe.learn.nonlinear.data import longest
from gpbe.learn.nonlinear.metrics import measure_log
from gpbe.summary import standard_error
from helpers.samples import few
from helpers.seeds import seed

K, ALPHA = 3, 0.5
FIRST = np.array([0.4, -0.7, 0.2])


class Line(eqx.Module):
    w: jax.Array

    def __call__(self, x):
        return self.w @ x


def line(key):
    return Line(jnp.asarray(FIRST, jnp.float32))


def broken() -> mdp.Log:
    """An episode of four rows that ends, three of one that a time limit cuts off, and two of one that goes on."""
    rng = np.random.default_rng(3)
    x = [rng.standard_normal((rows + 1, K)) for rows in (4, 3, 2)]
    discount = np.array([0.9, 0.8, 1.0, 0.0, 0.7, 0.9, 0.95, 0.8, 0.9])
    behavior = rng.uniform(0.3, 0.9, 9)
    features, after = np.concatenate([a[:-1] for a in x]), np.concatenate([a[1:] for a in x])
    return mdp.Log(features, rng.standard_normal(9), discount, rng.uniform(0.2, 0.9, 9), behavior, after)


PIECES = {0: 4, 1: 4, 2: 4, 3: 4, 4: 7, 5: 7, 6: 7, 7: 9, 8: 9}
"""The row after the last of each row's piece."""


def by_hand(log: mdp.Log, prior: str, n: int, lam: np.ndarray) -> np.ndarray:
    """The mean of M Delta x over windows that end after n rows or with their piece, from the recursive definition."""
    rho, v, after = log.target / log.behavior, log.features @ FIRST, log.next_features @ FIRST

    def error(k: int, left: int) -> float:
        last = left == 1 or k + 1 == PIECES[k]
        more = 0.0 if last or log.discount[k] == 0 else lam[k] * error(k + 1, left - 1)
        return rho[k] * (log.reward[k] + log.discount[k] * (after[k] + more) - v[k])

    weight = np.ones(9)
    for t in range(9):
        for j in range(max(0, t - n), t):
            if PIECES[j] == PIECES[t] and prior == "emphatic":  # how much the window from j bootstraps from S_t
                b = weight[j] * np.prod(rho[j:t] * log.discount[j:t]) * np.prod(lam[j : t - 1])
                weight[t] += b * (1.0 if t - j == n else 1 - lam[t - 1])
        if prior == "alternative-life" and t and PIECES[t - 1] == PIECES[t]:
            weight[t] = rho[t - 1] * weight[t - 1]
    return np.mean([weight[t] * error(t, n) * log.features[t] for t in range(9)], axis=0)


WINDOWS = [("", 3, 1.0), ("emphatic-", 2, 0.6), ("alternative-life-", "episode", 0.8)]


@pytest.mark.parametrize(("prior", "n", "lam"), few(WINDOWS, ("emphatic-",)))
def test_one_update_from_a_whole_log_is_the_mean_over_its_windows(prior, n, lam):
    """Nine rows in a batch of nine: the first update is the last. TDC's h begins at 0 and moves by the same mean."""
    log, by_row = broken(), np.linspace(0.5, 1, 9)
    given = {"n": n, "lam": lam, "state_lam": by_row, "step_size": ALPHA}
    result = gpbe.predict(log, f"{prior}tdc", net=line, batch=9, every=9, **given)
    move = by_hand(log, prior.removesuffix("-"), 9 if n == "episode" else n, lam * by_row)
    np.testing.assert_allclose(result.weights[0, :K], FIRST + ALPHA * move, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(result.weights[0, K:], ALPHA * move, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_log_of_a_problem_is_learned_from_as_the_problem_is():
    rng = np.random.default_rng(0)
    m = mdp.random_mdp(7, 3, 3, 0.9, rng=rng, termination=0.2)
    target, behavior = rng.dirichlet(np.ones(3), 7), rng.dirichlet(3 * np.ones(3), 7)
    p = mdp.PredictionProblem(m, target, behavior, rng.standard_normal((7, K)))
    given = {"net": line, "n": 3, "lam": 0.7, "step_size": 0.05, "seed": 2}
    log = mdp.Log.simulate(p, steps=22, seed=2)
    direct = gpbe.predict(p, "emphatic-td", steps=20, every=10, metrics=("rmsve",), **given)
    logged = gpbe.predict(log, "emphatic-td", every=2, **given)
    states = mdp.simulate(m, behavior, 22, 1, seed=2).state[0]
    np.testing.assert_allclose(logged.values[0, [4, 9], :22], direct.values[0][:, states], rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.learning
def test_a_network_learns_from_a_log():
    """On average over logs, each learned from by another network."""
    left = []
    for number in range(8):
        log = mdp.Log.simulate(mdp.boyan(), steps=600, seed=seed(number))
        result = gpbe.predict(log, "tdrc", net=(8,), n=4, lam=0.8, every=200, step_size=0.02, seed=seed(number))
        assert result.values.shape == (1, 3, 1200)
        left.append(result.curves["rmstde"][0, -1] / result.initial["rmstde"][0])
    assert np.mean(left) < 1 - 4 * standard_error(left)


def test_rows_follow_each_other_within_an_episode_and_not_across_a_break():
    log = broken()
    np.testing.assert_array_equal(log.continues, [1, 1, 1, 0, 1, 1, 0, 1, 0])
    assert longest(log.continues[None]) == 4
    assert longest(np.array([[True, True, False], [False, False, False]])) == 3
    one = mdp.Log([[1.0], [2.0]], [0.0, 1.0], [0.5, 0.5], [1.0, 1.0], [1.0, 1.0])
    np.testing.assert_array_equal(one.continues, [False])


def test_a_logs_errors_are_sums_over_its_rows():
    log, values = broken(), np.random.default_rng(1).standard_normal((2, 18)).astype(np.float32)
    values[1, 3] = np.inf
    rho = log.target / log.behavior
    delta = [log.reward[t] + log.discount[t] * values[0, 9 + t] - values[0, t] for t in range(9)]
    tde = measure_log(log, "rmstde", values)
    assert tde[0] == pytest.approx(np.sqrt(np.mean(rho * np.square(delta))))
    assert np.isinf(tde[1])
    x = log.features
    y, C = x.T @ (rho * delta) / 9, x.T @ x / 9
    assert measure_log(log, "rmsgpbe", values, x)[0] == pytest.approx(np.sqrt(y @ np.linalg.solve(C, y)))
    penalized = np.sqrt(y @ np.linalg.solve(C + np.diag([0.0, 2.0, 0.5]), y))
    assert measure_log(log, "rmsgpbe", values, x, [0.0, 2.0, 0.5])[0] == pytest.approx(penalized)
    everything = measure_log(log, "rmsgpbe", values, np.eye(9))[0]  # every function of the row: all of rho delta
    assert everything == pytest.approx(np.sqrt(np.mean(np.square(rho * delta))))


def test_h_may_be_linear_in_features_given_for_each_row():
    """With the features of v it is the gradient's h, which the other call has."""
    log, given = broken(), {"net": line, "every": 3, "step_size": 0.1, "ratio": 2.0}
    one = gpbe.predict(log, "tdc", basis=log.features, metrics=("rmstde", "rmsgpbe"), **given)
    two = gpbe.predict(log, "tdc", basis="gradient", **given)
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-5, atol=1e-6)
    assert one.curves["rmsgpbe"].shape == (1, 3)


def refuse(log=None, algorithm="tdc", **given):
    return gpbe.predict(broken() if log is None else log, algorithm, **({"net": (4,), "every": 3} | given))


def endless() -> mdp.Log:
    return mdp.Log(np.eye(3), [0.0, 1.0, 0.0], [0.9, 0.9, 0.9], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0])


REFUSED = {
    "runs": (lambda: refuse(runs=2), r"a log is one run; leave runs out"),
    "model": (lambda: refuse(algorithm="double-sampling"), r"needs a model to draw second transitions from"),
    "truth": (lambda: refuse(metrics=("rmsve",)), r"needs every state of a problem, .*; use rmstde or rmsgpbe"),
    "basis": (lambda: refuse(basis=np.eye(8)), r"basis has shape \(8, 8\); .* \(9, features\), a row a transition"),
    "projection": (lambda: refuse(projection=np.ones(9), metrics="rmsgpbe"), r"projection has shape \(9,\)"),
    "weighting": (lambda: refuse(weighting="target"), r"rows of a log count alike in its metrics; leave weighting out"),
    "state_lam": (lambda: refuse(n=2, state_lam=[1.0]), r"state_lam has shape \(1,\); for a log .* each of its rows"),
    "state_lam range": (lambda: refuse(n=2, state_lam=np.full(9, 2.0)), r"state_lam\[row 0\] is 2"),
    "no end": (lambda: refuse(endless(), n="episode", every=1), r"no episode ended in these data"),
    "no episode": (lambda: refuse(endless(), "alternative-life-td", every=1), r"no row of this log ends one"),
    "steps": (lambda: refuse(steps=10), r"steps is 10; the log has 9 transitions"),
    "batch": (lambda: refuse(batch=10), r"batch is 10, but there are 9 steps"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_one_line(case, refuses):
    refuses(*REFUSED[case])
