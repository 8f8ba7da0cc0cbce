"""Features against their published definitions, and against closed forms of what they are drawn from."""

import numpy as np
import pytest

from gpbe import InputError, features


def within(sample: np.ndarray, expected: float, sigmas: float = 5.0) -> bool:
    """Whether the mean of independent draws agrees with its expectation, by its own standard error."""
    return abs(sample.mean() - expected) < sigmas * sample.std(ddof=1) / np.sqrt(sample.size)


def test_the_published_five_state_representations():
    h, t = 1 / np.sqrt(2), 1 / np.sqrt(3)
    assert np.array_equal(features.tabular(5), np.diag([1, 1, 1, 1, 1]))
    assert np.array_equal(features.inverted(5), [[0.5 * (i != j) for j in range(5)] for i in range(5)])
    published = [[1, 0, 0], [h, h, 0], [t, t, t], [0, h, h], [0, 0, 1]]
    np.testing.assert_allclose(features.dependent(5), published, rtol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 19])
def test_rows_have_unit_norm_and_tell_states_apart(n):
    for x in (features.tabular(n), features.inverted(n), features.dependent(n)):
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1)
        assert len(np.unique(x, axis=0)) == n
    np.testing.assert_allclose(features.dependent(n, "l1").sum(1), 1)
    assert np.linalg.matrix_rank(features.inverted(n)) == n
    assert features.dependent(n).shape[1] == np.linalg.matrix_rank(features.dependent(n)) == n // 2 + 1


def test_dependent_is_symmetric_for_odd_n():
    x = features.dependent(19)
    assert x.shape == (19, 10)
    assert np.array_equal(x, x[::-1, ::-1])


def test_aggregation_by_labels_and_by_equal_bins():
    x = features.aggregation([4, -1, 4, 9])
    assert np.array_equal(x, [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert np.array_equal(features.equal_bins(19), [0] * 10 + [1] * 9)
    for n, bins in ((19, 4), (7, 7), (10, 3)):
        labels = features.equal_bins(n, bins)
        sizes = np.bincount(labels, minlength=bins)
        assert sizes.sum() == n
        assert sizes.max() - sizes.min() <= 1
        assert (np.diff(labels) >= 0).all()


def test_each_tiling_partitions_the_line_into_intervals():
    n, tilings, tiles = 19, 3, 5
    x = features.tile_coding(n, tilings, tiles, rng=1, batch=(7, 11)).reshape(7, 11, n, tilings, tiles)
    assert set(np.unique(x)) == {0, 1}
    assert (x.sum(-1) == 1).all()
    tile = x.argmax(-1)
    assert set(np.unique(np.diff(tile, axis=2))) == {0, 1}  # neighbors share a tile or are in adjacent ones
    assert (x.sum(2) <= np.ceil(n / (tiles - 1))).all()  # a tile is 1 / (tiles - 1) wide
    assert (tile[..., 0] != tile[..., 1]).any()


def test_shifts_of_tilings_are_uniform():
    """The first tile still covers a state at x if the shift is less than 1 - (tiles - 1) x tile widths."""
    n, tiles = 9, 4
    x = features.tile_coding(n, 1, tiles, rng=2, batch=(20_000,))
    for i in range(n):
        assert within(x[:, i, 0] + 0.0, max(0.0, 1 - (tiles - 1) * (i + 0.5) / n)) or x[:, i, 0].std() == 0
    assert not x[:, 3:, 0].any()  # beyond x = 1/3 never


def test_one_tile_a_tiling_is_a_bias_unit():
    assert np.array_equal(features.tile_coding(4, tilings=2, tiles=1, rng=0), np.ones((4, 2)))


def test_the_smallest_random_network_has_the_moments_of_a_product_of_uniforms():
    """1-1-1: positive iff both weights are kept and positive, then a product of two U(0, sqrt 3)."""
    x = features.random_network(1, hidden=1, features=1, sparsity=0.25, rng=3, batch=(200_000,)).ravel()
    assert within((x > 0) + 0.0, (0.75 / 2) ** 2)
    assert within(x[x > 0], 3 / 4)
    assert within(x[x > 0] ** 2, 1.0)
    assert 2.5 < x.max() <= 3


def test_second_moment_of_a_random_network():
    """Sums over hidden units of independent products, cut at 0: half of H E[h^2] E[w^2]."""
    n, hidden, k, sparsity = 3, 5, 2, 0.4
    x = features.random_network(n, hidden, k, sparsity, rng=4, batch=(100_000,))
    first, second = 6 / (n + hidden), 6 / (hidden + k)  # squared bounds of Xavier's uniforms
    kept = 1 - sparsity
    expected = hidden * (kept / 2 * first / 3) * (kept * second / 3) / 2
    assert within(x[:, 1, 1] ** 2, expected)
    assert within(x[:, 2, 0] ** 2, expected)


def test_random_networks_of_the_paper():
    many = features.random_network(19, rng=5, batch=(2, 300))
    assert many.shape == (2, 300, 19, 9)
    assert many.dtype == np.float64
    assert (many >= 0).all()
    assert len(np.unique(many.reshape(600, -1), axis=0)) == 600
    few = features.random_network(19, rng=5, batch=(3,))
    assert np.array_equal(few, many[0, :3])
    assert np.array_equal(features.random_network(19, rng=5), few[0])
    assert not np.array_equal(features.random_network(19, rng=6), few[0])


def test_random_binary_patterns():
    x = features.random_binary(8, rng=6, batch=(5000,))
    assert (x.sum(-1) == 3).all()
    assert all(len(np.unique(one, axis=0)) == 8 for one in x[:200])
    assert within(x[:, 2, 4], 0.5)
    assert len(np.unique(x[:, 0], axis=0)) == 20  # 6 choose 3
    # Independent draws: eight states all differ with probability 20!/(12! 20^8), the birthday problem.
    free = features.random_binary(8, rng=7, batch=(5000,), distinct=False) @ 2.0 ** np.arange(6)
    different = np.array([len(set(codes)) == 8 for codes in free.tolist()]) + 0.0
    assert within(different, np.prod(1 - np.arange(8) / 20))


def test_a_generator_moves_on_and_a_seed_repeats():
    rng = np.random.default_rng(8)
    first, second = features.random_binary(8, rng=rng), features.random_binary(8, rng=rng)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, features.random_binary(8, rng=8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: features.tabular(0), "n is 0; it should be a whole number, 1 or more"),
        (lambda: features.inverted(1), "n is 1; it should be a whole number, 2 or more"),
        (lambda: features.dependent(5, norm="max"), "norm is 'max'; it should be 'l2' or 'l1'"),
        (lambda: features.aggregation([0.5, 1.0]), "type float64; it should be one integer a state"),
        (lambda: features.aggregation([[0], [1]]), "labels has shape (2, 1)"),
        (lambda: features.equal_bins(2, bins=3), "n is 2; it should be a whole number, 3 or more"),
        (lambda: features.tile_coding(5, tiles=0, rng=0), "tiles is 0; it should be a whole number, 1 or more"),
        (
            lambda: features.random_network(5, sparsity=1.0, rng=0),
            "sparsity is 1; it should be a probability below 1",
        ),
        (lambda: features.random_network(5, hidden=0, rng=0), "hidden is 0; it should be a whole number, 1 or more"),
        (lambda: features.random_binary(8, bits=4, ones=2, rng=0), "only 6 patterns for 8 states; take more bits"),
        (lambda: features.random_binary(8, bits=4, ones=5, rng=0), "ones is 5; it should lie between 0 and bits"),
        (
            lambda: features.random_binary(8, bits=60, ones=30, rng=0),
            "patterns; take bits that make at most 1000000",
        ),
        (lambda: features.random_binary(8, rng=-1), "rng is -1; it should be a numpy.random.Generator, or a seed"),
    ],
)
def test_bad_input_is_named_with_a_remedy(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
