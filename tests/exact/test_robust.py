"""Robust losses: closed forms, an independent convex solver, the limits on both sides, what a certificate says."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from scipy import optimize

from gpbe import InputError, exact, mdp
from gpbe.exact.bounded import bounded_maximum
from gpbe.exact.conjugates import within
from helpers.reference import a_case, regression, td_moments
from helpers.strategies import NARROW, prediction_problems, quick, random_problem, random_weighting, seeds, stack

VALUED = prediction_problems()
SOLVED = prediction_problems(representations=NARROW)


def losses(problem, v, d, tau):
    """The Huber and the absolute Bellman error, as sums over states of the definitions."""
    e = np.abs(td_moments(problem, v)[0])
    huber = sum(w * (x**2 if x <= tau else tau * (2 * x - tau)) for w, x in zip(d, e, strict=True))
    return huber, (d * e).sum()


# ---------------------------------------------------------------- values


@quick
@given(make=VALUED, seed=seeds)
def test_with_every_function_in_h_both_are_means_of_functions_of_the_bellman_error(make, seed):
    problem, rng, v, d, _ = a_case(make, seed)
    tau, every = rng.uniform(0.05, 2), np.eye(problem.mdp.n_states)
    huber, absolute = losses(problem, v, d, tau)
    assert exact.huber_bellman_error(problem, v, d, tau) == pytest.approx(huber)
    assert exact.absolute_bellman_error(problem, v, d) == pytest.approx(absolute)
    assert exact.huber_projected_bellman_error(problem, v, d, tau, every) == pytest.approx(huber, abs=1e-10)
    assert exact.absolute_projected_bellman_error(problem, v, d, every) == pytest.approx(absolute, abs=1e-10)
    best = exact.bounded_h(problem, v, d, tau, every).h
    np.testing.assert_allclose(best, np.clip(td_moments(problem, v)[0], -tau, tau), atol=1e-5)


@quick
@given(make=VALUED, seed=seeds)
def test_the_maximum_is_attained_by_a_bounded_h_in_h_and_no_other_attains_more(make, seed):
    problem, rng, v, d, phi = a_case(make, seed)
    for tau in (0.0, rng.uniform(0.05, 2)):
        h, weights, error, gap = exact.bounded_h(problem, v, d, tau, phi)
        np.testing.assert_allclose(phi @ weights, h, atol=1e-9)
        assert np.abs(h).max() <= (tau or 1) * (1 + 1e-12)
        attained = exact.conjugate(problem, v, d, h) if tau else (d * h * td_moments(problem, v)[0]).sum()
        assert error == pytest.approx(attained, abs=1e-9)
        assert 0 <= gap < 1e-9
        for _ in range(20):
            other = phi @ (weights + rng.standard_normal(phi.shape[1]) * rng.choice([1e-3, 0.1, 1]))
            other *= min(1, (tau or 1) / np.abs(other).max())
            less = exact.conjugate(problem, v, d, other) if tau else (d * other * td_moments(problem, v)[0]).sum()
            assert less <= error + gap + 1e-12


@quick
@given(make=VALUED, seed=seeds)
def test_a_wide_threshold_leaves_the_pbe_and_a_narrow_one_the_absolute_pbe(make, seed):
    problem, _, v, d, phi = a_case(make, seed)
    pbe = exact.projected_bellman_error(problem, v, d, phi)
    widest = np.abs(regression(td_moments(problem, v)[0], phi, d)).max()
    assert exact.huber_projected_bellman_error(problem, v, d, 1.01 * widest, phi) == pytest.approx(pbe)
    assert exact.huber_projected_bellman_error(problem, v, d, 0.9 * widest, phi) < pbe
    # <g, delta> - tau/2 <g, g> with |g| <= 1 is within tau/2 <1, 1> of <g, delta>.
    absolute, tau = exact.absolute_projected_bellman_error(problem, v, d, phi), 1e-4 * widest
    short = absolute - exact.huber_projected_bellman_error(problem, v, d, tau, phi) / (2 * tau)
    assert -1e-9 <= short <= tau / 2 * d.sum() + 1e-9


def test_the_clipped_projection_attains_less_than_the_bounded_h():
    """In a small H the maximizer is not the projection clipped, nor scaled down to the bound."""
    problem, d = random_problem(3, states=6, representation="random", columns=4), np.full(6, 1 / 6)
    v = np.random.default_rng(0).standard_normal(6)
    phi, tau = problem.features, 0.2
    free = exact.maximizing_h(problem, v, d).h
    best, _, error, _ = exact.bounded_h(problem, v, d, tau)
    assert np.abs(free).max() > 2 * tau
    scaled = free * tau / np.abs(free).max()
    assert exact.conjugate(problem, v, d, scaled) < 0.99 * error
    outside = np.clip(free, -tau, tau)
    assert np.abs(outside - regression(outside, phi, d)).max() > 0.01  # not in H at all
    assert np.abs(best - outside).max() > 0.01


# ---------------------------------------------------------------- minimizers


def outlier_program(problem, d, phi, tau):
    """The minimum over w, u of ||Pi (r - L w - u)||^2 + 2 tau <d, |u|>, with u = p - q for p, q >= 0.

    It is another program than the library's, in which w is no variable.
    """
    n, k = problem.features.shape
    change = problem.bellman_matrix @ problem.features
    onto = np.stack([regression(e, phi, d) for e in np.eye(n)], 1)
    rows = np.sqrt(d)[:, None] * onto @ np.hstack([change, np.eye(n), -np.eye(n)])
    target = np.sqrt(d) * (onto @ problem.expected_reward)
    cost = np.concatenate([np.zeros(k), 2 * tau * d, 2 * tau * d])
    bounds = [(None, None)] * k + [(0, None)] * (2 * n)
    found = optimize.minimize(
        lambda x: ((rows @ x - target) ** 2).sum() + cost @ x,
        np.zeros(k + 2 * n),
        jac=lambda x: 2 * rows.T @ (rows @ x - target) + cost,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10},
    )
    return found.fun


@quick
@given(make=SOLVED, seed=seeds)
def test_the_huber_minimum_is_that_of_an_independent_solver(make, seed):
    problem, rng, _, d, phi = a_case(make, seed)
    tau = rng.uniform(0.01, 0.5)
    found = exact.robust_solution(problem, "hpbe", d, huber=tau, projection=phi)
    assert 0 <= found.gap < 1e-9
    assert found.error == pytest.approx(outlier_program(problem, d, phi, tau), abs=1e-6)
    assert exact.huber_projected_bellman_error(problem, found.values, d, tau, phi) == pytest.approx(
        found.error, abs=1e-8
    )


@quick
@given(make=SOLVED, seed=seeds)
def test_the_absolute_minimum_is_a_linear_program(make, seed):
    """For every function in H: min <d, t> with -t <= r - L w <= t, by HiGHS."""
    problem, _, _, d, _ = a_case(make, seed)
    n, k = problem.features.shape
    change = problem.bellman_matrix @ problem.features
    program = optimize.linprog(
        np.concatenate([np.zeros(k), d]),
        A_ub=np.block([[change, -np.eye(n)], [-change, -np.eye(n)]]),
        b_ub=np.concatenate([problem.expected_reward, -problem.expected_reward]),
        bounds=[(None, None)] * k + [(0, None)] * n,
    )
    found = exact.robust_solution(problem, "abe", d)
    assert 0 <= found.gap < 1e-9
    assert found.error == pytest.approx(program.fun, abs=1e-9)
    assert exact.absolute_bellman_error(problem, found.values, d) == pytest.approx(found.error, abs=1e-8)


@quick
@given(make=SOLVED, seed=seeds)
def test_minimizers_go_from_that_of_the_absolute_error_to_that_of_the_squared_one(make, seed):
    problem, _, _, d, phi = a_case(make, seed)
    squared = exact.solution(problem, "pbe", d, projection=phi)
    h = exact.maximizing_h(problem, squared.values, d, phi).h
    wide = exact.robust_solution(problem, "hpbe", d, huber=2 * np.abs(h).max() + 0.1, projection=phi)
    np.testing.assert_allclose(wide.weights, squared.weights, atol=1e-8 * (1 + np.abs(squared.weights).max()))
    # |HPBE / (2 tau) - APBE| <= tau/2 <1, 1> everywhere, hence for the minima too.
    absolute = exact.robust_solution(problem, "apbe", d, projection=phi).error
    for tau in (0.1, 0.001):
        narrow = exact.robust_solution(problem, "hpbe", d, huber=tau, projection=phi).error / (2 * tau)
        assert absolute - tau / 2 * d.sum() - 1e-9 <= narrow <= absolute + 1e-9


@quick
@given(make=SOLVED, seed=seeds)
def test_a_solution_is_a_saddlepoint(make, seed):
    """h is orthogonal to (I - P) x, so w has nowhere to go, and it is the best bounded h of these values.

    What is taken out of the Bellman error has the sign of h, and is nothing where |h| is below the threshold.
    """
    problem, rng, _, d, phi = a_case(make, seed)
    tau = rng.uniform(0.01, 0.3)
    found = exact.robust_solution(problem, "hpbe", d, huber=tau, projection=phi, lam=0.3)
    left = np.linalg.inv(np.eye(len(d)) - 0.3 * problem.discounted_transition)
    change = left @ problem.bellman_matrix @ problem.features
    np.testing.assert_allclose(change.T @ (d * found.h), 0, atol=1e-9 * (1 + np.abs(change).max()))
    best = exact.bounded_h(problem, found.values, d, tau, phi, lam=0.3)
    np.testing.assert_allclose(best.h, found.h, atol=1e-4)
    assert (found.outliers * found.h >= -1e-6).all()
    np.testing.assert_allclose(found.outliers[np.abs(found.h) < 0.9 * tau], 0, atol=1e-6)


@quick
@given(make=prediction_problems(representations=("random",), kinds=("continuing",), policies=("on-policy",)))
def test_with_h_in_f_the_minimum_is_the_td_fixed_point_at_any_threshold(make):
    """There E[delta x] = 0: no h in F sees an error, so there is none to be robust against."""
    problem = make()
    td = exact.fixed_point(problem, "pbe", "behavior")
    for objective, options in (("hpbe", {"huber": 1e-3}), ("hpbe", {"huber": 10.0}), ("apbe", {})):
        found = exact.robust_solution(problem, objective, "behavior", **options)
        np.testing.assert_allclose(found.weights, td, atol=1e-7 * (1 + np.abs(td).max()))
        assert found.error < 1e-10


def test_an_outlier_pulls_squared_errors_without_end_and_robust_ones_so_far_only():
    """One state's reward grows: the BE's minimizer moves in proportion, those of Huber and absolute errors stop."""
    problem = random_problem(8, states=7, kind="continuing", policies="on-policy", representation="random", columns=2)
    d = np.full(7, 1 / 7)

    def moved(objective, size, **options):
        m = problem.mdp
        reward = np.array(m.reward)
        reward[3] += size
        other = problem.replace(mdp=mdp.FiniteMDP(m.transition, reward, m.discount, m.start))
        start = exact.fixed_point(problem, objective, d, **options)
        return np.linalg.norm(exact.fixed_point(other, objective, d, **options) - start)

    assert moved("be", 1e4) == pytest.approx(100 * moved("be", 100), rel=1e-6)
    for objective, options in (("hbe", {"huber": 0.1}), ("abe", {})):
        assert moved(objective, 1e4, **options) == pytest.approx(moved(objective, 100, **options), rel=1e-4)
        assert moved(objective, 1e4, **options) < 0.01 * moved("be", 1e4)


# ---------------------------------------------------------------- certificates, edges, mistakes


def test_the_certificate_can_fail():
    """The bounds of a point that is not optimal lie apart: they are computed from it, not assumed."""
    problem = random_problem(5, states=6, representation="random", columns=2)
    d = random_weighting(np.random.default_rng(1), 6)
    phi = np.random.default_rng(2).standard_normal((6, 4))
    space = within(phi, d)
    c = space.onto @ exact.expected_td_error(problem, np.ones(6))
    z, multipliers = bounded_maximum(space.basis, c, 0.05)
    lower, upper = space.bounds(c, z, multipliers, 0.05)
    assert upper - lower < 1e-10
    truth = exact.huber_projected_bellman_error(problem, np.ones(6), d, 0.05, phi)
    for wrong in ((0.9 * z, multipliers), (z, 0.9 * multipliers), (-z, multipliers)):
        low, high = space.bounds(c, *wrong, 0.05)
        assert low <= truth + 1e-12
        assert high >= truth - 1e-12
        assert high - low > 1e-3 * truth


def test_states_without_weight_bound_nothing():
    problem = random_problem(2, states=5, representation="random", columns=2)
    v, d = np.ones(5), np.array([0.2, 0.0, 0.3, 0.5, 0.0])
    seen, phi = d > 0, np.random.default_rng(0).standard_normal((5, 2))
    phi[~seen] *= 1e4
    found = exact.bounded_h(problem, v, d, 0.1, phi)
    assert np.abs(found.h[seen]).max() == pytest.approx(0.1)
    assert np.abs(found.h[~seen]).max() > 1
    np.testing.assert_allclose(found.h, phi @ found.weights, rtol=1e-9)


def test_closed_forms_take_batches_and_grow_with_the_threshold():
    problems = [random_problem(seed, states=5, representation="table", kind="continuing") for seed in (1, 2, 3)]
    v = np.random.default_rng(0).standard_normal((3, 5))
    d, many = np.full(5, 0.2), stack(problems)
    each = [exact.huber_bellman_error(p, u, d, 0.4) for p, u in zip(problems, v, strict=True)]
    np.testing.assert_allclose(exact.huber_bellman_error(many, v, d, 0.4), each)
    grown = [exact.huber_bellman_error(problems[0], v[0], d, tau) for tau in (0.1, 0.5, 2.0, 100.0)]
    assert all(a < b for a, b in pairwise(grown[:3]))
    assert grown[-1] == pytest.approx(exact.bellman_error(problems[0], v[0], d))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda p: exact.fixed_point(p, "hbee", "behavior"), "there is no objective 'hbee'; did you mean 'hbe'"),
        (lambda p: exact.fixed_point(p, "hbe", "behavior"), "'hbe' needs huber, the error beyond which"),
        (
            lambda p: exact.fixed_point(p, "abe", "behavior", huber=1.0),
            "'abe' does not depend on 'huber'; it takes lam",
        ),
        (lambda p: exact.fixed_point(p, "hbe", "behavior", np.eye(4), huber=1.0), "does not depend on 'projection'"),
        (
            lambda p: exact.fixed_point(p, "hpbe", "behavior", huber=0.0),
            "huber is 0.0; it should be one number above 0",
        ),
        (lambda p: exact.huber_bellman_error(p, np.zeros(4), "behavior", -1.0), "huber is -1.0; it should be one"),
        (
            lambda p: exact.robust_solution(p, "pbe", "behavior"),
            "there is no robust objective 'pbe'; did you mean 'hpbe'",
        ),
        (
            lambda p: exact.huber_projected_bellman_error(p, np.zeros(4), np.ones((2, 4)), 1.0),
            "one convex program a problem; give one problem, not a batch",
        ),
    ],
)
def test_mistakes_get_one_line(wrong, message):
    with pytest.raises(InputError, match=message) as error:
        wrong(mdp.aliased())
    assert "\n" not in str(error.value)
