"""Means of bounded runs: limits from a known range, meant to hold for every law on it, however few the runs.

A run's mean return has bounds that need no data: an episode of at most 1000 steps of reward -1 lies in [-1000, 0]. What
was not seen (a failure in the next run) can then be bounded, as in the rule of three, which no method that looks at
the seen spread alone can do.

`order_statistics` is what to use; the others are here to be compared with. At 30 runs and level 95 %, on laws that fill
a tenth to a quarter of the range, its intervals are 0.14 to 0.19 of the range wide, those of `betting` 0.22 to 0.26,
and those of `empirical_bernstein` 0.63 to 0.81.
"""

import numpy as np

from gpbe.analysis.inference.evidence import RESAMPLES, Drawn, as_runs
from gpbe.checks import as_floats, generator
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers, Scalar, as_scalar


def order_statistics(
    runs: Numbers, low: float, high: float, seed: int | np.random.Generator = 0, resamples: int = RESAMPLES
) -> Drawn:
    """Evidence about the mean of runs in [low, high] (Learned-Miller and Thomas 2020; Phan et al. 2021).

    The law's distribution function at the sorted runs is distributed like sorted uniform numbers U, or above. With all
    mass moved as far down as U permits, the mean is low + sum_i (z_i - z_{i-1}) (1 - U_i): its alpha-quantile over U is
    the lower limit. For runs of 0 and 1 it is Clopper and Pearson's, and it is never wider than Anderson's or
    Hoeffding's. A bound may be infinite: then there is no limit on that side.

    >>> evidence = order_statistics([1.0] * 10, 0.0, 1.0)
    >>> round(evidence.limits(0.05)[0], 2), round(0.05 ** (1 / 10), 2)
    (0.74, 0.74)
    """
    runs, rng = as_runs(runs), generator(seed)
    _check_range(runs, low, high)
    sorted_runs = np.sort(runs, axis=0).reshape(len(runs), -1)
    # Sorted uniform numbers, without sorting: partial sums of exponential ones over their total.
    sums = rng.standard_exponential((resamples, len(runs) + 1)).cumsum(1)
    uniform = sums[:, :-1] / sums[:, -1:]
    shape = (resamples, *runs.shape[1:])
    upper = np.full((resamples, sorted_runs.shape[1]), np.inf)
    lower = -upper
    if np.isfinite(low):
        lower = low + (1 - uniform) @ np.diff(sorted_runs, axis=0, prepend=low)
    if np.isfinite(high):
        upper = high - uniform @ np.diff(sorted_runs, axis=0, append=high)
    return Drawn(np.asarray(runs.mean(0)), lower.reshape(shape), upper.reshape(shape))


def empirical_bernstein(runs: Numbers, low: float, high: float, alpha: float) -> tuple[Scalar, Scalar]:
    """Lower and upper limit of Maurer and Pontil (2009), each violated with probability `alpha` at most.

    >>> [round(limit, 2) for limit in empirical_bernstein([0.4, 0.6] * 15, 0.0, 1.0, 0.025)]
    [0.09, 0.91]
    """
    runs = as_runs(runs, 2)
    _check_range(runs, low, high)
    n, log = len(runs), np.log(2 / alpha)
    half = np.sqrt(2 * runs.var(0, ddof=1) * log / n) + 7 * (high - low) * log / (3 * (n - 1))
    return as_scalar(np.maximum(low, runs.mean(0) - half)), as_scalar(np.minimum(high, runs.mean(0) + half))


def betting(runs: Numbers, low: float, high: float, alpha: float, points: int = 400) -> tuple[Scalar, Scalar]:
    """Limits of the hedged capital process of Waudby-Smith and Ramdas (2024), each at level `alpha`.

    Somebody bets on every run against the mean m, with stakes from the runs before. The means in the interval are those
    against which no gambler has multiplied the stake by 1 / (2 alpha). The order of the runs matters.

    >>> [round(limit, 2) for limit in betting([0.4, 0.6] * 15, 0.0, 1.0, 0.025)]
    [0.39, 0.61]
    """
    runs = as_runs(runs)
    _check_range(runs, low, high)
    scaled = (runs - low) / (high - low)
    n, index = len(runs), np.arange(1, len(runs) + 1).reshape(-1, *[1] * (runs.ndim - 1))
    means = (0.5 + scaled.cumsum(0)) / (index + 1)
    spread = (0.25 + ((scaled - means) ** 2).cumsum(0)) / (index + 1)
    before = np.concatenate([np.full((1, *runs.shape[1:]), 0.25), spread[:-1]])
    stake = np.sqrt(2 * np.log(1 / alpha) / (before * n))
    held = np.zeros((points + 1, *runs.shape[1:]), bool)
    for k, mean in enumerate(grid := np.linspace(0, 1, points + 1)):
        up = np.minimum(stake, 0.5 / max(mean, 1e-9)) * (scaled - mean)
        down = np.minimum(stake, 0.5 / max(1 - mean, 1e-9)) * (scaled - mean)
        capital = np.logaddexp(np.log1p(up).sum(0), np.log1p(-down).sum(0)) - np.log(2)
        held[k] = capital < np.log(1 / (2 * alpha))
    values = low + (high - low) * grid
    return as_scalar(values[held.argmax(0)]), as_scalar(values[points - held[::-1].argmax(0)])


def _check_range(runs: Array, low: float, high: float) -> None:
    as_floats([b for b in (low, high) if not np.isinf(b)], "bounds")
    if not low < high:
        raise InputError(f"the bounds are {low:g} and {high:g}; the first should be less than the second")
    if runs.min() < low or runs.max() > high:
        wrong = runs.min() if runs.min() < low else runs.max()
        raise InputError(f"a run is {wrong:g}; every run should lie in the bounds [{low:g}, {high:g}]")
