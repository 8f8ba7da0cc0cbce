"""Sparse solvers against dense ones and closed forms."""

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

from gpbe import linalg
from gpbe.linalg import sparse


def chain(n: int, right: float = 0.6) -> csr_array:
    """A walk on a line that stays put at its ends; d(s) is proportional to (right / left)^s."""
    p = np.zeros((n, n))
    p[np.arange(n - 1), np.arange(1, n)] = right
    p[np.arange(1, n), np.arange(n - 1)] = 1 - right
    p[0, 0], p[-1, -1] = 1 - right, right
    return csr_array(p)


@pytest.mark.parametrize("factored", [True, False])
def test_systems_of_both_kinds(monkeypatch, factored):
    monkeypatch.setattr(sparse, "is_thin", lambda matrix: factored)
    matrix = csr_array(eye_array(57) - 0.97 * chain(57))
    right = np.random.default_rng(0).standard_normal((57, 3))
    inverse = linalg.SparseInverse(matrix)
    np.testing.assert_allclose(inverse @ right, np.linalg.solve(matrix.toarray(), right), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(inverse.T @ right[:, 0], np.linalg.solve(matrix.toarray().T, right[:, 0]), atol=1e-9)
    assert (inverse.factors is None) == (not factored)


def test_stationary_to_the_last_digits_of_rare_states():
    d = linalg.sparse_stationary(chain(40, 0.9))  # the rarest has probability 9^-39
    expected = 9.0 ** np.arange(40)
    np.testing.assert_allclose(d, expected / expected.sum(), rtol=1e-10)
    assert linalg.sparse_stationary(csr_array([[1.0]])) == 1


def test_a_grid_is_thin_and_a_random_graph_is_not():
    from gpbe import mdp

    grid = mdp.gridworld(80, obstacles=0.05).bellman_matrix
    assert grid.shape[0] > sparse.SMALL
    assert sparse.is_thin(grid)
    rng = np.random.default_rng(0)
    n = 6000
    edges = (np.ones(3 * n), (np.repeat(np.arange(n), 3), rng.integers(n, size=3 * n)))
    assert not sparse.is_thin(csr_array(edges, shape=(n, n)))


def test_a_system_that_krylov_cannot_solve_is_said_so(monkeypatch, refuses):
    monkeypatch.setattr(sparse, "STEPS", 2)
    matrix = csr_array(eye_array(300) - chain(300, 0.5) * 0.999999)
    refuses(lambda: sparse.krylov(matrix, np.ones(300) * np.arange(300)), "solved only to a relative residual of")


def test_the_largest_singular_value():
    m = np.random.default_rng(1).random((31, 31))
    found = linalg.largest_singular_value(lambda u: m @ u, lambda u: m.T @ u, np.ones(31))
    assert found == pytest.approx(np.linalg.norm(m, 2), rel=1e-12)


def test_an_ill_conditioned_tall_matrix_is_not_squared(monkeypatch):
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((200, 4)) @ np.diag([1, 1, 1, 1e-7])
    rows[:, 3] += rows[:, 2]
    target = rows @ [1.0, -1.0, 2.0, 3.0]
    monkeypatch.setattr(linalg.operators, "TALL", 50)
    reduced, aim = linalg.system(rows, None, target)
    assert reduced.shape[1] == 4
    assert len(reduced) <= 5
    np.testing.assert_allclose(np.linalg.svd(reduced)[1], np.linalg.svd(rows)[1], rtol=1e-7)
    np.testing.assert_allclose(linalg.least_squares(reduced, aim).solution, [1, -1, 2, 3], rtol=1e-6)
