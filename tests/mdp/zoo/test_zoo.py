"""The zoo against published numbers and closed forms."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq

from gpbe import InputError, mdp
from gpbe.mdp.zoo.rooms import TASKS
from helpers.sparse import as_dense


def key_matrix(problem: mdp.PredictionProblem) -> np.ndarray:
    """A = X' D (I - P) X with the behavior's weighting: expected TD is stable iff its eigenvalues are positive."""
    x, d = problem.features, problem.behavior_distribution
    return np.swapaxes(x, -1, -2) @ (d[..., None] * (problem.bellman_matrix @ x))


def bellman_minimum(problem: mdp.PredictionProblem) -> np.ndarray:
    root = np.sqrt(problem.behavior_distribution)
    left = root[:, None] * (problem.bellman_matrix @ problem.features)
    return np.linalg.lstsq(left, root * problem.expected_reward, rcond=None)[0]


@pytest.mark.parametrize("name", mdp.ZOO)
def test_every_entry_makes_a_sound_problem_of_its_name(name):
    problem = mdp.problem(name)
    assert problem.name == ("grid-30x30" if name == "grid" else name)
    problem = as_dense(problem)
    m = problem.mdp
    assert len(set(m.state_names)) == m.n_states
    # v = r + P v, from the arrays themselves
    expected = np.einsum(
        "...sa,...san,...san->...s",
        problem.target,
        m.transition,
        m.reward + m.discount * problem.values[..., None, None, :],
    )
    np.testing.assert_allclose(problem.values, expected, atol=1e-12)
    d = problem.behavior_distribution
    np.testing.assert_allclose(np.einsum("...s,...sn->...n", d, m.transition_under(problem.behavior)), d, atol=1e-14)
    assert (d > 0).all()
    assert "\n" not in mdp.ZOO[name].description


def test_baird():
    star = mdp.baird()
    assert np.array_equal(star.initial_weights, [1] * 7 + [10])
    assert np.array_equal(star.features @ star.initial_weights, [3, 3, 3, 3, 3, 3, 12])
    np.testing.assert_allclose(star.behavior_distribution, 1 / 7)
    np.testing.assert_allclose(star.target_distribution, [0] * 6 + [1])
    assert np.array_equal(star.ratios[0], [0, 7])
    assert not star.values.any()
    assert np.linalg.eigvals(key_matrix(star)).real.min() < -0.01  # TD diverges


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3])
def test_tsitsiklis_van_roy_diverges_beyond_its_published_discount(epsilon):
    edge = 5 / (6 - 4 * epsilon)
    for gamma in (edge - 1e-6, edge + 1e-6):
        if gamma > 1:
            continue
        problem = mdp.tsitsiklis_van_roy(gamma, epsilon)
        np.testing.assert_allclose(problem.behavior_distribution, 0.5)
        assert np.sign(key_matrix(problem).item()) == np.sign(edge - gamma)
        # Least squares on its own predictions multiplies w by gamma (6 - 4 epsilon) / 5 (S&B, example 11.1).
        x = problem.features[:, 0]
        step = x @ problem.discounted_transition @ x / (x @ x)
        np.testing.assert_allclose(step, gamma / edge)


def test_kolter():
    p = np.array([0.1, 0.5, 0.9])
    batch = mdp.kolter(p)
    np.testing.assert_allclose(batch.values, [1, 1.05])
    np.testing.assert_allclose(batch.behavior_distribution, np.stack([p, 1 - p], axis=1))
    np.testing.assert_allclose(mdp.kolter().mdp.transition_under(mdp.kolter().target), 0.5)
    assert mdp.kolter(epsilon=[0.1, 0.2]).features.tolist() == [[[1], [1.05 + 0.1]], [[1], [1.05 + 0.2]]]
    root = brentq(lambda p: key_matrix(mdp.kolter(float(p), epsilon=0.01)).item(), 0.1, 0.9, xtol=1e-12)
    assert root == pytest.approx(0.684386, abs=5e-7)


def test_aliased():
    problem = mdp.aliased()
    np.testing.assert_allclose(problem.behavior_distribution, 0.25)
    x, d = problem.features, problem.behavior_distribution
    projected = np.linalg.solve(key_matrix(problem), x.T @ (d * problem.expected_reward))
    np.testing.assert_allclose(projected, [1 / 2, 1, 0], atol=1e-15)
    np.testing.assert_allclose(bellman_minimum(problem), [1 / 2, 3 / 4, 1 / 4])


def observations(problem: mdp.PredictionProblem, length: int) -> dict[tuple, float]:
    """Probability of each sequence of (features, reward) of that length."""
    m = problem.mdp
    seen: dict[tuple, np.ndarray] = {(): m.start}
    for _ in range(length):
        extended: dict[tuple, np.ndarray] = {}
        for history, weight in seen.items():
            for s, n in itertools.product(range(m.n_states), repeat=2):
                arriving = weight[s] * m.transition[s, 0, n]
                if arriving > 0:
                    now = (*history, (tuple(problem.features[s].tolist()), float(m.reward[s, 0, n])))
                    extended.setdefault(now, np.zeros(m.n_states))[n] += arriving
        seen = extended
    return {history: float(weight.sum()) for history, weight in seen.items()}


def test_identifiability_pair_gives_the_same_data_and_different_bellman_minima():
    one, two = mdp.identifiability_pair()
    for length in (1, 3, 6):
        first, second = observations(one, length), observations(two, length)
        assert first == second
        assert sum(first.values()) == 1
    a, b = (1.0, 0.0), (0.0, 1.0)
    run = ((a, 0.0), (b, -1.0), (b, -1.0), (b, 1.0), (a, 0.0))
    assert observations(one, 5)[run] == 1 / 8  # a run of k Bs has probability 1/2^k
    np.testing.assert_allclose(two.behavior_distribution, 1 / 3)
    np.testing.assert_allclose(one.values, 0, atol=1e-15)
    assert two.behavior_distribution @ two.expected_reward**2 == pytest.approx(2 / 3)  # the BE of w = 0
    np.testing.assert_allclose(bellman_minimum(one), 0, atol=1e-12)
    # The normal equations in rational numbers, for gamma 9/10 and for gamma towards 1.
    np.testing.assert_allclose(bellman_minimum(two), [-90 / 271, 45 / 271])
    almost = mdp.identifiability_pair(gamma=0.9999)[1]
    np.testing.assert_allclose(bellman_minimum(almost), [-1 / 3, 1 / 6], atol=1e-7)


def test_corrections_example():
    problem = mdp.corrections_example()
    assert np.array_equal(problem.values, [1, 1])
    np.testing.assert_allclose(problem.behavior_distribution, [1 / 2, 1 / 2])  # two visits to each, on average
    assert np.array_equal(problem.ratios, [[2, 0], [2, 0]])
    m = problem.mdp
    stay_in_y_once = m.transition[0, 0, 1] * m.transition[1, 1, 1] * m.transition[1, 0, 0]
    assert stay_in_y_once == 1
    assert m.discount[1, 0, 0] == 0


def test_boyan():
    chain = mdp.boyan()
    numbers = np.array([int(name) for name in chain.mdp.state_names])
    assert np.array_equal(numbers, np.arange(12, 0, -1))
    np.testing.assert_allclose(chain.values, -2 * numbers)
    np.testing.assert_allclose(chain.features @ [-24, -16, -8, 0], -2 * numbers)
    np.testing.assert_allclose(chain.features.sum(1), 1)
    # Always one step: eleven moves at -3 and one at -2; always two: six moves at -3.
    assert mdp.boyan(target=[1, 0]).values[0] == pytest.approx(-35)
    assert mdp.boyan(target=[0, 1]).values[0] == pytest.approx(-18)


def test_the_simulator_of_boyan_pays_what_the_values_say():
    chain = mdp.boyan()
    runs = mdp.simulate(chain.mdp, chain.behavior, steps=600, runs=200, seed=1)
    ended = (runs.discount == 0).cumsum(1)
    whole = (ended - (runs.discount == 0)) < ended[:, -1:]  # leave out the unfinished last episode
    returns = (runs.reward * whole).sum(1) / ended[:, -1]
    assert abs(returns.mean() + 24) < 5 * returns.std() / np.sqrt(200)


def test_collision():
    problem = mdp.collision(seed=3)
    np.testing.assert_allclose(problem.values, 0.9 ** (8 - np.arange(1, 9)))
    np.testing.assert_allclose(problem.behavior_distribution, np.array([2, 4, 6, 8, 8, 4, 2, 1]) / 35)
    assert np.array_equal(problem.mdp.start, [0.25] * 4 + [0] * 4)
    assert np.array_equal(problem.ratios, [[1, 0]] * 4 + [[2, 0]] * 4)
    assert problem.features.shape == (8, 6)
    assert not np.array_equal(problem.features, mdp.collision(seed=4).features)


def test_four_rooms():
    rooms = mdp.four_rooms()
    cells = [tuple(map(int, name.split(","))) for name in rooms.mdp.state_names]
    assert rooms.mdp.n_states == 104
    np.testing.assert_allclose(rooms.behavior_distribution, 1 / 104)  # moves are symmetric
    sizes = []
    for task, (corner, (gx, gy)) in enumerate(TASKS):
        values = dict(zip(cells, rooms.values[task], strict=True))
        sizes.append(sum(v > 0 for v in values.values()))
        for (x, y), value in values.items():
            assert value == pytest.approx(0.9 ** (abs(x - gx) + abs(y - gy) - 1)) or value == 0
        assert values[corner] > 0
        assert values[gx, gy] == 0
    # 5 x 5 on the left, 6 x 5 and 4 x 5 on the right, and the other hallway of each
    assert sizes == [26, 26, 26, 26, 31, 31, 21, 21]


def test_four_rooms_has_the_published_largest_product_of_ratios():
    rooms = mdp.four_rooms()
    following = rooms.mdp.transition.argmax(-1)
    largest = np.ones((8, 104))
    for _ in range(20):  # longer than any shortest path
        alive = np.take_along_axis(rooms.mdp.discount, following[None, ..., None], -1)[..., 0] > 0
        largest = (rooms.ratios * np.where(alive, largest[:, following], 1.0)).max(-1)
    assert largest.max() == 2**14


def test_four_rooms_takes_features():
    assert mdp.four_rooms(np.ones((104, 2))).features.shape == (104, 2)


def test_random_walk_of_five():
    walk = mdp.problem("random-walk-5")
    np.testing.assert_allclose(walk.behavior_distribution, np.array([1, 2, 3, 2, 1]) / 9)
    published = [-0.269173, 0.218045, 0.542857, 0.759398, 0.903759]
    np.testing.assert_allclose(walk.values, published, atol=5e-7)
    assert {mdp.problem("random-walk-19", representation=r).features.shape for r in ("inverted", "aggregation")} == {
        (19, 19),
        (19, 2),
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mdp.problem("fourrooms"), "there is no problem 'fourrooms'; did you mean 'four-rooms'?"),
        (lambda: mdp.problem("zzz"), "it should be one of aliased, baird"),
        (lambda: mdp.problem("kolter", q=1), "kolter has no parameter 'q'; it has p, epsilon, gamma"),
        (lambda: mdp.problem("aliased", gamma=1), "aliased has no parameter 'gamma'; it has none"),
        (lambda: mdp.problem("random-walk-5", representation="tiles"), "there is no representation 'tiles'"),
        (lambda: mdp.problem("random", n_features=0), "n_features is 0; it should be a whole number, 1 or more"),
        (lambda: mdp.kolter([0.5, 1.0]), "p is 1; it should lie strictly between 0 and 1"),
        (lambda: mdp.kolter(gamma=1.0), "gamma is 1; it should be at least 0 and below 1"),
        (lambda: mdp.tsitsiklis_van_roy(epsilon=1.0), "epsilon is 1; it should be a probability below 1"),
        (lambda: mdp.boyan(target=[1, 0], behavior=[0, 1]), "the behavior never takes state '12', action 'one step'"),
        (lambda: mdp.random_mdp(3, branching=4, rng=0), "may enter is 3; it should be a whole number, 4 or more"),
        (
            lambda: mdp.random_mdp(3, branching=3, termination=0.1, rng=0),
            "may enter is 2; it should be a whole number, 3 or more",
        ),
        (lambda: mdp.random_mdp(termination=1.0, rng=0), "termination is 1; it should be a probability below 1"),
    ],
)
def test_bad_input_is_named_with_a_remedy(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
