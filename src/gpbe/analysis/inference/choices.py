"""The value of a choice: what a chosen setting is worth, judged by runs that did not choose it.

The mean of the best of many settings, over the runs that made it the best, is flattered: of 36, 144 and 864 equal
settings with 3 normal runs each, the best looks 1.2 to 1.9 standard deviations of a run better than it is. Fresh runs
are the remedy (`means.mean` over them). Where there is one sweep only, cross-fitting: choose on a part, evaluate on the
rest. A race drops what cannot be the best before many runs are spent on it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from gpbe.analysis.inference.evidence import Evidence
from gpbe.analysis.inference.means import Bounds, bounded, welch
from gpbe.checks import as_floats, check_at_least, generator
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers

Choose = Callable[[Float[Array, "settings ..."]], int]


def best(means: Float[Array, "settings ..."]) -> int:
    """The setting with the largest mean, over further axes (domains) too; the first of equals."""
    return int(means.reshape(len(means), -1).mean(-1).argmax())


class CrossFitted(NamedTuple):
    """What the choice of each fold was, and evidence about the mean over folds of what the chosen are worth."""

    chosen: list[int]
    evidence: Evidence


def cross_fit(
    runs: Numbers, choose: Choose = best, folds: int = 2, bounds: Bounds | None = None, seed: int = 0
) -> CrossFitted:
    """Choose on all folds of the runs but one, evaluate on that one, and average over folds.

    `runs` is (settings, runs), or (settings, domains, runs): runs along the last axis. With domains a setting is worth
    its mean over them. The evidence is about a choice made with (folds - 1) / folds of the runs: by `means.welch`,
    whose limits at nominally 2.5 % err in 5 % for normal runs and up to 10 % for skewed ones, or by `means.bounded`.

    >>> fitted = cross_fit([[1.0, 2.0, 1.5, 1.2], [5.0, 4.0, 4.5, 5.5], [0.0, 1.0, 0.5, 0.2]])
    >>> fitted.chosen, round(float(fitted.evidence.estimate), 2)
    ([1, 1], 4.75)
    """
    grid = _settings(runs)
    count = grid.shape[-1]
    check_at_least(2, folds=folds)
    if count < 2 * folds:
        raise InputError(f"there are {count} runs for {folds} folds; each fold needs 2 or more")
    parts = np.array_split(generator(seed).permutation(count), folds)
    chosen, cells = [], {}
    for part in parts:
        rest = np.setdiff1d(np.arange(count), part)
        setting = choose(grid[..., rest].mean(-1))
        chosen.append(setting)
        for domain, values in enumerate(grid.reshape(len(grid), -1, count)[setting]):
            # A setting that is chosen again is one cell with more runs, whose spread is then known better.
            cells.setdefault((setting, domain), []).append(values[part])
    pooled = {key: np.concatenate(values) for key, values in cells.items()}
    domains = grid[0, ..., 0].size
    weights = {key: len(values) / folds / domains for key, values in cells.items()}
    values, by = list(pooled.values()), [weights[key] for key in pooled]
    return CrossFitted(chosen, welch(values, by) if bounds is None else bounded(values, by, bounds, seed))


def resampled_choices(
    runs: Numbers, choose: Choose = best, resamples: int = 999, seed: int = 0
) -> Int[Array, " resamples"]:
    """Which setting would have been chosen, had the runs come out differently: runs drawn again in every cell.

    An unchanged choice is then not certain: two rules that choose alike here may not choose alike in each resample.
    """
    grid, rng = _settings(runs), generator(seed)
    chosen = np.empty(resamples, int)
    for k in range(resamples):
        picks = rng.integers(grid.shape[-1], size=grid.shape)
        chosen[k] = choose(np.take_along_axis(grid, picks, -1).mean(-1))
    return chosen


class Raced(NamedTuple):
    """Who stays in a race: a mask over settings, and the setting that leads."""

    stay: np.ndarray
    leader: int


def race(settings: list[Numbers], level: float = 0.01, least: int = 4, slack: float = 0.0) -> Raced:
    """Drop the settings that are clearly worse than the leader, by Welch's test of the difference of means.

    `settings` has an array of runs for each, as many as it has so far. A setting is dropped if its mean is below the
    leader's minus `slack` at the one-sided level `level` / (settings - 1), and both have at least `least` runs. Two
    without any spread are not compared. Give `slack` > 0 to drop only what is worse by more than that.

    >>> race([[1.0, 2.0, 1.5, 1.2], [5.0, 4.0, 4.5, 5.5], [4.0, 5.0, 4.4, 5.3]]).stay
    array([False,  True,  True])
    """
    samples = [as_floats(x, f"setting {k}") for k, x in enumerate(settings)]
    check_at_least(2, least=least)
    means = np.array([x.mean() for x in samples])
    counted = [k for k, x in enumerate(samples) if len(x) >= least]
    if not counted:
        return Raced(np.ones(len(samples), bool), int(means.argmax()))
    leader = counted[int(means[counted].argmax())]
    stay = np.ones(len(samples), bool)
    for k in counted:
        if k != leader:
            p = welch([samples[leader], samples[k]], [1.0, -1.0]).above(slack)
            stay[k] = float(p) > level / (len(samples) - 1)
    return Raced(stay, leader)


def _settings(runs: Numbers) -> Float[Array, "settings ... runs"]:
    grid = as_floats(runs, "runs")
    if grid.ndim < 2:
        raise InputError(f"runs has shape {grid.shape}; it should be (settings, runs) or (settings, domains, runs)")
    return grid
