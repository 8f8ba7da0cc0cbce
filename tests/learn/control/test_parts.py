"""The parts of deep control, against hand-worked numbers and known values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe.algorithms.control.maximum import hard_max, mellowmax
from gpbe.learn.control.returns import returns_at_records
from gpbe.learn.replay import draw_distinct


@pytest.mark.parametrize("tau", [1e4, 10.0, 1.0, 0.1])
def test_mellowmax_is_its_formula_and_its_weights_its_gradient(tau):
    q = np.array([0.3, -1.2, 2.5, 2.4, 0.0])
    value, weights = mellowmax(jnp.asarray(q, jnp.float32), jnp.float32(tau))
    np.testing.assert_allclose(value, tau * np.log(np.mean(np.exp(q / tau))), rtol=2e-5)
    np.testing.assert_allclose(weights, np.exp(q / tau) / np.exp(q / tau).sum(), rtol=1e-4, atol=1e-30)


def test_mellowmax_at_zero_is_the_hard_max():
    q = jnp.array([0.3, 2.5, 2.5])
    for soft, hard in zip(mellowmax(q, 0.0), hard_max(q), strict=True):
        np.testing.assert_array_equal(soft, hard)


def test_every_subset_is_drawn_equally_often():
    """Three of five: ten subsets, chi-square with nine degrees of freedom."""
    n = 20_000
    drawn = np.sort(np.asarray(draw_distinct(jax.random.key(0), jnp.full(n, 5), 3)), axis=1)
    assert (np.diff(drawn, axis=1) > 0).all()
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 10
    assert ((counts - n / 10) ** 2 / (n / 10)).sum() < 30


def test_records_carry_the_return_of_their_episode():
    """Episodes end at steps 3 (return 1), 4 (return 2), 11 (return 3); recorded every 4; the last is unfinished."""
    nan = np.nan
    got = returns_at_records(np.array([1.0, nan, 3.0]), np.array([2.0, nan, nan]), np.array([2.0, 2.0, 3.0]))
    np.testing.assert_array_equal(got, [2.0, 3.0, 3.0])
