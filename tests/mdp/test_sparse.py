"""MDPs from sparse matrices: checked, simulated and stored as those from arrays are."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from gpbe import mdp
from helpers.sparse import as_dense, as_sparse
from helpers.strategies import random_problem

STAY, GO = csr_array(np.eye(2)), csr_array([[0.0, 1.0], [1.0, 0.0]])
NAMES = {"state_names": ["left", "right"], "action_names": ["stay", "go"]}


def test_rewards_and_discounts_in_every_form():
    whole = [[[1.0, 0.0], [0.0, 2.0]], [[0.0, 2.0], [3.0, 0.0]]]  # r(s, a, s') of what can happen
    per_action = np.array([[1.0, 2.0], [2.0, 3.0]])  # r(s, a)
    dense = mdp.FiniteMDP(np.stack([STAY.toarray(), GO.toarray()], axis=1), whole, 0.9)
    matrices = [coo_array([[1.0, 5.0], [0.0, 2.0]]), csr_array([[7.0, 2.0], [3.0, 0.0]])]  # 5 and 7 cannot happen
    policy = np.array([[0.3, 0.7], [0.6, 0.4]])
    for reward in (per_action, matrices):
        m = mdp.FiniteMDP([STAY, GO], reward, 0.9)
        np.testing.assert_allclose(m.expected_reward_under(policy), [0.3 * 1 + 0.7 * 2, 0.6 * 2 + 0.4 * 3])
        np.testing.assert_allclose(m.expected_reward_under(policy), dense.expected_reward_under(policy))
    ends = mdp.FiniteMDP([STAY, GO], 0.0, [0.9 * STAY, csr_array((2, 2))])
    np.testing.assert_allclose(ends.discounted_transition_under(policy).toarray(), np.diag([0.27, 0.54]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mdp.FiniteMDP(STAY, 0, 0.9), "transition is one sparse matrix; it should be a list of them"),
        (
            lambda: mdp.FiniteMDP([STAY, GO * 0.5], 0, 0.9, **NAMES),
            r"transition\[state 'left', action 'go'\] sums to 0.5; it should sum to 1",
        ),
        (lambda: mdp.FiniteMDP([csr_array([[2.0, -1.0], [0, 1]])], 0, 0.9), "has an entry of -1; a probability cannot"),
        (
            lambda: mdp.FiniteMDP([csr_array(np.eye(3)), GO], 0, 0.9),
            r"transition\[1\] has shape \(2, 2\); it should be",
        ),
        (lambda: mdp.FiniteMDP([STAY * np.nan, GO], 0, 0.9), r"transition\[0\].data\[0\] is nan"),
        (lambda: mdp.FiniteMDP([STAY, GO], np.zeros((2, 2, 2)), 0.9), r"reward has shape \(2, 2, 2\); beside sparse"),
        (lambda: mdp.FiniteMDP([STAY, GO], [STAY], 0.9), "reward is a list of 1; it should be one sparse matrix for"),
        (
            lambda: mdp.FiniteMDP([STAY, GO], 0, [[0.9, 1.2], [0.9, 0.9]], **NAMES),
            r"discount\[state 'left', action 'go', next state 'right'\] is 1.2; it should lie in \[0, 1\]",
        ),
        (lambda: mdp.FiniteMDP.episodic([STAY], 0, 0.9, [1, 0], [1]), "episodic takes arrays"),
        (
            lambda: mdp.PredictionProblem(mdp.FiniteMDP([STAY, GO], 0, 0.9), np.full((3, 2, 2), 0.5), [0.5, 0.5]),
            r"a sparse problem is one problem; policies and features have axes \(3,\)",
        ),
        (lambda: mdp.baird().replace(features=csr_array(np.eye(7))), "features are sparse, and the MDP is not"),
        (
            lambda: mdp.PredictionProblem(mdp.FiniteMDP([STAY], 0, 1.0), [1], [1]).values,
            "the value of the target policy is not defined: from state 0",
        ),
        (
            lambda: (
                mdp.PredictionProblem(mdp.FiniteMDP([STAY], 0, 0.9, state_names="ab"), [1], [1]).target_distribution
            ),
            "has 2 recurrent classes, state 'a' and state 'b' among them",
        ),
    ],
)
def test_what_is_wrong_is_named_as_for_arrays(make, message, refuses):
    refuses(make, message)


def test_features_are_a_sparse_table_if_left_out():
    problem = mdp.PredictionProblem(mdp.FiniteMDP([STAY, GO], [[1, 0], [0, 0]], 0.5), [0.5, 0.5], [0.5, 0.5])
    np.testing.assert_array_equal(problem.features.toarray(), np.eye(2))
    np.testing.assert_allclose(problem.values, [0.75, 0.25])  # v = (1/2, 0) + (v1 + v2) / 4


@pytest.mark.parametrize("waste", [8, 0])
def test_simulations_are_those_of_arrays(waste, monkeypatch):
    monkeypatch.setitem(mdp.simulate.__globals__, "WASTE", waste)
    dense = random_problem(11, states=13, kind="episodic")
    sparse = as_sparse(dense)
    pairs = zip(*(mdp.simulate(p.mdp, p.behavior, steps=200, runs=3, seed=4) for p in (dense, sparse)), strict=True)
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)


def test_frequencies_of_simulated_transitions_are_their_probabilities():
    sparse = as_sparse(random_problem(3, states=5, kind="continuing"))
    t = mdp.simulate(sparse.mdp, sparse.behavior, steps=400, runs=100, seed=0)
    joint = np.zeros((5, 5))
    np.add.at(joint, (t.state, t.next_state), 1 / t.state.size)
    d = sparse.behavior_distribution
    np.testing.assert_allclose(joint, d[:, None] * sparse.mdp.transition_under(sparse.behavior).toarray(), atol=0.02)


def test_files_give_back_the_same_problem(tmp_path, refuses):
    for problem in (mdp.gridworld(7, 5, knots=3), as_sparse(random_problem(2, states=7))):
        file = tmp_path / "it.npz"
        mdp.save(problem, file)
        again = mdp.load(file)
        assert again.mdp.is_sparse
        one, other = as_dense(problem), as_dense(again)
        for name in ("transition", "reward", "discount", "start"):
            np.testing.assert_array_equal(getattr(one.mdp, name), getattr(other.mdp, name))
        np.testing.assert_array_equal(one.features, other.features)
        assert again.mdp.state_names == problem.mdp.state_names
        refuses(
            lambda problem=problem: mdp.save(problem, tmp_path / "it.toml"), "this problem is sparse; save it as .npz"
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"next_state": None}, "key 'next_state' is missing; with 'state' there should be state, action, next_state"),
        ({"state": np.array([0, 1])}, r"action has shape \(4,\) and type int64; it should be"),
        ({"state": np.array([0, 1, 0, 2])}, r"state\[3\] is 2; it should be below 2"),
        ({"transition": np.ones(3)}, r"transition has shape \(3,\); it should end in \(4\), which is \(transitions\)"),
    ],
)
def test_a_wrong_list_of_transitions_is_named(changes, message, tmp_path, refuses):
    arrays = {
        "state": np.array([0, 1, 0, 1]),
        "action": np.array([0, 0, 1, 1]),
        "next_state": np.array([0, 1, 1, 0]),
        "transition": np.ones(4),
        "reward": 0.0,
        "discount": 0.9,
        "start": [1.0, 0.0],
        "target": [[1.0, 0.0]] * 2,
        "behavior": [[0.5, 0.5]] * 2,
        "features": np.eye(2),
    }
    np.savez(tmp_path / "right.npz", **arrays)
    np.testing.assert_allclose(mdp.load(tmp_path / "right.npz").values, 0)
    np.savez(tmp_path / "wrong.npz", **{k: v for k, v in (arrays | changes).items() if v is not None})
    refuses(lambda: mdp.load(tmp_path / "wrong.npz"), message)
