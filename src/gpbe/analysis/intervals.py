"""How well runs determine a mean or a median: standard errors, t-intervals, bootstrap intervals.

Samples lie along the first axis, so that a (runs, points) array gives an interval for each point of a curve.
One run says nothing about the spread of runs: its standard error and its intervals are NaN, not 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float
from scipy import special, stats

from gpbe import summary
from gpbe.checks import check_at_least, check_known, check_level, unknown
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers, Scalar, as_scalar

Statistic = Literal["mean", "median"]
Method = Literal["percentile", "bca"]
RESAMPLES = 2000
LEVEL = 0.95
_BLOCK = 4_000_000
"""Numbers held at once while medians are resampled."""


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate, and the interval around it that holds the truth in a fraction `level` of experiments.

    >>> print(Interval(1.5, 1.0, 2.25, 0.95))
    1.5 [1, 2.25]
    """

    estimate: Scalar
    low: Scalar
    high: Scalar
    level: float

    def __str__(self) -> str:
        if np.ndim(self.estimate):
            return f"{np.size(self.estimate)} intervals at level {self.level:g}"
        return f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"


def standard_error(values: Numbers) -> Scalar:
    """The standard error of the mean, s / sqrt(n); NaN for a single run.

    >>> standard_error([1.0, 3.0])
    1.0
    """
    return as_scalar(summary.standard_error(_sample(values)))


def t_interval(values: Numbers, level: float = LEVEL) -> Interval:
    """Student's interval for the mean: exact for normal runs, and too short for the skewed ones of a failing agent.

    >>> print(t_interval([1.0, 2.0, 3.0]))
    2 [-0.4841, 4.484]
    """
    check_level(level)
    sample = _sample(values)
    estimate, error = statistic_of(sample, "mean"), np.asarray(standard_error(sample))
    half = stats.t.ppf((1 + level) / 2, max(len(sample) - 1, 1)) * error
    return Interval(as_scalar(estimate), as_scalar(estimate - half), as_scalar(estimate + half), level)


def bootstrap_interval(
    values: Numbers,
    seed: int | np.random.Generator,
    statistic: Statistic = "mean",
    method: Method = "percentile",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Bootstrap interval (Efron and Tibshirani 1993): whole runs are drawn with replacement.

    `percentile` reads the interval off the resampled statistics; `bca` corrects it for bias and skew, at the price
    of a jackknife.

    >>> print(bootstrap_interval([1.0, 2.0, 3.0, 10.0], seed=0))
    4 [1.5, 8]
    >>> print(bootstrap_interval([1.0, 2.0, 3.0, 10.0], seed=0, method="bca"))
    4 [1.75, 8.25]
    """
    check_level(level)
    check_known(method, get_args(Method), "bootstrap method")
    sample = _sample(values)
    estimate = statistic_of(sample, statistic)
    if len(sample) == 1:
        unknown = as_scalar(np.full(estimate.shape, np.nan))
        return Interval(as_scalar(estimate), unknown, unknown, level)
    drawn = resample(sample, seed, statistic, resamples)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "percentile":
        low, high = np.quantile(drawn, tails, axis=0)
    else:
        low, high = _bca(sample, estimate, drawn, statistic, tails)
    return Interval(as_scalar(estimate), as_scalar(low), as_scalar(high), level)


def resample(
    values: Numbers, seed: int | np.random.Generator, statistic: Statistic = "mean", resamples: int = RESAMPLES
) -> Float[Array, "resamples ..."]:
    """The statistic of `resamples` samples, each drawn with replacement from `values` along its first axis.

    >>> resample([1.0, 1.0, 1.0], seed=0, resamples=4)
    array([1., 1., 1., 1.])
    """
    check_at_least(1, resamples=resamples)
    sample, rng = _sample(values), np.random.default_rng(seed)
    n, flat = len(sample), (sample - sample[0]).reshape(len(sample), -1)
    if statistic == "mean":
        # How often each run was drawn is all that a mean needs, and turns resampling into a matrix product.
        drawn = rng.multinomial(n, np.full(n, 1 / n), resamples) @ flat / n
    else:
        drawn = np.concatenate(
            [statistic_of(flat[rng.integers(n, size=(n, b))], statistic) for b in _blocks(resamples, flat.size)]
        )
    return sample[0] + drawn.reshape(resamples, *sample.shape[1:])


def statistic_of(sample: Float[Array, "n ..."], statistic: Statistic) -> Float[Array, "..."]:
    """The mean or the median along the first axis."""
    if statistic == "mean":
        return np.asarray(sample[0] + (sample - sample[0]).mean(0))
    if statistic == "median":
        return np.asarray(np.median(sample, axis=0))
    raise unknown("statistic", statistic, get_args(Statistic))


def _bca(sample: Array, estimate: Array, drawn: Array, statistic: Statistic, tails: Array) -> Array:
    """Bias-corrected and accelerated percentiles (Efron and Tibshirani 1993, chapter 14)."""
    below = ((drawn < estimate).mean(0) + (drawn <= estimate).mean(0)) / 2
    # Should every resample lie on one side of the estimate, half a one counts as lying on the other.
    least = 0.5 / len(drawn)
    bias = special.ndtri(np.clip(below, least, 1 - least))
    n = len(sample)
    left_out = np.stack([statistic_of(np.delete(sample, k, 0), statistic) for k in range(n)])
    pull = left_out.mean(0) - left_out
    spread = (pull**2).sum(0)
    acceleration = np.divide((pull**3).sum(0), 6 * spread**1.5, out=np.zeros(spread.shape), where=spread > 0)
    shifted = bias + special.ndtri(tails).reshape(2, *[1] * bias.ndim)
    levels = special.ndtr(bias + shifted / (1 - acceleration * shifted)).reshape(2, -1)
    columns = drawn.reshape(len(drawn), -1)
    ends = np.array([[np.quantile(c, q) for c, q in zip(columns.T, side, strict=True)] for side in levels])
    return ends.reshape(2, *bias.shape)


def _blocks(resamples: int, size: int) -> Iterator[int]:
    """How many resamples to hold at once."""
    block = max(1, _BLOCK // size)
    for start in range(0, resamples, block):
        yield min(block, resamples - start)


def _sample(values: Numbers) -> Float[Array, "n ..."]:
    sample = np.asarray(values, dtype=float)
    if not sample.ndim or not sample.size:
        raise InputError("an interval needs at least one value")
    if not np.isfinite(sample).all():
        raise InputError("an interval needs finite values; fill in or count what is missing first")
    return sample
