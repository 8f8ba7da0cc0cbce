"""Counterexamples: where TD diverges, where its cures do not, and the paper's example of corrections."""

from functools import partial

import numpy as np
import pytest

import gpbe
from gpbe import exact, mdp
from gpbe.algorithms.linear import ALGORITHMS, Limits, expected_system, expected_update
from gpbe.algorithms.linear.least_squares import trace_sequence
from helpers.samples import few
from helpers.seeds import seed

CURES = ("gtd", "tdc", "gtd2", "gtd2-mp", "tdrc", "htd")
EMPHATIC_CURES = ("etd", "emphatic-gtd", "emphatic-htd", "emphatic-gtd2", "emphatic-tdrc")


def on_its_span(problem: mdp.PredictionProblem) -> mdp.PredictionProblem:
    """Without the directions of w that change no value, along which nothing ever moves."""
    _, singular, vt = np.linalg.svd(problem.features)
    rank = int((singular > 1e-12 * singular[0]).sum())
    return problem.with_features(problem.features @ vt[:rank].T)


def dynamics(problem: mdp.PredictionProblem, name: str, ratio: float = 1.0, **options) -> np.ndarray:
    """G of the mean motion (w, h)' = g - G (w, h), column by column; only that of w where there is no h."""
    k = problem.features.shape[1]
    pace = np.repeat([1.0, ratio], k)

    def motion(joint: np.ndarray) -> np.ndarray:
        return pace * np.concatenate(expected_update(problem, name, joint[:k], joint[k:], **options))

    still, moving = motion(np.zeros(2 * k)), 2 * k if ALGORITHMS[name].second_weights else k
    return np.stack([still - motion(unit) for unit in np.eye(2 * k)[:moving]], axis=1)[:moving]


def slowest(G: np.ndarray) -> float:
    """The least real part of an eigenvalue: negative if something grows."""
    return float(np.linalg.eigvals(G).real.min())


def random_problem(seed: int) -> mdp.PredictionProblem:
    """Five states, two actions, three features; a target policy that the behavior seldom follows."""
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(5, 2, 2, gamma=0.99, rng=rng, termination=0.02)
    target, behavior = np.eye(2)[rng.integers(2, size=5)], rng.dirichlet([0.3, 0.3], 5)
    return mdp.PredictionProblem(m, target, 0.98 * behavior + 0.01, rng.standard_normal((5, 3)))


# ---------------------------------------------------------------- Baird's star


def growth_by_hand(gamma: float) -> float:
    """Fastest growth of expected TD on the star, in the coordinates (upper, shared, lower) that keep its symmetry.

    The six upper errors are gamma (2 s + l) - (2 u + s), the lower one is (gamma - 1) (2 s + l); each state has 1/7.
    """
    upper = np.array([-2, 2 * gamma - 1, gamma])
    lower = (gamma - 1) * np.array([0, 2, 1])
    motion = np.stack([2 * upper, 6 * upper + 2 * lower, lower]) / 7
    return float(np.linalg.eigvals(motion).real.max())


@pytest.mark.parametrize("gamma", [0.95, 0.99])
def test_expected_td_diverges_on_bairds_star_as_fast_as_by_hand(gamma):
    star = mdp.baird(gamma)
    A, b, _ = expected_system(star, "td")
    assert growth_by_hand(gamma) > 0.05
    assert slowest(A) == pytest.approx(-growth_by_hand(gamma))
    w = star.initial_weights
    for _ in range(2000):
        w = w + 0.1 * (b - A @ w)
    assert np.linalg.norm(w) > 1e3 * np.linalg.norm(star.initial_weights)


def test_expected_td_is_stable_on_bairds_star_with_little_discounting_left():
    assert growth_by_hand(0.8) < 0
    assert slowest(dynamics(on_its_span(mdp.baird(0.8)), "td")) > 0


@pytest.mark.parametrize("name", few([*CURES, *EMPHATIC_CURES], ("tdrc", "gtd2", "etd")))
def test_cures_are_stable_on_bairds_star(name):
    star = on_its_span(mdp.baird())
    assert star.features.shape == (7, 7)
    assert slowest(dynamics(star, "td")) < -0.01
    assert slowest(dynamics(star, name, ratio=10.0, beta=float("tdrc" in name))) > 0


@pytest.mark.slow
def test_how_fast_h_must_be_on_bairds_star():
    """GTD2 is a saddlepoint: any ratio will do (Maei 2011). TDC and HTD need h to keep up with w."""
    star = on_its_span(mdp.baird())
    for ratio in (0.1, 1.0, 10.0):
        assert slowest(dynamics(star, "gtd2", ratio)) > 0
        assert (slowest(dynamics(star, "tdc", ratio)) > 0) == (ratio >= 1)
        assert (slowest(dynamics(star, "htd", ratio)) > 0) == (ratio >= 10)


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_expected_etd_contracts_on_bairds_star(lam):
    """Sutton, Mahmood and White (2016): A is positive definite, so small steps shorten every w."""
    A = expected_system(on_its_span(mdp.baird()), "etd", lam).A
    least = np.linalg.eigvalsh(A + A.T).min() / 2
    assert least > 0
    step = least / np.linalg.norm(A, 2) ** 2
    assert np.linalg.norm(np.eye(7) - step * A, 2) < 1


@pytest.mark.learning
def test_sampled_td_diverges_on_bairds_star_and_its_cures_do_not():
    """With one step size, on the same transitions."""
    star, given = mdp.baird(), {"steps": 6000, "runs": 5, "every": 6000, "step_size": 0.01, "metrics": ("rmsve",)}
    given["seed"] = seed()
    td = gpbe.predict(star, "td", **given)
    assert (td.curves["rmsve"] > 1e5 * td.initial["rmsve"]).all()
    for name in ("tdrc", "gtd2"):
        assert (gpbe.predict(star, name, **given).curves["rmsve"] < 3 * td.initial["rmsve"]).all()
    # faster still, it overflows
    fast = gpbe.predict(star, "td", **given | {"step_size": 0.3})
    assert (fast.diverged_at > 0).all()
    assert np.isinf(fast.curves["rmsve"]).all()


# ---------------------------------------------------------------- w -> 2w


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.1])
def test_td_diverges_on_two_states_beyond_the_known_discount(epsilon):
    """Half of the time in each state: A = (1 (1 - 2 gamma) + 2 (2 - 2 gamma (1 - epsilon))) / 2."""
    threshold = 5 / (6 - 4 * epsilon)
    for gamma, diverges in ((threshold - 0.01, False), (threshold + 0.01, True)):
        A = expected_system(mdp.tsitsiklis_van_roy(gamma, epsilon), "td").A
        assert A.item() == pytest.approx((5 - 6 * gamma + 4 * gamma * epsilon) / 2)
        assert (A.item() < 0) == diverges


@pytest.mark.parametrize("name", [*CURES, *EMPHATIC_CURES, "alternative-life-td", "alternative-life-gtd2"])
def test_cures_are_stable_on_two_states(name):
    assert slowest(dynamics(mdp.tsitsiklis_van_roy(), name, ratio=10.0)) > 0


@pytest.mark.learning
def test_sampled_td_diverges_on_two_states():
    given = {"steps": 3000, "runs": 3, "every": 3000, "step_size": 0.02, "metrics": (), "seed": seed()}
    assert (np.abs(gpbe.predict(mdp.tsitsiklis_van_roy(), "td", **given).weights) > 1e6).all()
    assert (np.abs(gpbe.predict(mdp.tsitsiklis_van_roy(), "tdc", **given).weights) < 0.1).all()


# ---------------------------------------------------------------- which algorithms are sound


HARD = {"two states": mdp.tsitsiklis_van_roy, "random": partial(random_problem, 98)}
STAR = {"star": lambda: on_its_span(mdp.baird())}
DIRECTED = {name: a for name, a in ALGORITHMS.items() if a.update != "least-squares"}


@pytest.mark.parametrize("name", few((name for name, a in DIRECTED.items() if a.sound), ("tdc", "tdrc", "gtd2", "etd")))
def test_sound_algorithms_are_stable_everywhere(name):
    """In expectation, with h fast enough; for TDRC with little regularization."""
    beta = 1e-4 if ALGORITHMS[name].regularized else 0.0
    for make in (HARD if ALGORITHMS[name].prior == "alternative-life" else HARD | STAR).values():
        for lam in (0.0, 0.5):
            assert slowest(dynamics(make(), name, ratio=1e4, lam=lam, beta=beta)) > 0


@pytest.mark.parametrize("name", [name for name, a in DIRECTED.items() if not a.sound])
def test_unsound_algorithms_diverge_somewhere(name):
    assert slowest(dynamics(STAR["star"](), name, lam=0.2, limits=Limits(followon_decay=0.3))) < 0


def test_regularization_turns_tdrc_into_td_where_features_are_small():
    """(A' + beta) (C + beta)^-1 A is near A where A and C are small beside beta: sound for small beta only."""
    star = on_its_span(mdp.baird())
    small = star.with_features(0.1 * star.features)
    assert slowest(dynamics(star, "tdrc", beta=1.0)) > 0
    for ratio in (1.0, 1e2, 1e4):
        assert slowest(dynamics(small, "tdrc", ratio, beta=1.0)) < 0
    assert slowest(dynamics(small, "tdrc", 1e4, beta=1e-4)) > 0


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.9])
def test_prior_corrections_make_td_positive_definite(lam):
    def least(name: str) -> list[float]:
        systems = (expected_system(random_problem(seed), name, lam).A for seed in range(40))
        return [float(np.linalg.eigvalsh(A + A.T).min()) for A in systems]

    assert min(least("etd")) > 0
    assert min(least("alternative-life-td")) > 0
    assert lam > 0.5 or min(least("td")) < 0


def test_kolters_td_solution_flips_where_published():
    """epsilon 0.01: A changes its sign, and the solution passes through infinity, at p = 0.684386."""
    before, after = (expected_system(mdp.kolter(p), "td").A.item() for p in (0.684386 - 1e-6, 0.684386 + 1e-6))
    assert before * after < 0
    for p in (0.5, 0.684386, 0.9):
        assert expected_system(mdp.kolter(p), "etd").A.item() > 0


# ---------------------------------------------------------------- appendix A: prior and posterior corrections


LAM = 0.7
X, Y = np.eye(2)
# rho is 2 where a1 is taken and 0 where a2 is. The paper prints a factor of lambda too many on the features of the
# present state (z_1 = rho lambda): by its own equation z = rho (gamma lambda z_- + x) the newest ones carry none.
STRAIGHT = {"states": [X, Y], "target": [1, 1]}
DETOUR = {"states": [X, Y, Y], "target": [1, 0, 1]}


def log_of(*episodes: dict) -> mdp.Log:
    states = np.concatenate([e["states"] for e in episodes])
    target = np.concatenate([e["target"] for e in episodes])
    last = np.concatenate([np.arange(len(e["target"])) == len(e["target"]) - 1 for e in episodes])
    following = np.concatenate([states[1:], [X]])
    return mdp.Log(states, 1.0 * last, 1.0 * ~last, target, np.full(len(target), 0.5), following)


@pytest.mark.parametrize(
    ("algorithm", "episodes", "expected"),
    [
        ("td", [STRAIGHT], [[2, 0], [4 * LAM, 2]]),
        ("td", [DETOUR], [[2, 0], [0, 0], [0, 2]]),
        ("alternative-life-td", [STRAIGHT], [[2, 0], [4 * LAM, 4]]),
        ("alternative-life-td", [DETOUR], [[2, 0], [0, 0], [0, 0]]),
        # a new episode is a new life
        ("td", [DETOUR, STRAIGHT], [[2, 0], [0, 0], [0, 2], [2, 0], [4 * LAM, 2]]),
        ("alternative-life-td", [DETOUR, STRAIGHT], [[2, 0], [0, 0], [0, 0], [2, 0], [4 * LAM, 4]]),
        # F = 1, 1 + 2 F_-, and 1 after a ratio of 0
        ("etd", [STRAIGHT], [[2, 0], [4 * LAM, 2 * (LAM + (1 - LAM) * 3)]]),
        ("etd", [DETOUR], [[2, 0], [0, 0], [0, 2]]),
    ],
)
def test_traces_of_the_papers_example(algorithm, episodes, expected):
    traces = trace_sequence(log_of(*episodes), algorithm, LAM)
    np.testing.assert_allclose(traces.rho[:, None] * traces.e, expected, atol=1e-15)


def test_only_posterior_corrections_learn_from_what_follows_a_deviation():
    """From x, y, y, end with a reward of 1: TD moves y by 2 alpha delta, an alternative life stays where it is."""
    log = log_of(DETOUR)
    np.testing.assert_allclose(gpbe.predict(log, "td", lam=LAM, step_size=0.1, metrics=()).weights, [[0, 0.2]])
    np.testing.assert_array_equal(
        gpbe.predict(log, "alternative-life-td", lam=LAM, step_size=0.1, metrics=()).weights, [[0, 0]]
    )


def test_alternative_lives_of_the_papers_problem_end_with_the_first_deviation():
    problem = mdp.corrections_example()
    log = mdp.Log.simulate(problem, 301, seed=1)
    traces = trace_sequence(log, "alternative-life-td", LAM)
    z = traces.rho[:, None] * traces.e
    agreed = True
    for t in range(len(log)):
        agreed = agreed and log.target[t] == 1
        assert z[t].any() == agreed
        agreed = agreed or log.discount[t] == 0  # the next episode begins in agreement
    assert 0 < z.any(1).mean() < 1
    # and so it learns v_pi from whole agreeing episodes only
    np.testing.assert_allclose(exact.fixed_point(problem, "pbe", "target"), problem.values)
