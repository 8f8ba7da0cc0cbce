"""Second moments of corrections, against closed forms and long simulations."""

import numpy as np
import pytest

from gpbe import exact, mdp
from helpers.sparse import as_sparse
from helpers.strategies import random_problem


def two_actions(rho: float, gamma: float) -> mdp.PredictionProblem:
    """One state; the target takes the first action, the behavior takes it with probability 1 / rho."""
    m = mdp.FiniteMDP(np.ones((1, 2, 1)), 0.0, gamma)
    return mdp.PredictionProblem(m, [1, 0], [1 / rho, 1 - 1 / rho])


@pytest.mark.parametrize("form", [lambda p: p, as_sparse])
@pytest.mark.parametrize(("rho", "gamma"), [(1.0, 0.9), (2.0, 0.5), (3.0, 0.57)])
def test_one_state_by_hand(rho, gamma, form):
    """F = 1 + gamma rho F with E[rho] = 1 and E[rho^2] = rho: q = (1 + 2 gamma f) / (1 - gamma^2 rho)."""
    problem = form(two_actions(rho, gamma))
    f = 1 / (1 - gamma)
    q = (1 + 2 * gamma * f) / (1 - gamma**2 * rho)
    assert exact.followon_variance(problem) == pytest.approx([q - f**2])
    assert exact.followon_spread(problem) == pytest.approx((f, max(q - f**2, 0) ** 0.5))


@pytest.mark.parametrize("form", [lambda p: p, as_sparse])
def test_it_is_infinite_exactly_from_the_edge_on(form):
    for gamma, finite in ((0.70, True), (0.72, False)):  # gamma^2 rho = 1 at 0.7071
        problem = form(two_actions(2.0, gamma))
        assert exact.samples_vary_finitely(problem, "emphatic") == finite
        assert np.isfinite(exact.followon_variance(problem)).all() == finite
        assert exact.samples_vary_finitely(problem, "behavior", lam=0.9)


def test_a_long_simulation_has_these_moments():
    problem = random_problem(8, states=4, kind="episodic")
    problem = problem.replace(behavior=0.5 * problem.target + 0.5 / 3)
    t = mdp.simulate(problem.mdp, problem.behavior, steps=2000, runs=200, seed=1)
    rho = problem.ratios[t.state, t.action]
    f, found = np.ones(200), np.empty((1900, 200))
    for i in range(1999):
        f = 1 + t.discount[:, i] * rho[:, i] * f
        if i >= 99:
            found[i - 99] = f
    spread = exact.followon_spread(problem)
    per_run = found.mean(0)
    error = per_run.std(ddof=1) / 200**0.5
    assert abs(per_run.mean() - spread.mean) < 5 * error
    squares = (found**2).mean(0)
    second = spread.mean**2 + spread.deviation**2
    assert abs(squares.mean() - second) < 5 * squares.std(ddof=1) / 200**0.5


def test_a_diagnosis_warns_of_what_explodes():
    diagnosis = exact.diagnose(mdp.baird())
    assert diagnosis.finite_variance == {"behavior": True, "target": False, "emphatic": False}
    assert any("variance of its followon is infinite" in warning for warning in diagnosis.warnings)
    assert "Warning: emphatic TD converges in expectation" in " ".join(str(diagnosis).split())
    assert not exact.diagnose(mdp.boyan()).warnings
    assert diagnosis.as_dict()["followon"] == {"mean": pytest.approx(100), "deviation": None}


def test_a_difference_in_the_fourth_digit_recommends_nothing():
    """TD's error is a hair above the best, and the emphatic one half of that hair: nothing to choose between."""
    rng = np.random.default_rng(0)
    for seed in range(40):
        problem = random_problem(seed, states=6, kind="continuing", columns=5)
        problem = problem.replace(behavior=0.98 * problem.target + 0.02 / 3, features=rng.standard_normal((6, 5)))
        diagnosis = exact.diagnose(problem)
        errors = [diagnosis.finding("pbe", w).error_behavior for w in ("behavior", "emphatic")]
        if diagnosis.recommendation[0].startswith("emphatic"):
            assert errors[1] < 0.99 * errors[0]
