"""What the field reports: interquartile means, performance profiles, probability of improvement (Agarwal et al. 2021),
and hyperparameter sensitivity (Adkins et al. 2024). Runs lie along the last axis.

Intervals here are stratified bootstraps (runs drawn again within each task), as the field has them: percentiles, which
are too narrow for fewer than about 30 runs. Decide claims by `means`; report these.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from gpbe.analysis.inference.evidence import LEVEL, Interval
from gpbe.checks import as_floats, check_at_least, check_level, generator
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers, as_scalar

RESAMPLES = 2000


def iqm(scores: Sequence[Numbers], seed: int = 0, level: float = LEVEL, resamples: int = RESAMPLES) -> Interval:
    """The interquartile mean of normalized scores: the mean of the middle half of all runs of all tasks together.

    `scores` is (tasks, runs), or a list of arrays if tasks have unequal numbers of runs.

    >>> iqm([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 100.0]]).estimate
    3.5
    """
    tasks = _tasks(scores)
    rng = generator(seed)
    drawn = [x[rng.integers(len(x), size=(resamples, len(x)))] for x in tasks]
    draws = np.asarray(stats.trim_mean(np.concatenate(drawn, axis=-1), 0.25, axis=-1))
    return _percentiles(float(stats.trim_mean(np.concatenate(tasks), 0.25)), draws, level)


def performance_profile(
    scores: Sequence[Numbers], thresholds: Numbers, seed: int = 0, level: float = LEVEL, resamples: int = RESAMPLES
) -> Interval:
    """The share of runs with a score above each threshold (mean over tasks), with a band for each by itself.

    >>> profile = performance_profile([[0.1, 0.5, 0.9], [0.6, 0.7, 0.8]], [0.0, 0.55, 1.0])
    >>> np.asarray(profile.estimate).round(3)
    array([1.   , 0.667, 0.   ])
    """
    tasks, at = _tasks(scores), np.atleast_1d(as_floats(thresholds, "thresholds"))
    rng = generator(seed)
    draws = np.zeros((resamples, len(at)))
    estimate = np.zeros(len(at))
    for x in tasks:
        over = (x[:, None] > at).astype(float)
        estimate += over.mean(0) / len(tasks)
        draws += rng.multinomial(len(x), np.full(len(x), 1 / len(x)), resamples) @ over / len(x) / len(tasks)
    return _percentiles(estimate, draws, level)


def probability_of_improvement(
    first: Sequence[Numbers], second: Sequence[Numbers], seed: int = 0, level: float = LEVEL, resamples: int = RESAMPLES
) -> Interval:
    """The probability that a run of the first beats one of the second, ties counting half; mean over tasks.

    >>> probability_of_improvement([[2.0, 3.0]], [[1.0, 2.0]]).estimate
    0.875
    """
    mine, theirs, rng = _tasks(first), _tasks(second), generator(seed)
    if len(mine) != len(theirs):
        raise InputError(f"there are {len(mine)} tasks of the first and {len(theirs)} of the second; give the same")
    estimate, draws = 0.0, np.zeros(resamples)
    for x, y in zip(mine, theirs, strict=True):
        wins = (x[:, None] > y) + 0.5 * (x[:, None] == y)
        p, q = (rng.multinomial(len(z), np.full(len(z), 1 / len(z)), resamples) / len(z) for z in (x, y))
        estimate += wins.mean() / len(mine)
        draws += ((p @ wins) * q).sum(-1) / len(mine)
    return _percentiles(float(estimate), draws, level)


class Sensitivity(NamedTuple):
    """What one setting for all domains costs.

    `tuned` is the mean over domains of the best setting's score in each, `single` that of the best single setting, and
    `loss` their difference. `flattered` is the loss when runs that choose also evaluate.
    """

    tuned: Interval
    single: Interval
    loss: Interval
    flattered: float


def sensitivity(
    scores: Numbers, seed: int = 0, level: float = LEVEL, splits: int = 20, resamples: int = 200
) -> Sensitivity:
    """Hyperparameter sensitivity (Adkins et al. 2024), cross-fitted, from normalized scores (settings, domains, runs).

    Runs are split in halves at random, many times: settings are chosen on one half and evaluated on the other, so that
    the loss has no bias from choosing on the runs that evaluate. It is the loss of choices made with half of the runs,
    and negative if choosing for each domain by itself, from few runs, does worse than one choice from the runs of all.
    Intervals draw runs again within cells of each half, the choice included; with two or three runs, of which a half is
    a single run, they are infinite.
    """
    cells = as_floats(scores, "scores")
    if cells.ndim != 3 or cells.shape[-1] < 2:
        raise InputError(f"scores has shape {cells.shape}; it should be (settings, domains, runs), 2 runs or more")
    rng, half = generator(seed), cells.shape[-1] // 2

    def values(choosing: Array, judging: Array) -> tuple[float, float]:
        tuned = np.take_along_axis(judging, choosing.argmax(0)[None], 0).mean()
        return float(tuned), float(judging[choosing.mean(-1).argmax()].mean())

    def fitted(repeats: int, drawn: bool) -> Array:
        found = []
        for _ in range(repeats):
            order = rng.permutation(cells.shape[-1])
            parts = [cells[..., order[:half]], cells[..., order[half:]]]
            if drawn:
                parts = [np.take_along_axis(x, rng.integers(x.shape[-1], size=x.shape), -1) for x in parts]
            a, b = (x.mean(-1) for x in parts)
            found += [np.mean([values(a, b), values(b, a)], axis=0)]
        return np.array(found)

    estimate = fitted(splits, False).mean(0)
    draws = fitted(resamples, True) if half > 1 else None
    means = cells.mean(-1)
    flattered = values(means, means)

    def interval(*weights: int) -> Interval:
        center = float(estimate @ weights)
        if draws is None:
            return Interval(center, -np.inf, np.inf, level)
        return _percentiles(center, center + (draws - draws.mean(0)) @ weights, level)

    return Sensitivity(interval(1, 0), interval(0, 1), interval(1, -1), flattered[0] - flattered[1])


def _tasks(scores: Sequence[Numbers]) -> list[Float[Array, " runs"]]:
    given = scores if isinstance(scores, Sequence | np.ndarray) else ()
    tasks = [as_floats(x, f"task {k}") for k, x in enumerate(given)]
    if not tasks or any(x.ndim != 1 or not len(x) for x in tasks):
        raise InputError("scores should be (tasks, runs), or a list with the runs of each task")
    return tasks


def _percentiles(estimate: float | Array, draws: Array, level: float) -> Interval:
    check_level(level)
    check_at_least(1, resamples=len(draws))
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(as_scalar(estimate), as_scalar(low), as_scalar(high), level)
