"""Grids of any size."""

import numpy as np
import pytest

from gpbe import mdp
from helpers.sparse import as_dense


def test_an_open_grid_without_lean_is_symmetric():
    problem = mdp.gridworld(5, obstacles=0.0, lean=0.0, gamma=1.0)
    values = problem.values.reshape(5, 5)
    np.testing.assert_allclose(values, values.T)
    assert values[-1, -1] == 0
    # Every other step costs 1 and moves to each neighbor, or stays, with probability 1/4.
    around = values[1, 2] + values[3, 2] + values[2, 1] + values[2, 3]
    assert values[2, 2] == pytest.approx(-1 + around / 4)


def test_obstacles_are_no_states_and_all_cells_hang_together():
    problem = mdp.problem("grid-30x20", obstacles=0.3, seed=1)
    assert problem.name == "grid-30x20"
    assert problem.mdp.n_states < 0.75 * 600
    assert (problem.behavior_distribution > 0).all()
    np.testing.assert_allclose(problem.features.sum(1), 1)


def test_slips_go_everywhere():
    problem = as_dense(mdp.gridworld(4, obstacles=0.0, slip=0.4))
    inside = problem.mdp.state_names.index("1,1")
    up = problem.mdp.transition[inside, 0]
    assert sorted(up[up > 0].round(12)) == [0.1, 0.1, 0.1, 0.7]


def test_enlarged_rooms():
    one, rooms = mdp.four_rooms(task=5), mdp.four_rooms()
    np.testing.assert_allclose(one.values, rooms.values[5], atol=1e-14)
    large = mdp.four_rooms(scale=3, task=5)
    assert large.mdp.n_states == 9 * 104
    # From the far corner of the room, shortest paths to the nearest cell of the hallway, which is 3 x 3.
    corner = large.mdp.state_names.index("32,32")
    assert large.values[corner] == pytest.approx(0.9 ** ((32 - 26 + 32 - 14 - 1) / 3))


def test_what_no_grid_can_be(refuses):
    refuses(lambda: mdp.problem("grid-1x5"), "width is 1; it should be a whole number, 2 or more")
    refuses(lambda: mdp.gridworld(4, obstacles=1.0), "which leaves no two cells; use less")
    refuses(lambda: mdp.gridworld(4, slip=2.0), "slip is 2; it should lie in")
    refuses(lambda: mdp.four_rooms(task=8), "task is 8; it should be a number from 0 to 7")
