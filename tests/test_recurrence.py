"""Linear recurrences along rows: as a loop does it, at every length, and where numbers overflow."""

import numpy as np
import pytest

from gpbe.recurrence import along, step


@pytest.mark.parametrize("rows", [1, 2, 3, 10, 16, 17, 101])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_many_steps_are_steps_one_after_the_other(rows, shape):
    rng = np.random.default_rng(rows)
    keep = rng.uniform(-1.2, 1.2, rows) * (rng.random(rows) < 0.8)
    add, start = rng.standard_normal((rows, *shape)), rng.standard_normal(shape)
    expected, y = [], start
    for t in range(rows):
        y = keep[t] * y + add[t]
        expected.append(y)
    np.testing.assert_allclose(along(start, keep, add), np.stack(expected), rtol=1e-12, atol=1e-12)


def test_what_has_overflowed_is_forgotten_where_nothing_is_kept():
    keep = np.full(2000, 4.0)
    keep[1500] = 0.0
    keep[1501:] = 0.5
    y = along(1.0, keep, np.ones(2000))
    assert np.isinf(y[1400])
    assert y[1500] == 1
    np.testing.assert_allclose(y[-1], 2, rtol=1e-12)
    assert step(np.inf, 0.0, 3.0) == 3


def test_nothing_times_something_without_bound_is_nothing():
    np.testing.assert_array_equal(along(0.0, np.full(3000, 10.0), np.zeros(3000)), 0)
