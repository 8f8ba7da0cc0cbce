"""gpbe.linalg against NumPy, SciPy and closed forms."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from gpbe import linalg
from helpers.strategies import quick, seeds


@pytest.mark.parametrize("batch", [(), (1,), (3, 5), (2000,)])
@pytest.mark.parametrize("n", [1, 7])
def test_solve_agrees_with_the_inverse(batch, n):
    rng = np.random.default_rng(n)
    matrix, right = rng.standard_normal((*batch, n, n)) + 3 * np.eye(n), rng.standard_normal((*batch, n))
    expected = np.einsum("...ij,...j->...i", np.linalg.inv(matrix), right)
    np.testing.assert_allclose(linalg.solve(matrix, right), expected, rtol=1e-9)


@pytest.mark.parametrize("copies", [1, 40])
def test_solve_pivots(copies):
    """Without row exchanges the first system divides by 0, and the second loses every digit."""
    swap = np.tile([[0.0, 1.0], [1.0, 0.0]], (copies, 1, 1))
    np.testing.assert_array_equal(linalg.solve(swap, np.array([2.0, 3.0])), np.tile([3.0, 2.0], (copies, 1)))
    tiny = np.tile([[1e-20, 1.0], [1.0, 1.0]], (copies, 1, 1))
    np.testing.assert_allclose(linalg.solve(tiny, np.array([1.0, 2.0])), np.ones((copies, 2)), rtol=1e-12)


def test_solve_broadcasts_one_matrix_over_many_sides():
    rng = np.random.default_rng(0)
    matrix, right = rng.standard_normal((5, 5)), rng.standard_normal((4, 9, 5))
    np.testing.assert_allclose(
        linalg.solve(matrix, right), scipy.linalg.solve(matrix, right.reshape(-1, 5).T).T.reshape(4, 9, 5)
    )


@quick
@given(seed=seeds, n=st.integers(1, 8), count=st.sampled_from([1, 3, 50]))
def test_stationary_solves_its_equations(seed, n, count):
    p = np.random.default_rng(seed).dirichlet(np.ones(n), (count, n))
    d = linalg.stationary(p.copy())
    for chain, found in zip(p, d, strict=True):
        balance = np.concatenate([chain.T - np.eye(n), np.ones((1, n))])
        expected = scipy.linalg.lstsq(balance, np.eye(n + 1)[n])[0]
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_stationary_of_a_birth_and_death_chain_keeps_every_digit():
    """Detailed balance gives d(i + 1) / d(i) = up(i) / down(i + 1), here down to 1e-240."""
    n, up, down = 9, 1e-30, 0.5
    p = np.diag(np.full(n - 1, up), 1) + np.diag(np.full(n - 1, down), -1)
    np.fill_diagonal(p, 1 - p.sum(1))
    d = linalg.stationary(p)
    np.testing.assert_allclose(d[1:] / d[:-1], up / down, rtol=1e-13)
    assert d[-1] < 1e-235


def test_stationary_is_the_same_in_blocks(monkeypatch):
    p = np.random.default_rng(1).dirichlet(np.ones(5), (100, 5))
    whole = linalg.stationary(p.copy())
    monkeypatch.setattr(linalg.batched, "BLOCK_BYTES", 1)
    np.testing.assert_array_equal(linalg.stationary(p.copy()), whole)


@pytest.mark.parametrize("batch", [(), (1,), (4,)])
def test_stationary_leaves_its_argument_alone(batch):
    p = np.random.default_rng(2).dirichlet(np.ones(4), (*batch, 4))
    before = p.copy()
    linalg.stationary(p)
    np.testing.assert_array_equal(p, before)


@quick
@given(seed=seeds, m=st.integers(1, 7), k=st.integers(1, 5), rank=st.integers(0, 4))
def test_least_squares_agrees_with_scipy(seed, m, k, rank):
    rng = np.random.default_rng(seed)
    rank = min(rank, m, k)
    matrix = rng.standard_normal((3, m, rank)) @ rng.standard_normal((3, rank, k))
    right = rng.standard_normal((3, m))
    found = linalg.least_squares(matrix, right)
    for i in range(3):
        expected, _, expected_rank, s = scipy.linalg.lstsq(matrix[i], right[i], cond=1e-12)
        assert found.rank[i] == expected_rank == rank
        np.testing.assert_allclose(found.solution[i], expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found.condition[i], s[0] / s[-1] if rank == k else np.inf, rtol=1e-6)


def test_least_squares_takes_the_shortest_of_many_minimizers():
    found = linalg.least_squares(np.array([[1.0, 1.0]]), np.array([2.0]))
    np.testing.assert_allclose(found.solution, [1.0, 1.0])
    assert found.rank == 1
    assert found.condition == np.inf


@quick
@given(seed=seeds, n=st.integers(2, 7), count=st.sampled_from([1, 40]))
def test_independent_columns_span_what_all_columns_span(seed, n, count):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, n, 3)) @ rng.integers(-1, 2, (count, 3, 6))
    mask = linalg.independent_columns(x)
    for one, keep in zip(x, mask, strict=True):
        kept = one[:, keep]
        assert keep.sum() == np.linalg.matrix_rank(one)
        assert np.linalg.matrix_rank(kept) == keep.sum()
        first = [np.linalg.matrix_rank(one[:, : j + 1]) > np.linalg.matrix_rank(one[:, :j]) for j in range(6)]
        np.testing.assert_array_equal(keep, first)
