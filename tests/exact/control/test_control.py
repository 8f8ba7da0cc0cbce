"""Control on finite MDPs against definitions spelled out, hand-worked cases, SciPy and finite differences."""

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize

from gpbe import exact, mdp
from gpbe.exact import control
from gpbe.exact.control import ControlProblem

STATES, ACTIONS, K, M = 5, 3, 4, 7
TAUS = (0.0, 0.7, 6.0)


def random_mdp(seed: int = 0, gamma: float = 0.9, termination: float = 0.1) -> mdp.FiniteMDP:
    return mdp.random_mdp(STATES, ACTIONS, 3, gamma, rng=np.random.default_rng(seed), termination=termination)


def random_control(seed: int = 0, tau: float = 0.0, projection="random", gamma: float = 0.9) -> ControlProblem:
    rng = np.random.default_rng(seed)
    x, phi = rng.standard_normal((STATES, ACTIONS, K)), rng.standard_normal((STATES, ACTIONS, M))
    d = control.visits(m := random_mdp(seed, gamma), rng.dirichlet(np.ones(ACTIONS), STATES))
    return ControlProblem(m, x, d, {"random": phi, "same": None, "all": "all"}[projection], tau)


def loops() -> mdp.FiniteMDP:
    """State 0 can stay for 1 or go to state 1, which pays 3 for ever, or 1 for the second action; gamma 1/2."""
    transition = np.array([[[1, 0], [0, 1]], [[0, 1], [0, 1]]])
    return mdp.FiniteMDP(transition, [[[1, 0], [0, 0]], [[0, 3], [0, 1]]], 0.5)


def differences(function, w, step=1e-6):
    return np.array([(function(w + e) - function(w - e)) / (2 * step) for e in step * np.eye(len(w))])


# ---------------------------------------------------------------- optimal values


def test_optimal_values_worked_by_hand():
    """q(1, .) = 3 + 6/2, 1 + 6/2; q(0, go) = 6/2 and q(0, stay) = 1 + 3/2."""
    np.testing.assert_allclose(control.optimal_action_values(loops()), [[2.5, 3.0], [6.0, 4.0]], rtol=1e-14)


@pytest.mark.parametrize("tau", [0.1, 1.0, 5.0])
def test_one_state_of_mellowmax_in_closed_form(tau):
    """m(r + c) = m(r) + c, so with one state the value is m(r) / (1 - gamma) and q = r + gamma of that."""
    r, gamma = np.array([0.3, -1.2, 0.9]), 0.8
    m = mdp.FiniteMDP(np.ones((1, 3, 1)), r.reshape(1, 3, 1), gamma)
    value = tau * np.log(np.exp(r / tau).mean()) / (1 - gamma)
    np.testing.assert_allclose(control.optimal_action_values(m, tau)[0], r + gamma * value, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_optimal_values_solve_the_linear_program(seed):
    """The least v with v(s) >= r(s, a) + E[gamma v(S')], by SciPy's solver."""
    m = random_mdp(seed)
    carry = (m.transition * m.discount).reshape(-1, STATES)
    rows = carry - np.repeat(np.eye(STATES), ACTIONS, axis=0)
    reward = (m.transition * m.reward).sum(-1).ravel()
    program = optimize.linprog(np.ones(STATES), A_ub=rows, b_ub=-reward, bounds=(None, None))
    np.testing.assert_allclose(control.optimal_action_values(m).max(-1), program.x, atol=1e-8)


@pytest.mark.parametrize("tau", TAUS)
def test_optimal_values_are_fixed_to_the_last_bits(tau):
    m = random_mdp(1, gamma=0.99)
    q = control.optimal_action_values(m, tau)
    again = np.zeros_like(q)
    for s, a, n in itertools.product(range(STATES), range(ACTIONS), range(STATES)):
        soft = q[n].max() if tau == 0 else tau * np.log(np.exp(q[n] / tau).mean())
        again[s, a] += m.transition[s, a, n] * (m.reward[s, a, n] + m.discount[s, a, n] * soft)
    np.testing.assert_allclose(again, q, rtol=1e-12, atol=1e-14)


def test_mellowmax_approaches_the_hard_max_from_below_as_fast_as_it_must():
    """max q - tau log(A) <= m(q) <= max q, so q* is short by at most gamma tau log(A) / (1 - gamma)."""
    m, gamma = random_mdp(2, termination=0.0), 0.9
    hard = control.optimal_action_values(m)
    gaps = []
    for tau in (1.0, 0.1, 1e-2, 1e-4):
        soft = control.optimal_action_values(m, tau)
        assert (soft <= hard).all()
        gaps.append((hard - soft).max())
        assert gaps[-1] <= gamma * tau * np.log(ACTIONS) / (1 - gamma)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 2e-3


def test_the_soft_choice_is_the_gradient_of_mellowmax():
    q = np.random.default_rng(3).standard_normal(4)
    for tau in (0.2, 3.0):
        slope = differences(lambda q, t=tau: control.greedy(q, t).value, q)
        np.testing.assert_allclose(control.greedy(q, tau).weights, slope, atol=1e-9)


def test_batches_of_rewards_are_solved_at_once():
    m = random_mdp(5)
    both = mdp.FiniteMDP(m.transition, np.stack([m.reward, 2 * m.reward - 1]), m.discount, m.start)
    q = control.optimal_action_values(both, 2.0)
    one = mdp.FiniteMDP(m.transition, 2 * m.reward - 1, m.discount, m.start)
    np.testing.assert_allclose(q[1], control.optimal_action_values(one, 2.0), rtol=1e-12)


# ---------------------------------------------------------------- objectives


def errors_by_definition(p: ControlProblem, w: np.ndarray) -> np.ndarray:
    """E[delta | s, a], summed over every transition."""
    m, u = p.mdp, np.zeros((STATES, ACTIONS))
    q = (p.x @ w).reshape(STATES, ACTIONS)
    for s, a, n in itertools.product(range(STATES), range(ACTIONS), range(STATES)):
        soft = q[n].max() if p.tau == 0 else p.tau * np.log(np.exp(q[n] / p.tau).mean())
        u[s, a] += m.transition[s, a, n] * (m.reward[s, a, n] + m.discount[s, a, n] * soft - q[s, a])
    return u.ravel()


@pytest.mark.parametrize("tau", TAUS)
def test_objectives_are_what_their_definitions_say(tau):
    p = random_control(7, tau)
    w = np.random.default_rng(8).standard_normal(K)
    u, root = errors_by_definition(p, w), np.sqrt(p.d)
    np.testing.assert_allclose(control.expected_td_error(p, w), u, rtol=1e-12)
    assert control.bellman_error(p, w) == pytest.approx((p.d * u**2).sum())
    h = p.phi @ np.linalg.lstsq(root[:, None] * p.phi, root * u, rcond=None)[0]
    assert control.projected_bellman_error(p, w) == pytest.approx((p.d * h**2).sum())
    conjugate = optimize.minimize(
        lambda theta: -(p.d * (2 * u * (p.phi @ theta) - (p.phi @ theta) ** 2)).sum(), [0] * M
    )
    assert control.projected_bellman_error(p, w) == pytest.approx(-conjugate.fun, rel=1e-6)
    everything = p.change(projection="all")
    assert control.projected_bellman_error(everything, w) == pytest.approx(control.bellman_error(p, w))
    assert control.projected_bellman_error(p, w) < control.bellman_error(p, w)


def test_a_ridge_makes_h_between_nothing_and_all_of_its_span():
    p, w = random_control(7), np.ones(K)
    sizes = [control.projected_bellman_error(p, w, ridge) for ridge in (0.0, 0.1, 1.0, np.inf)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == control.projected_bellman_error(p, w)
    assert sizes[-1] == 0


@pytest.mark.parametrize("projection", ["random", "same", "all"])
@pytest.mark.parametrize("tau", TAUS)
def test_gradients_are_those_of_finite_differences(tau, projection):
    p = random_control(9, tau, projection)
    w = np.random.default_rng(1).standard_normal(K)
    pbe = differences(lambda w: control.projected_bellman_error(p, w), w)
    np.testing.assert_allclose(control.projected_bellman_gradient(p, w), pbe, rtol=1e-6, atol=1e-8)
    be = differences(lambda w: control.bellman_error(p, w), w)
    np.testing.assert_allclose(control.bellman_gradient(p, w), be, rtol=1e-6, atol=1e-8)


def test_with_one_action_control_is_prediction():
    rng = np.random.default_rng(4)
    m = mdp.random_mdp(STATES, 1, 3, 0.9, rng=rng)
    x, phi, w = rng.standard_normal((STATES, K)), rng.standard_normal((STATES, 2)), rng.standard_normal(K)
    problem = mdp.PredictionProblem(m, [1], [1], x)
    d = problem.behavior_distribution
    for tau in TAUS:
        p = ControlProblem(m, x[:, None], d[:, None], phi[:, None], tau)
        assert control.bellman_error(p, w) == pytest.approx(exact.bellman_error(problem, x @ w, d))
        generalized = exact.projected_bellman_error(problem, x @ w, d, projection=phi)
        assert control.projected_bellman_error(p, w) == pytest.approx(generalized)
        best = control.stationary_points(p.change(projection=x))[0]
        np.testing.assert_allclose(best.weights, exact.fixed_point(problem, "pbe", d), atol=1e-7)
        np.testing.assert_allclose(control.optimal_action_values(m, tau)[:, 0], problem.values, rtol=1e-10)


# ---------------------------------------------------------------- stationary points


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("objective", ["pbe", "be"])
def test_a_table_recovers_the_optimal_values(tau, objective):
    m = random_mdp(11)
    starts = np.random.default_rng(0).standard_normal((4, STATES * ACTIONS))
    best = control.stationary_points(ControlProblem(m, tau=tau), objective, starts)[0]
    np.testing.assert_allclose(best.weights, control.optimal_action_values(m, tau).ravel(), atol=1e-6)
    assert best.error < 1e-14


@pytest.mark.parametrize("objective", ["pbe", "be"])
def test_no_start_of_another_optimizer_finds_anything_lower(objective):
    """Nelder and Mead's method needs no gradient and shares no code."""
    p = random_control(12, tau=2.0, projection="random")
    error = control.projected_bellman_error if objective == "pbe" else control.bellman_error
    best = control.stationary_points(p, objective)[0]
    assert best.residual < 1e-8
    for start in np.random.default_rng(0).standard_normal((3, K)):
        options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000}
        found = optimize.minimize(lambda w: error(p, w), start, method="Nelder-Mead", options=options)
        assert best.error <= found.fun + 1e-9
        if found.fun < best.error + 1e-9:
            np.testing.assert_allclose(found.x, best.weights, atol=1e-3)


@pytest.mark.parametrize("tau", TAUS)
def test_qc_and_qrc_rest_where_the_pbe_is_zero(tau):
    """With H = F and A invertible the PBE has a zero, found as its minimum; both stop there, and GQ does."""
    p = random_control(13, tau, "same", gamma=0.6)
    best = control.stationary_points(p)[0]
    assert best.error < 1e-14
    np.testing.assert_allclose((p.d * control.expected_td_error(p, best.weights)) @ p.x, 0, atol=1e-8)
    for name, beta in itertools.product(control.UPDATES, (0.0, 1.0, 10.0)):
        step = control.expected_update(p, name, best.weights, np.zeros(K), beta)
        np.testing.assert_allclose(np.concatenate(step), 0, atol=1e-7)
    for name in control.UPDATES:
        rests = control.fixed_points(p, name, beta=1.0)
        assert any(np.allclose(point.weights, best.weights, atol=1e-5) for point in rests)


# ---------------------------------------------------------------- updates


def samples(p: ControlProblem):
    """Every transition with its frequency."""
    m, d = p.mdp, p.d.reshape(STATES, ACTIONS)
    for s, a, n in itertools.product(range(STATES), range(ACTIONS), range(STATES)):
        if m.transition[s, a, n] > 0:
            yield d[s, a] * m.transition[s, a, n], s, a, m.reward[s, a, n], m.discount[s, a, n], n


@pytest.mark.parametrize("name", control.UPDATES)
@pytest.mark.parametrize("tau", TAUS)
def test_expected_updates_are_means_of_the_papers_sampled_ones(name, tau):
    p, beta = random_control(14, tau), 0.8
    rng = np.random.default_rng(2)
    w, theta = rng.standard_normal(K), rng.standard_normal(M)
    x, phi = p.x.reshape(STATES, ACTIONS, K), p.phi.reshape(STATES, ACTIONS, M)
    d_w, d_theta = np.zeros(K), np.zeros(M)
    for share, s, a, r, gamma, n in samples(p):
        q = x[n] @ w
        best = np.eye(ACTIONS)[q.argmax()] if tau == 0 else np.exp(q / tau) / np.exp(q / tau).sum()
        soft = q.max() if tau == 0 else tau * np.log(np.exp(q / tau).mean())
        delta, h = r + gamma * soft - x[s, a] @ w, phi[s, a] @ theta
        correction = gamma * h * best @ x[n]
        main = {"gq": h * x[s, a] - correction, "q-learning": delta * x[s, a]}
        d_w += share * main.get(name, delta * x[s, a] - correction)
        d_theta += share * (delta - h) * phi[s, a]
    penalty = 0 if name in ("qc", "qc-ll") else beta * theta
    step = control.expected_update(p, name, w, theta, beta)
    np.testing.assert_allclose(step.w, d_w, atol=1e-12)
    np.testing.assert_allclose(step.theta, 0 if name == "q-learning" else d_theta - penalty, atol=1e-12)


@pytest.mark.parametrize("beta", [0.0, 0.5])
@pytest.mark.parametrize("name", ["qrc", "gq"])
def test_the_best_h_is_where_its_own_update_stops(name, beta):
    p, w = random_control(15), np.linspace(-1, 1, K)
    theta = control.best_theta(p, w, beta)
    np.testing.assert_allclose(control.expected_update(p, name, w, theta, beta).theta, 0, atol=1e-12)


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("projection", ["random", "same", "all"])
def test_gq_at_the_best_h_is_the_gradient_whatever_h_is(projection, tau):
    p, w = random_control(16, tau, projection), np.linspace(-1, 1, K)
    slope = differences(lambda w: control.projected_bellman_error(p, w), w)
    np.testing.assert_allclose(control.reduced_update(p, "gq", w, beta=0.0), -0.5 * slope, atol=1e-7)


def test_the_correction_is_the_gradient_if_the_features_of_q_are_among_those_of_h_and_not_the_other_way_round():
    """The paper asks that h be a linear function of the gradient of q. It is the converse that makes them equal."""
    p, w = random_control(17, 1.5, "same"), np.linspace(-1, 1, K)
    wider = np.concatenate([p.x, np.random.default_rng(0).standard_normal((len(p.x), 3))], axis=1)

    def gap(phi) -> float:
        q = p.change(projection=phi)
        slope = -0.5 * control.projected_bellman_gradient(q, w)
        return float(np.linalg.norm(control.reduced_update(q, "qc", w) - slope) / np.linalg.norm(slope))

    assert gap(p.x) < 1e-12
    assert gap(wider) < 1e-12
    assert gap("all") < 1e-12
    assert gap(p.x[:, :2]) > 0.1  # every h in this H is a linear function of the gradient of q
    assert gap(np.random.default_rng(5).standard_normal((len(p.x), K))) > 0.1


def test_with_a_smaller_h_qc_and_gq_rest_at_different_weights():
    """Half of H = F: the PBE has a valley of zeros, and of those only some are at rest under the correction."""
    p = random_control(18, 1.0, "same", gamma=0.6)
    half = p.change(projection=p.x[:, :2])
    minimum = control.stationary_points(half)[0]
    assert minimum.error < 1e-14
    assert np.linalg.norm(control.reduced_update(half, "gq", minimum.weights, beta=0.0)) < 1e-7
    assert np.linalg.norm(control.reduced_update(half, "qc", minimum.weights)) > 1e-3


def test_the_reduced_update_of_qrc_is_a_plus_beta_times_theta():
    p, w, beta = random_control(19, 0.9, "same"), np.linspace(-1, 1, K), 0.7
    A = (p.d[:, None] * p.x).T @ (p.x - p.bootstrapped(w))
    theta = control.best_theta(p, w, beta)
    np.testing.assert_allclose(control.reduced_update(p, "qrc", w, beta), (A + beta * np.eye(K)).T @ theta, atol=1e-12)


def lure() -> ControlProblem:
    """One state, two actions with features 1 and 4, of which the data have the first only."""
    m = mdp.FiniteMDP(np.ones((1, 2, 1)), 0.4, 0.95)
    return ControlProblem(m, [[[1.0], [4.0]]], [[1.0, 0.0]], tau=1.0)


def test_qrc_can_come_to_rest_where_q_learning_and_qc_do_not():
    """The paper: when QRC converges it is to the same point for all beta. Not where A(w) + beta is singular.

    A(w) = 1 - gamma (g1 + 4 g2) passes through -beta at the w where g2 / g1 = e^{3 w} has 1 + 3 g2 = 2 / gamma. There
    QRC stops although E[delta x] is not 0, and it is stable, since h > 0 and g2 grows with w.
    """
    p, gamma = lure(), 0.95
    g2 = (2 / gamma - 1) / 3
    w = np.array([np.log(g2 / (1 - g2)) / 3])
    assert w[0] == pytest.approx(-0.18, abs=0.01)
    theta = control.best_theta(p, w, beta=1.0)
    np.testing.assert_allclose(np.concatenate(control.expected_update(p, "qrc", w, theta, 1.0)), 0, atol=1e-12)
    update = float(control.expected_td_error(p, w)[0])
    assert update > 0.1
    assert (np.linalg.eigvals(control.update_jacobian(p, "qrc", w, theta, 1.0)).real < -1e-3).all()

    # The zeros of E[delta x] exist elsewhere, and QC from the same place leaves for one of them or for infinity.
    zeros = control.fixed_points(p, "q-learning", starts=[[-8.0], [-3.0], [-0.5], [0.5]])
    assert zeros
    assert all(abs(z.weights[0] - w[0]) > 0.1 for z in zeros)
    assert abs(control.reduced_update(p, "qc", w)[0]) > 0.1


def test_with_a_wider_h_the_fixed_point_of_qrc_goes_with_beta_from_that_of_qc_to_that_of_q_learning():
    """The paper: the same point for every beta. That takes h = 0 there, which H = F gives and a wider H does not."""
    narrow, starts = random_control(20, 1.0, "same", gamma=0.6), np.zeros((1, K))
    wide = narrow.change(projection="all")

    def rests(problem, name, beta=0.0):
        return control.fixed_points(problem, name, beta, starts)[0].weights

    least, last = control.stationary_points(narrow, "be", starts)[0].weights, rests(narrow, "q-learning")
    np.testing.assert_allclose(rests(wide, "qrc", 0.0), least, atol=1e-5)
    np.testing.assert_allclose(rests(wide, "qrc", 1e6), last, atol=1e-5)
    between = [rests(wide, "qrc", beta) for beta in (0.1, 1.0)]
    errors = [control.bellman_error(narrow, w) for w in (least, *between, last)]
    np.testing.assert_allclose(errors, [0.2180, 0.2264, 0.2319, 0.2324], atol=1e-4)
    np.testing.assert_allclose(rests(narrow, "qrc", 0.1), rests(narrow, "qrc", 1.0), atol=1e-8)


def test_the_hard_max_may_leave_no_zero_and_a_minimum_where_actions_tie():
    """One state, q = (w, 4 w), data of the first action: u = r - A w with A = 1 - 4 gamma for w > 0, 1 - gamma below.

    So u > 0 everywhere, its square is least at w = 0, and no update is 0 at any w: not with H = F either.
    """
    p = lure().change(tau=0.0)
    (point,) = control.stationary_points(p)
    np.testing.assert_allclose(point.weights, 0, atol=1e-12)
    assert point.error == pytest.approx(0.4**2)
    for step in (1e-3, -1e-3):
        slope = control.projected_bellman_gradient(p, [step])[0]
        A = 1 - 0.95 * (4 if step > 0 else 1)
        assert slope == pytest.approx(-2 * A * (0.4 - A * step))
        assert slope * step > 0
    assert not any(control.fixed_points(p, name) for name in control.UPDATES)


@pytest.mark.parametrize(("seed", "projection", "size"), [(3, "all", 1.0), (9, "random", 0.01), (2, "all", 100.0)])
def test_minima_of_the_hard_max_are_found_whether_actions_tie_there_or_not(seed, projection, size):
    """Against Nelder and Mead's method, which takes no gradient; rewards of any size. No, one and three actions tie."""
    p = random_control(seed, 0.0, projection)
    m = p.mdp
    scaled = mdp.FiniteMDP(m.transition, size * m.reward, m.discount, m.start)
    p = ControlProblem(scaled, p.x, p.d.reshape(STATES, ACTIONS), p.phi)
    best = control.stationary_points(p, starts=[np.zeros(K), -size * np.ones(K)])[0]
    q = p.values(best.weights)
    assert (q > q.max(1, keepdims=True) - 1e-9 * size).sum() - STATES == {2: 0, 3: 1, 9: 3}[seed]
    options = {"xatol": 1e-11, "fatol": 1e-15, "maxiter": 20_000, "maxfev": 20_000}
    found = optimize.minimize(
        lambda w: control.projected_bellman_error(p, size * w) / size**2,
        np.ones(K),
        method="Nelder-Mead",
        options=options,
    )
    assert best.error / size**2 <= found.fun + 1e-9


def test_following_qrc_from_near_that_point_ends_there():
    """The flow of the expected update, by SciPy's integrator."""
    p = lure()

    def flow(_, z):
        return np.concatenate(control.expected_update(p, "qrc", z[:1], z[1:], 1.0))

    end = integrate.solve_ivp(flow, (0, 3000), [-0.1, 0.0], method="LSODA", rtol=1e-9, atol=1e-12).y[:, -1]
    assert np.abs(flow(0, end)).max() < 1e-8
    assert control.projected_bellman_error(p, end[:1]) > 0.01


def test_correction_stabilises_what_q_learning_drives_away():
    """Two actions that lead from a value of w to one of 2 w: Q-learning's slope is positive, QC's is not."""
    transition = np.zeros((2, 2, 2))
    transition[..., 1] = 1
    p = ControlProblem(
        mdp.FiniteMDP(transition, 0.0, 0.95), [[[1.0], [0.5]], [[2.0], [1.0]]], [[0.5, 0.25], [0.2, 0.05]]
    )
    w = np.array([1.0])
    assert control.reduced_update(p, "q-learning", w)[0] > 0
    assert control.reduced_update(p, "qc", w)[0] < 0
    assert control.projected_bellman_error(p, [0.0]) == 0


# ---------------------------------------------------------------- refusals

REFUSED = {
    "tau": (lambda: control.greedy(np.ones((1, 2)), -1.0), r"tau is -1; it should be 0 .* or a positive number"),
    "tau nan": (lambda: ControlProblem(loops(), tau=np.nan), r"tau is nan"),
    "features": (lambda: ControlProblem(loops(), np.ones((3, 2))), r"features has shape \(3, 2\); it should be \(2, 2"),
    "projection": (lambda: ControlProblem(loops(), projection=np.ones((2, 3, 1))), r"projection has shape \(2, 3, 1\)"),
    "projection name": (lambda: ControlProblem(loops(), projection="none"), r'None for H = F, or "all"'),
    "weighting": (lambda: ControlProblem(loops(), weighting=[1, 1]), r"weighting has shape \(2,\); .* \(2, 2\)"),
    "negative": (lambda: ControlProblem(loops(), weighting=[[1, -1], [1, 1]]), r"weighting\[state 0, action 1\] is -1"),
    "all 0": (lambda: ControlProblem(loops(), weighting=np.zeros((2, 2))), r"weighting is 0 everywhere"),
    "w": (lambda: control.bellman_error(ControlProblem(loops()), [1.0]), r"w has shape \(1,\)"),
    "many w": (lambda: control.bellman_error(ControlProblem(loops()), np.ones((2, 4))), r"one vector of 4 weights"),
    "theta": (lambda: control.expected_update(lure(), "qc", [1.0], [1.0, 2.0]), r"theta has shape \(2,\)"),
    "update": (
        lambda: control.expected_update(lure(), "sarsa", [1.0], [1.0]),
        r"no update 'sarsa'; it should be one of",
    ),
    "beta": (lambda: control.expected_update(lure(), "qrc", [1.0], [1.0], -1.0), r"beta is -1; it should be 0 or more"),
    "objective": (lambda: control.stationary_points(lure(), "ve"), r"no objective of control 've'; .*pbe"),
    "starts": (lambda: control.stationary_points(lure(), starts=[[1.0, 2.0]]), r"starts has shape \(1, 2\)"),
    "batch": (lambda: ControlProblem(mdp.FiniteMDP(np.ones((2, 1, 1, 1)), 0.0, 0.5)), r"a batch with axes \(2,\)"),
    "no end": (
        lambda: control.optimal_action_values(mdp.FiniteMDP(np.ones((1, 1, 1)), 1.0, 1.0)),
        r"no limit: after .* discount below 1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_one_line(case, refuses):
    refuses(*REFUSED[case])
