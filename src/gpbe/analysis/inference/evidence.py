"""What data say about one number: an estimate, intervals at any level, and one-sided p-values against any bound.

A p-value and an interval are two views of one thing: the p-value against a bound is at most alpha exactly if the bound
lies outside the one-sided interval of level 1 - alpha. Whatever makes `Evidence` (a mean, a difference, a spread, a
distance) can therefore be tested for being above, below, within or beyond any margin.

Arrays have the runs, or the resamples, along their first axis; further axes are a batch of separate problems.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from gpbe.analysis.intervals import LEVEL, Interval
from gpbe.checks import as_floats, check_level, generator
from gpbe.errors import InputError
from gpbe.shapes import Array, Computed, Numbers, Scalar, as_scalar
from gpbe.wording import counted

RESAMPLES = 9_999
"""Resamples unless told otherwise: the smallest p-value is then 1/10,000, and a p-value of 0.001 is known to 0.0003."""


class Evidence(ABC):
    """What the data say about an unknown number, the truth."""

    estimate: Float[Array, "..."]

    @abstractmethod
    def above(self, bound: Numbers) -> Scalar:
        """The p-value of "the truth is at most `bound`": small if the data say that it is above."""

    @abstractmethod
    def below(self, bound: Numbers) -> Scalar:
        """The p-value of "the truth is at least `bound`": small if the data say that it is below."""

    @abstractmethod
    def limits(self, alpha: float) -> tuple[Scalar, Scalar]:
        """Lower and upper limit, each of which the truth violates with probability `alpha` at most."""

    def interval(self, level: float = LEVEL) -> Interval:
        """The two-sided interval with equal tails."""
        check_level(level)
        low, high = self.limits((1 - level) / 2)
        return Interval(as_scalar(self.estimate), low, high, level)

    def within(self, margin: float, around: float = 0.0) -> Scalar:
        """The p-value of "the truth is `margin` or more away from `around`": two one-sided tests (TOST)."""
        return as_scalar(np.maximum(self.above(around - margin), self.below(around + margin)))

    def beyond(self, margin: float, around: float = 0.0) -> Scalar:
        """The p-value of "the truth is within `margin` of `around`": there are two sides, so twice the smaller one."""
        return as_scalar(np.minimum(1, 2 * np.minimum(self.above(around + margin), self.below(around - margin))))


@dataclass(frozen=True, eq=False)
class Student(Evidence):
    """An estimate whose distance to the truth, over its standard error, has Student's distribution.

    An error of 0 says that no spread was seen, not that there is none: limits are infinite, p-values are 1.

    >>> print(Student(np.array(2.0), np.array(0.5), np.array(9.0)).interval())
    2 [0.8689, 3.131]
    """

    estimate: Float[Array, "..."]
    error: Float[Array, "..."]
    freedom: Float[Array, "..."]

    def above(self, bound: Numbers) -> Scalar:
        return self._tail(np.asarray(bound, float) - self.estimate)

    def below(self, bound: Numbers) -> Scalar:
        return self._tail(self.estimate - np.asarray(bound, float))

    def limits(self, alpha: float) -> tuple[Scalar, Scalar]:
        half = np.where(self.error > 0, stats.t.isf(alpha, self.freedom) * self.error, np.inf)
        return as_scalar(self.estimate - half), as_scalar(self.estimate + half)

    def _tail(self, distance: Computed) -> Scalar:
        pivot = distance / np.where(self.error > 0, self.error, 1.0)
        return as_scalar(np.where(self.error > 0, stats.t.cdf(pivot, self.freedom), 1.0))

    def drawn(self, seed: int | np.random.Generator = 0, resamples: int = RESAMPLES) -> "Drawn":
        """The same as draws, which can be combined with other draws."""
        t = stats.t.rvs(self.freedom, size=(resamples, *np.shape(self.estimate)), random_state=generator(seed))
        known = np.asarray(self.error) > 0
        draws = self.estimate + np.asarray(self.error) * t
        return Drawn(self.estimate, np.where(known, draws, -np.inf), np.where(known, draws, np.inf))


def summed(parts: Sequence[Student], weights: Numbers) -> Student:
    """Evidence about a weighted sum of truths, with Welch and Satterthwaite's degrees of freedom.

    >>> one = Student(np.array(2.0), np.array(0.3), np.array(9.0))
    >>> print(summed([one, one], [1.0, -1.0]).interval())
    0 [-0.8913, 0.8913]
    """
    weights = as_floats(weights, "weights")
    pairs = list(zip(parts, weights, strict=True))
    variances = [(w * np.asarray(part.error)) ** 2 for part, w in pairs]
    total = np.asarray(sum(variances, np.array(0.0)))
    by = sum((v**2 / part.freedom for v, (part, _) in zip(variances, pairs, strict=True)), np.array(0.0))
    freedom = np.where(by > 0, total**2 / np.where(by > 0, by, 1.0), 1.0)
    estimate = sum((w * part.estimate for part, w in pairs), np.array(0.0))
    return Student(np.asarray(estimate), np.asarray(np.sqrt(total)), np.asarray(freedom))


@dataclass(frozen=True, eq=False)
class Share(Evidence):
    """A share of `number` trials, which may be an effective number: Clopper and Pearson's limits, exact for whole ones.

    An infinite number says that the share is known.

    >>> print(Share(np.array(0.9), 30.0).interval())
    0.9 [0.7347, 0.9789]
    """

    estimate: Float[Array, ""]
    number: float

    def above(self, bound: Numbers) -> Scalar:
        if np.isinf(self.number):
            return float(self.estimate <= bound)
        successes = self.estimate * self.number
        return float(stats.beta.cdf(bound, successes, self.number - successes + 1)) if successes > 0 else 1.0

    def below(self, bound: Numbers) -> Scalar:
        if np.isinf(self.number):
            return float(self.estimate >= bound)
        failures = (1 - self.estimate) * self.number
        return float(stats.beta.sf(bound, self.number - failures + 1, failures)) if failures > 0 else 1.0

    def limits(self, alpha: float) -> tuple[Scalar, Scalar]:
        share = float(self.estimate)
        if np.isinf(self.number):
            return share, share
        successes = share * self.number
        low = stats.beta.ppf(alpha, successes, self.number - successes + 1) if share > 0 else 0.0
        high = stats.beta.isf(alpha, successes + 1, self.number - successes) if share < 1 else 1.0
        return float(low), float(high)


def share(happened: Numbers) -> Share:
    """Evidence about how often something happens, from whether it did in each run.

    >>> share([True, True, False]).estimate.round(2)
    np.float64(0.67)
    """
    flags = as_runs(np.asarray(happened, bool).astype(float))
    return Share(np.asarray(flags.mean()), float(len(flags)))


@dataclass(frozen=True, eq=False)
class Drawn(Evidence):
    """Draws from two confidence distributions: `lower` gives lower limits, `upper` gives upper limits.

    They are the same for a bootstrap. They differ where nothing but bounds is known of what was not seen.

    >>> draws = np.arange(1.0, 100.0)
    >>> evidence = Drawn(np.array(50.0), draws, draws)
    >>> evidence.above(4.5), evidence.limits(0.05)
    (0.05, (5.0, 95.0))
    """

    estimate: Float[Array, "..."]
    lower: Float[Array, "resamples ..."]
    upper: Float[Array, "resamples ..."]

    def above(self, bound: Numbers) -> Scalar:
        return as_scalar((1 + (self.lower <= np.asarray(bound, float)).sum(0)) / (1 + len(self.lower)))

    def below(self, bound: Numbers) -> Scalar:
        return as_scalar((1 + (self.upper >= np.asarray(bound, float)).sum(0)) / (1 + len(self.upper)))

    def limits(self, alpha: float) -> tuple[Scalar, Scalar]:
        # The k-th smallest draw: a bound has a p-value of at most alpha exactly if it is below it.
        k = int(np.floor(alpha * (1 + len(self.lower)) + 1e-9))
        if k < 1:
            nothing = np.full(np.shape(self.estimate), np.inf)
            return as_scalar(-nothing), as_scalar(nothing)
        low, high = np.partition(self.lower, k - 1, axis=0)[k - 1], -np.partition(-self.upper, k - 1, axis=0)[k - 1]
        return as_scalar(low), as_scalar(high)


def combined(parts: Sequence[Drawn], weights: Numbers) -> Drawn:
    """Evidence about a weighted sum of truths from independent evidence about each of them.

    Draws are added up, those for lower limits where a weight is positive and those for upper limits where it is
    negative: melding (Fay, Proschan and Brittain 2015), which for two shares of successes is Fisher's exact test.
    The draws of the parts must be independent of each other.
    """
    weights = as_floats(weights, "weights")
    if len(parts) != len(weights):
        raise InputError(f"there are {len(weights)} weights for {len(parts)} parts; give one for each")
    pairs = list(zip(parts, weights, strict=True))
    estimate = sum((w * part.estimate for part, w in pairs), np.array(0.0))
    lower = sum((w * (part.lower if w > 0 else part.upper) for part, w in pairs if w), np.array(0.0))
    upper = sum((w * (part.upper if w > 0 else part.lower) for part, w in pairs if w), np.array(0.0))
    return Drawn(np.asarray(estimate), lower, upper)


def wider(observed: float, drawn: Float[Array, " resamples"]) -> Drawn:
    """Evidence from resamples of a number that is not smooth: of percentiles and reflected ones, the wider limits.

    The draws are in order, so that they must not be combined with others.

    >>> print(wider(1.0, np.linspace(0.0, 1.5, 999)).interval())
    1 [0.03607, 1.964]
    """
    ordered = np.sort(drawn)
    reflected = (2 * observed - ordered)[::-1]
    return Drawn(np.asarray(observed), np.minimum(ordered, reflected), np.maximum(ordered, reflected))


def drawn_again(rng: np.random.Generator, n: int, resamples: int) -> Float[Array, "resamples n"]:
    """How often each of n runs is in a resample, over n: the law of `rng.multinomial`, ten times as fast.

    >>> drawn_again(np.random.default_rng(0), 5, 3).sum(1)
    array([1., 1., 1.])
    """
    places = rng.integers(n, size=(resamples, n)) + n * np.arange(resamples)[:, None]
    return np.bincount(places.ravel(), minlength=resamples * n).reshape(resamples, n) / n


def as_runs(values: Numbers, least: int = 1, name: str = "runs") -> Float[Array, "runs ..."]:
    """Finite numbers with at least `least` runs along the first axis."""
    runs = as_floats(values, name)
    if runs.ndim == 0 or len(runs) < least:
        count = len(runs) if runs.ndim else 0
        raise InputError(f"{name}: {counted(count, 'run')} where there should be {least} or more")
    return runs
