"""The finite MDP: what it refuses, how terminal states become restarts, and that the simulator obeys the arrays."""

import jaxtyping
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpbe import InputError, mdp

HALF = np.full((2, 2, 2), 0.5)


def changed(array, index, value):
    array = np.array(array, dtype=float)
    array[index] = value
    return array


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((HALF[0], 0, 0.9), "transition has shape (2, 2); it should be (states, actions, states)"),
        ((np.full((2, 1, 3), 1 / 3), 0, 0.9), "transition has shape (2, 1, 3); it should be (states, actions, states)"),
        ((np.zeros((0, 1, 0)), 0, 0.9), "transition has shape (0, 1, 0)"),
        ((changed(HALF, (1, 0, 1), 0.4), 0, 0.9), "transition[state 1, action 0] sums to 0.9; it should sum to 1"),
        ((changed(HALF, (0, 1, 0), -0.5), 0, 0.9), "transition[state 0, action 1, entry 0] is -0.5; a probability"),
        ((changed(HALF, (0, 0, 0), np.nan), 0, 0.9), "transition[0, 0, 0] is nan; every entry must be a finite number"),
        (([[["x"]]], 0, 0.9), "transition is not an array of numbers"),
        ((HALF, np.zeros((2, 2)), 0.9), "reward has shape (2, 2); it should end in (2, 2, 2)"),
        ((HALF, np.inf, 0.9), "reward is inf; every entry must be a finite number"),
        (
            (HALF, 0, changed(HALF, (1, 1, 0), 1.2)),
            "discount[state 1, action 1, next state 0] is 1.2; it should lie in",
        ),
        ((HALF, 0, -0.1), "discount[state 0, action 0, next state 0] is -0.1; it should lie in [0, 1]"),
        ((HALF, 0, 0.9, [1.0]), "start has shape (1,); it should end in (2)"),
        ((HALF, 0, 0.9, [0.7, 0.7]), "start sums to 1.4; it should sum to 1"),
        (
            (np.stack([HALF, changed(HALF, (0, 1, 1), 0.0)]), 0, 0.9),
            "transition[batch 1, state 0, action 1] sums to 0.5",
        ),
    ],
)
def test_a_wrong_mdp_is_refused_with_place_and_remedy(arguments, message):
    with pytest.raises(InputError) as error:
        mdp.FiniteMDP(*arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


COIN = mdp.FiniteMDP(HALF, 1.0, 0.9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": [0.5, 0.6]}, "target[state 0] sums to 1.1; it should sum to 1"),
        ({"target": [[0.5, 0.5], [1.5, -0.5]]}, "target[state 1, entry 1] is -0.5; a probability cannot be negative"),
        ({"behavior": [1, 0, 0]}, "behavior has shape (3,); it should end in (2, 2)"),
        ({"behavior": [[1, 0], [0.5, 0.5]]}, "the behavior never takes state 0, action 1, which the target takes with"),
        ({"features": np.ones((3, 1))}, "features has shape (3, 1); it should end in (2, 1)"),
        ({"features": [[np.nan], [0]]}, "features[0, 0] is nan; every entry must be a finite number"),
        ({"initial_weights": [1]}, "initial_weights has shape (1,); it should end in (2)"),
    ],
)
def test_a_wrong_problem_is_refused_with_place_and_remedy(arguments, message):
    with pytest.raises(InputError) as error:
        mdp.PredictionProblem(COIN, **{"target": [0.5, 0.5], "behavior": [0.5, 0.5], **arguments})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_names_may_come_in_any_collection():
    assert mdp.FiniteMDP(HALF, 0, 0.9, state_names=np.array(["x", "y"])).state_names == ("x", "y")
    assert mdp.FiniteMDP(HALF, 0, 0.9, state_names={"x": 1, "y": 2}.keys()).state_names == ("x", "y")


def test_things_of_wrong_types(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # what checks types in the tests only
    for call, message in (
        (lambda: mdp.FiniteMDP(HALF, None, 0.9), "reward is not an array of numbers, but None"),
        (
            lambda: mdp.FiniteMDP(HALF, 0, 0.9, state_names=5),
            "state_names is of type int; it should be a list",
        ),
        (lambda: mdp.PredictionProblem("baird", [1], [1]), "mdp is of type str; it should be a FiniteMDP"),
        (lambda: mdp.save("baird", "x.toml"), r"problem is of type str; give a PredictionProblem, or gpbe.mdp.find"),
        (lambda: mdp.simulate(COIN, [0.5, 0.5], None), "steps is None; leave it out for its default"),
        (lambda: mdp.collision("x"), r"rng is 'x'; it should be a numpy.random.Generator, or a seed"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_values_that_do_not_exist_are_refused():
    forever = mdp.FiniteMDP(np.eye(3)[[[0], [2], [1]]], 1.0, changed(np.ones((3, 1, 3)), 0, 0.5))
    problem = mdp.PredictionProblem(forever, [1], [1])
    with pytest.raises(InputError, match=r"from states \{1, 2\} it never terminates and its discount is 1; give some"):
        _ = problem.values
    with pytest.raises(InputError, match=r"2 recurrent classes, state 0 and states \{1, 2\} among them.*connect them"):
        _ = problem.behavior_distribution


def test_episodic_turns_ends_into_restarts():
    # Gambler's ruin with 1 coin of 3, entered through a state of its own; being rich pays by the action that led there.
    transition = np.zeros((5, 2, 5))
    transition[0, :, 1] = 1
    transition[1, :, [3, 2]] = transition[2, :, [1, 4]] = 0.5
    reward = np.zeros((5, 2, 5))
    reward[2, 0, 4], reward[2, 1, 4] = 6, 10
    names = ["door", "one", "two", "broke", "rich"]
    m = mdp.FiniteMDP.episodic(transition, reward, 1.0, [1, 0, 0, 0, 0], [3, 4], state_names=names)
    assert m.state_names == ("door", "one", "two")
    problem = mdp.PredictionProblem(m, [1, 0], [0.5, 0.5])
    np.testing.assert_allclose(problem.values, [6 / 3, 6 / 3, 6 * 2 / 3])  # rich with probability coins / 3
    np.testing.assert_allclose(mdp.PredictionProblem(m, [0, 1], [0, 1]).values, [10 / 3, 10 / 3, 20 / 3])
    # Visits in an episode: 1 to the door, 4/3 to one coin, 2/3 to two.
    np.testing.assert_allclose(problem.behavior_distribution, [3 / 9, 4 / 9, 2 / 9])
    assert m.discount[1].tolist() == [[0, 1, 1]] * 2


def test_episodic_averages_the_rewards_of_ends_it_cannot_tell_apart():
    transition = np.array([[[0.0, 0.25, 0.75]]] * 3)
    m = mdp.FiniteMDP.episodic(transition, [[[0, 4, 8]]] * 3, 1.0, [1, 0, 0], [1, 2])
    assert m.reward.item() == 7
    assert m.discount.item() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0], [2]), "terminal state 2 does not exist; states are 0 to 1"),
        (([0, 1], [1]), "start[1] must be 0: an episode cannot begin in a terminal state"),
        (([1], [1]), "start has shape (1,); it should end in (2)"),
        (([1, 0], [1]), "different discounts; add a start state of its own"),
    ],
)
def test_a_wrong_episodic_mdp_is_refused(arguments, message):
    with pytest.raises(InputError) as error:
        mdp.FiniteMDP.episodic(HALF, 0.0, 1.0, *arguments)
    assert message in str(error.value)


EXACTLY_SIMULATED = (
    "aliased",
    "baird",
    "boyan",
    "collision",
    "corrections-example",
    "identifiability-2",
    "random",
    "random-walk-5",
    "tsitsiklis-van-roy",
)


@pytest.mark.parametrize("name", EXACTLY_SIMULATED)
def test_frequencies_of_the_simulator_are_those_of_the_matrices(name):
    """Independent runs: the mean frequency of each (s, a, s') is d_b b P to within its own standard error."""
    problem = mdp.problem(name)
    m, runs, steps, settle = problem.mdp, 400, 300, 100
    t = mdp.simulate(m, problem.behavior, steps + settle, runs, seed=3)
    shape = m.transition.shape
    flat = np.ravel_multi_index((t.state, t.action, t.next_state), shape)[:, settle:]
    counts = np.stack([np.bincount(run, minlength=m.transition.size) for run in flat]).reshape(runs, *shape)
    expected = problem.behavior_distribution[:, None, None] * problem.behavior[..., None] * m.transition
    error = counts.std(0, ddof=1) / steps / np.sqrt(runs)
    assert not counts[:, expected == 0].any()
    assert (np.abs(counts.mean(0) / steps - expected) <= 5 * error + 1e-12).all()
    assert counts.sum() == runs * steps
    assert np.array_equal(t.next_state[:, :-1], t.state[:, 1:])
    assert np.array_equal(t.reward, m.reward[t.state, t.action, t.next_state])
    assert np.array_equal(t.discount, m.discount[t.state, t.action, t.next_state])


def test_first_states_follow_the_start_distribution():
    problem = mdp.collision()
    first = mdp.simulate(problem.mdp, problem.behavior, steps=1, runs=8000, seed=4).state[:, 0]
    counts = np.bincount(first, minlength=8)
    assert not counts[4:].any()
    assert ((counts[:4] - 2000) ** 2 / 2000).sum() < 21  # chi-square with 3 degrees of freedom, 1e-4


def test_simulate_repeats_by_seed_and_gives_every_task_its_rewards():
    rooms = mdp.four_rooms()
    one, again, other = (mdp.simulate(rooms.mdp, rooms.behavior, steps=500, runs=3, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.state, again.state)
    assert not np.array_equal(one.state, other.state)
    assert one.reward.shape == (8, 3, 500)
    with pytest.raises(InputError, match="simulate takes one transition function and one policy"):
        mdp.simulate(rooms.mdp, rooms.target, steps=5)
    with pytest.raises(InputError, match="steps is 0; it should be a whole number, 1 or more"):
        mdp.simulate(rooms.mdp, rooms.behavior, steps=0)


@settings(max_examples=60, deadline=None)
@given(
    states=st.integers(2, 9),
    actions=st.integers(1, 4),
    branching=st.integers(1, 8),
    termination=st.sampled_from([0.0, 0.01, 0.5]),
    seed=st.integers(0, 2**32),
)
def test_random_mdps_are_garnets_in_which_every_policy_visits_every_state(
    states, actions, branching, termination, seed
):
    branching = min(branching, states - (termination > 0))
    m = mdp.random_mdp(states, actions, branching, gamma=0.8, rng=seed, termination=termination)
    assert m.transition.shape == (states, actions, states)
    assert ((m.transition > 0).sum(-1) == branching + (termination > 0)).all()
    rng = np.random.default_rng(seed)
    deterministic = np.eye(actions)[rng.integers(actions, size=states)]
    chain = m.transition_under(deterministic)
    assert mdp.recurrent_classes(chain) == [list(range(states))]
    d = mdp.stationary_distribution(chain)
    ends = m.discount == 0
    if termination:
        assert d[0] == pytest.approx(termination)  # an end a step with that probability, and each leads to state 0
        assert ends[..., 0].all()
        assert not ends[..., 1:].any()
        np.testing.assert_allclose(m.transition[..., 0], termination)
    else:
        assert not ends.any()
    np.testing.assert_allclose(m.discount[~ends], 0.8)


def test_random_rewards_are_standard_normal():
    reward = mdp.random_mdp(30, 4, 30, rng=5).reward
    assert abs(reward.mean()) < 5 / np.sqrt(reward.size)
    assert abs(reward.var() - 1) < 5 * np.sqrt(2 / reward.size)


def test_random_successors_and_probabilities_are_uniform():
    """With three of five successors and one on the cycle, the other four share two places; shares are 1/3 each."""
    many = np.stack([mdp.random_mdp(5, 1, 3, rng=seed).transition[:, 0] for seed in range(600)])
    reached = (many > 0).mean(0)
    # A state is its own successor only by the free draw: 2 of 4; another with 1/4 + 3/4 * 1/2 = 5/8.
    assert np.abs(np.diag(reached) - 1 / 2).max() < 5 * np.sqrt(0.25 / 600)
    assert np.abs(reached[~np.eye(5, dtype=bool)] - 5 / 8).max() < 5 * np.sqrt(0.25 / 600)
    shares = many[many > 0]
    assert abs(shares.var() - 1 / 18) < 0.003  # of a coordinate, uniform on the simplex of three
