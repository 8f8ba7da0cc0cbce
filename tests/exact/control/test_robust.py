"""The Huber and the absolute PBE of control: closed forms, limits, finite differences, an independent solver."""

import numpy as np
import pytest
from scipy import optimize

from gpbe import InputError, mdp
from gpbe.exact import control

S, A, K, M, LAM = 5, 3, 4, 6, 0.7


def random_case(projection="random", tau=0.5, seed=0):
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(S, A, 3, 0.9, rng=rng, termination=0.1)
    behavior = rng.dirichlet(np.ones(A), S)
    x, phi = rng.normal(size=(S, A, K)), rng.normal(size=(S, A, M))
    p = control.ControlProblem(m, x, control.visits(m, behavior), phi if projection == "random" else projection, tau)
    return p, behavior, rng.normal(size=K)


def slope(objective, w, step=1e-6):
    return np.array([(objective(w + e) - objective(w - e)) / (2 * step) for e in step * np.eye(len(w))])


@pytest.mark.parametrize("lam", [0.0, LAM])
def test_with_every_function_in_h_it_is_a_mean_of_functions_of_the_errors(lam):
    p, behavior, w = random_case("all")
    u, huber = np.abs(control.tangent(p, w, behavior, lam).errors), 0.8
    assert 0 < (u > huber).sum() < len(u)
    expected = (p.d * np.where(u <= huber, u**2, huber * (2 * u - huber))).sum()
    assert control.huber_projected_error(p, w, huber, behavior, lam) == pytest.approx(expected)
    assert control.huber_projected_error(p, w, 0.0, behavior, lam) == pytest.approx((p.d * u).sum())
    best = control.bounded_h(p, w, huber, behavior, lam)
    np.testing.assert_allclose(best.h, np.clip(control.tangent(p, w, behavior, lam).errors, -huber, huber), atol=1e-6)


@pytest.mark.parametrize("lam", [0.0, LAM])
def test_it_is_the_pbe_for_a_wide_bound_and_the_absolute_one_for_a_narrow_bound(lam):
    p, behavior, w = random_case()
    t = control.tangent(p, w, behavior, lam)
    widest = np.abs(t.best().h).max()
    pbe = control.lambda_projected_error(p, w, behavior, lam)
    assert control.huber_projected_error(p, w, 1.01 * widest, behavior, lam) == pytest.approx(pbe)
    assert control.huber_projected_error(p, w, 0.9 * widest, behavior, lam) < pbe
    np.testing.assert_allclose(
        control.huber_projected_gradient(p, w, 1.01 * widest, behavior, lam),
        control.lambda_projected_gradient(p, w, behavior, lam),
        atol=1e-10,
    )
    # <g, u> - huber/2 <g, g> with |g| <= 1 is within huber/2 of <g, u>, for d adds up to 1.
    huber, absolute = 1e-4, control.huber_projected_error(p, w, 0.0, behavior, lam)
    short = absolute - control.huber_projected_error(p, w, huber, behavior, lam) / (2 * huber)
    assert -1e-9 <= short <= huber / 2 + 1e-9


@pytest.mark.parametrize("lam", [0.0, LAM])
@pytest.mark.parametrize("huber", [0.0, 0.3])
def test_the_maximum_is_that_of_an_independent_solver_and_has_its_gradient(huber, lam):
    """HiGHS for the absolute error, SLSQP for Huber's; and central differences."""
    p, behavior, w = random_case()
    u, phi, bound = control.tangent(p, w, behavior, lam).errors, p.phi, huber or 1.0
    best = control.bounded_h(p, w, huber, behavior, lam)
    assert 0 <= best.gap < 1e-9
    assert np.abs(best.h).max() == pytest.approx(bound)
    both, most = np.concatenate([phi, -phi]), np.full(2 * len(phi), bound)
    if huber == 0:
        program = optimize.linprog(-(p.d * u) @ phi, both, most, bounds=(None, None))
        assert best.error == pytest.approx(-program.fun)
    else:
        found = optimize.minimize(
            lambda c: -(p.d * (2 * u * (phi @ c) - (phi @ c) ** 2)).sum(),
            np.zeros(M),
            jac=lambda c: -2 * (p.d * (u - phi @ c)) @ phi,
            constraints={"type": "ineq", "fun": lambda c: most - both @ c, "jac": lambda c: -both},
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        assert best.error == pytest.approx(-found.fun, abs=1e-7)
    numeric = slope(lambda w: control.huber_projected_error(p, w, huber, behavior, lam), w, step=1e-5)
    np.testing.assert_allclose(control.huber_projected_gradient(p, w, huber, behavior, lam), numeric, atol=2e-5)


def test_points_at_rest_are_minima_and_the_saddlepoint_with_a_bounded_h_stands_still_there():
    """2 U'D h = 0: the mean of h times the gradient of delta. The minimum of the PBE is another."""
    p, behavior, w = random_case("all")
    huber = 0.3
    points = control.huber_stationary_points(p, huber, behavior, LAM, starts=[w], tolerance=1e-6)
    assert points
    best = points[0]
    t = control.tangent(p, best.weights, behavior, LAM)
    clipped = np.clip(t.errors, -huber, huber)
    assert (np.abs(t.errors) > huber).any()
    np.testing.assert_allclose((p.d * clipped) @ t.slope, 0, atol=1e-6)
    near = best.weights + 0.01 * np.random.default_rng(3).normal(size=(20, K))
    assert all(control.huber_projected_error(p, other, huber, behavior, LAM) >= best.error - 1e-12 for other in near)
    assert np.abs(control.lambda_projected_gradient(p, best.weights, behavior, LAM)).max() > 1e-3


def test_optimal_values_of_a_table_are_minima_of_all():
    m = random_case()[0].mdp
    table, best = control.ControlProblem(m), control.optimal_action_values(m).ravel()
    for huber in (0.0, 0.1, 10.0):
        assert control.huber_projected_error(table, best, huber) < 1e-12
    with pytest.raises(InputError, match=r"huber is -1\.0; it should be one number above 0"):
        control.huber_projected_error(table, best, -1.0)
