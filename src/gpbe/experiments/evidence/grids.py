"""Settings as places in a grid: a stratified random part of it, and what lies next to a place."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gpbe.shapes import Array

Grid = Mapping[str, tuple[float, ...]]


class Part(NamedTuple):
    """Some settings of a grid, drawn so that what is found about them can be told of the whole."""

    settings: tuple[int, ...]
    """Their numbers in the whole grid."""
    strata: tuple[int, ...]
    """The stratum of each."""
    sizes: tuple[int, ...]
    """How many settings of the whole grid each stratum has."""


def shape_of(grid: Grid) -> tuple[int, ...]:
    """How many values each hyperparameter has."""
    return tuple(len(values) for values in grid.values())


def setting_of(grid: Grid, number: int) -> dict[str, float]:
    """The hyperparameters of the setting with that number; the last of them varies fastest.

    >>> setting_of({"step_size": (0.1, 0.2), "tau": (0.0, 1.0)}, 2)
    {'step_size': 0.2, 'tau': 0.0}
    """
    place = np.unravel_index(number, shape_of(grid))
    return {name: values[k] for (name, values), k in zip(grid.items(), place, strict=True)}


def whole(grid: Grid) -> Part:
    """All of a grid: every setting is a stratum of its own."""
    count = math.prod(shape_of(grid))
    return Part(tuple(range(count)), tuple(range(count)), (1,) * count)


def stratified(grid: Grid, blocks: Mapping[str, int], each: int, seed: int) -> Part:
    """`each` settings at random from every stratum.

    Args:
        grid: the whole.
        blocks: into how many blocks of neighboring values a hyperparameter is cut; strata are their combinations.
        each: settings drawn from a stratum, without replacement.
        seed: of the draw.

    >>> part = stratified({"a": (1.0, 2.0), "b": (1.0, 2.0, 3.0, 4.0)}, {"a": 2, "b": 2}, each=1, seed=0)
    >>> len(part.settings), part.sizes
    (4, (2, 2, 2, 2))
    """
    rng = np.random.default_rng(seed)
    label = strata_of(grid, blocks)
    settings, strata, sizes = [], [], []
    for stratum in range(int(label.max()) + 1):
        members = np.flatnonzero(label == stratum)
        drawn = np.sort(rng.choice(members, each, replace=False))
        settings += drawn.tolist()
        strata += [stratum] * each
        sizes.append(len(members))
    return Part(tuple(settings), tuple(strata), tuple(sizes))


def strata_of(grid: Grid, blocks: Mapping[str, int]) -> Array:
    """The stratum of every setting of a grid."""
    places = np.indices(shape_of(grid)).reshape(len(grid), -1)
    label = np.zeros(places.shape[1], dtype=int)
    for (name, values), place in zip(grid.items(), places, strict=True):
        count = blocks.get(name, 1)
        label = label * count + place * count // len(values)
    return label


def neighbors(grid: Grid, number: int) -> list[int]:
    """The settings one step up or down in one hyperparameter.

    >>> neighbors({"a": (1.0, 2.0, 3.0), "b": (1.0, 2.0)}, 0)
    [1, 2]
    """
    shape = shape_of(grid)
    place = np.array(np.unravel_index(number, shape))
    steps = np.concatenate([np.eye(len(shape), dtype=int), -np.eye(len(shape), dtype=int)])
    near = [place + step for step in steps]
    inside = [p for p in near if (p >= 0).all() and (p < shape).all()]
    return sorted(int(np.ravel_multi_index(tuple(p), shape)) for p in inside)
