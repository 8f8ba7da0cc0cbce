"""Tile coding of a row of states."""

import numpy as np

from gpbe.checks import check_at_least, generator
from gpbe.shapes import Features


def tile_coding(
    n: int, tilings: int = 4, tiles: int = 4, *, rng: np.random.Generator | int, batch: tuple[int, ...] = ()
) -> Features:
    """Several partitions of the line, each shifted at random; a state turns on one tile of each.

    States sit at the centres of n equal cells of [0, 1]. A tile is 1 / (tiles - 1) wide and a tiling is shifted
    left by a uniform share of one tile, so that its tiles cover the line whatever the shift; an outermost tile may
    be narrow and hold no state. Entries are 0 and 1; a row sums to `tilings`.

    >>> tile_coding(4, tilings=1, tiles=3, rng=0)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> tile_coding(19, rng=0, batch=(1000,)).shape
    (1000, 19, 16)
    """
    for name, value in (("n", n), ("tilings", tilings), ("tiles", tiles)):
        check_at_least(1, **{name: value})
    shift = generator(rng).random((*batch, 1, tilings))  # in widths of a tile
    position = (np.arange(n) + 0.5) / n * (tiles - 1)
    tile = np.floor(position[:, None] + shift)[..., None]
    return (tile == np.arange(tiles)).astype(float).reshape(*batch, n, tilings * tiles)
