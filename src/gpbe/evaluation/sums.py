"""Sums over groups of episodes: all that an estimator keeps of a log."""

import numpy as np
from jaxtyping import Float, Int

from gpbe.shapes import Array

Sums = dict[str, Array]
"""Sums by name; the first axis is of groups, and a sum over it is that of the whole log."""


def by_group(values: Float[Array, " T"], group: Int[Array, " T"], groups: int) -> Float[Array, " G"]:
    """A sum for each group."""
    return np.bincount(group, values, groups)


def by_step(
    values: Float[Array, " T"], group: Int[Array, " T"], step: Int[Array, " T"], shape: tuple[int, int]
) -> Float[Array, "G H"]:
    """A sum for each group and step."""
    return np.bincount(group * shape[1] + step, values, shape[0] * shape[1]).reshape(shape)


def products(
    left: Float[Array, "T M"], right: Float[Array, "T N"], group: Int[Array, " T"], groups: int
) -> Float[Array, "G M N"]:
    """Sums of outer products for each group."""
    order = np.argsort(group, kind="stable")
    left, right, group = left[order], right[order], group[order]
    found = np.zeros((groups, left.shape[1], right.shape[1]))
    bounds = np.flatnonzero(np.diff(group, prepend=-1))
    for start, stop in zip(bounds, np.append(bounds, len(group))[1:], strict=True):
        found[group[start]] = left[start:stop].T @ right[start:stop]
    return found


def add(sums: Sums, more: Sums) -> None:
    """Add sums of another piece, in place."""
    for name, values in more.items():
        sums[name] = sums[name] + values if name in sums else values


def total(sums: Sums, counts: Float[Array, " G"] | None = None) -> Sums:
    """The sum over groups, each taken as often as `counts` says; once if left out."""
    if counts is None:
        return {name: np.asarray(values.sum(0)) for name, values in sums.items()}
    return {name: np.asarray(np.tensordot(counts, values, axes=(0, 0))) for name, values in sums.items()}
