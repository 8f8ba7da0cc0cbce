"""From results to verdicts: exact numbers, and differences of means, of spreads and of shares with their intervals.

The interval of a difference is a bootstrap, over runs for what varies over runs and over settings for what varies over
settings. A claim that is made of several differences asks each of them at a level that makes all of them hold together
95 times in a hundred. With fewer than `FEW` values a bootstrap is too sure of itself: then Student's intervals must
agree with it, and a spread decides nothing. Shares of runs have exact intervals. No interval knows how a setting was
chosen (see `gpbe.analysis.compare`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from jaxtyping import Float
from scipy import stats

from gpbe.analysis.comparison import compare, verdict
from gpbe.analysis.intervals import LEVEL, RESAMPLES, Interval, resample, t_interval
from gpbe.analysis.labels import label_of
from gpbe.analysis.tables import stream
from gpbe.envs.domains import title_of
from gpbe.shapes import Array

Verdict = Literal["holds", "does not hold", "undecided", "no data"]
FEW = 10


@dataclass(frozen=True)
class Fact:
    """One number that a claim rests on, where it lies, and what that says."""

    what: str
    interval: Interval
    verdict: Verdict

    def __str__(self) -> str:
        interval = self.interval
        if interval.level == 1:  # exact
            return f"{self.what}: {number(float(interval.estimate))}"
        estimate, low, high = (number(float(x)) for x in (interval.estimate, interval.low, interval.high))
        return f"{self.what}: {estimate} [{low}, {high}]"


@dataclass(frozen=True)
class Finding:
    """What the data say about a claim."""

    verdict: Verdict
    facts: tuple[Fact, ...] = ()
    remark: str = ""

    @property
    def numbers(self) -> str:
        """The facts in a row, after the remark."""
        facts = "; ".join(map(str, self.facts))
        if not self.remark or not facts:
            return self.remark or facts
        return f"{self.remark}{' ' if self.remark.endswith('?') else ': '}{facts}"


def number(value: float) -> str:
    """Three digits, and a minus sign where there is one.

    >>> number(-123.456), number(0.01234), number(7.69e10), number(float("nan"))
    ('-123', '0.0123', '7.69e+10', '?')
    """
    if not np.isfinite(value):
        return "?"
    return f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"


def exactly(what: str, value: float, holds: bool) -> Fact:
    """A number that no chance is in, and whether it is as claimed.

    >>> print(exactly("distance", 0.2635, holds=True))
    distance: 0.264
    """
    return Fact(what, Interval(value, value, value, 1.0), "holds" if holds else "does not hold")


def all_of(facts: Iterable[Fact], remark: str = "") -> Finding:
    """The claim that every part holds: wrong if one is, open if one is, and without data if there are no parts."""
    facts = tuple(facts)
    kinds = {fact.verdict for fact in facts}
    for kind in ("does not hold", "undecided", "holds"):
        if kind in kinds:
            return Finding(kind, facts, remark)
    return Finding("no data", facts, remark)


def most_of(facts: Iterable[Fact], remark: str = "") -> Finding:
    """The claim that more than half of the parts hold."""
    facts = tuple(facts)
    if not facts:
        return Finding("no data", (), remark)
    hold, fail = (sum(fact.verdict == verdict for fact in facts) for verdict in ("holds", "does not hold"))
    half = len(facts) / 2
    return Finding("holds" if hold > half else "does not hold" if fail >= half else "undecided", facts, remark)


Sample = Float[Array, " n"]
Terms = Mapping[Any, tuple[float, Float[Array, " n"]]]
"""Weighted means to add up, by what they are means of."""


@dataclass(frozen=True)
class Asker:
    """Asks questions at a level that serves `questions` of them together.

    >>> fact = Asker(2).spread("left - right", np.arange(20.0) / 9, np.arange(20.0))
    >>> fact.verdict, round(fact.interval.estimate, 1)
    ('holds', 5.3)
    """

    questions: int = 1

    @property
    def level(self) -> float:
        return 1 - (1 - LEVEL) / max(1, self.questions)

    def better(self, table: pl.DataFrame, domain: str, first: str, second: str, margin: float = 0.0) -> Fact:
        """Is the mean of `first` above that of `second` in a domain, by more than `margin`? One setting of each."""
        found = compare(table, domain, first, second, margin=margin, level=self.level)
        one, other = (sample_of(table, domain, name) for name in (first, second))
        what = f"{title_of(domain)}, {label_of(first)} - {label_of(second)}"
        sure = min(len(one), len(other)) >= FEW or _apart(one, other, margin)
        return Fact(what, found.difference, found.verdict if sure else "undecided")

    def contrast(self, what: str, terms: Terms, margin: float = 0.0) -> Fact:
        """Is a sum of weighted means above the margin?"""
        interval, cautious = self._sum(what, terms)
        found = verdict(interval, margin)
        return Fact(what, interval, found if found == verdict(cautious, margin) else "undecided")

    def small(self, what: str, terms: Terms, margin: float) -> Fact:
        """Is a sum of weighted means within the margin, on either side of 0?"""
        interval, cautious = self._sum(what, terms)
        found = _within(interval, margin)
        return Fact(what, interval, found if found == _within(cautious, margin) else "undecided")

    def spread(self, what: str, first: Sample, second: Sample, fewest: int = FEW) -> Fact:
        """Is the standard deviation of the second sample above that of the first?"""
        return self.statistic(what, [first, second], lambda a, b: b.std(-1, ddof=1) - a.std(-1, ddof=1), fewest=fewest)

    def statistic(
        self,
        what: str,
        samples: Sequence[Sample],
        of: Callable[..., Array],
        threshold: float = 0.0,
        fewest: int = FEW,
    ) -> Fact:
        """Is a statistic of samples above a threshold? `of` reduces the last axis of each; open with few values."""
        size, rng = min(map(len, samples)), stream(0, what)
        estimate = low = high = float("nan")
        if size > 1:
            estimate = float(of(*samples))
            drawn = of(*(sample[rng.integers(len(sample), size=(RESAMPLES, len(sample)))] for sample in samples))
            low, high = map(float, np.quantile(drawn, [(1 - self.level) / 2, (1 + self.level) / 2]))
        interval = Interval(estimate, low, high, self.level)
        return Fact(what, interval, verdict(interval, threshold) if size >= fewest else "undecided")

    def mean_above(self, what: str, sample: Sample, threshold: float) -> Fact:
        """Is the mean of a sample above a threshold?"""
        return self.contrast(what, {what: (1.0, sample)}, threshold)

    def above(self, what: str, estimate: float, error: float, margin: float = 0.0) -> Fact:
        """Is a mean of very many values above the margin? `error` is its standard error."""
        half = float(stats.norm.ppf((1 + self.level) / 2)) * error
        interval = Interval(estimate, estimate - half, estimate + half, self.level)
        return Fact(what, interval, verdict(interval, margin))

    def share_above(self, what: str, successes: int, of: int, threshold: float) -> Fact:
        """Is a share above a threshold? Clopper and Pearson's interval, which is exact for any number of trials."""
        ends = stats.binomtest(successes, of).proportion_ci(self.level)
        interval = Interval(successes / of, float(ends.low), float(ends.high), self.level)
        return Fact(what, interval, verdict(interval, threshold))

    def _sum(self, what: str, terms: Terms) -> tuple[Interval, Interval]:
        """A bootstrap interval of a sum of weighted means, and Welch's where few values make that too narrow."""
        parts = [(weight, sample) for weight, sample in terms.values() if weight]
        size = min(len(sample) for _, sample in terms.values())
        estimate = float(sum(weight * sample.mean() for weight, sample in parts))
        unknown = Interval(estimate, float("nan"), float("nan"), self.level)
        if not parts:  # the same on both sides; few runs might as well have chosen otherwise
            exact = Interval(0.0, 0.0, 0.0, self.level)
            return exact, exact if size >= FEW else unknown
        if size < 2:
            return unknown, unknown
        drawn = sum(weight * resample(sample, stream(0, what, k)) for k, (weight, sample) in enumerate(parts))
        low, high = map(float, np.quantile(drawn, [(1 - self.level) / 2, (1 + self.level) / 2]))
        interval = Interval(estimate, low, high, self.level)
        return interval, interval if size >= FEW else _welch(estimate, parts)


def not_so(fact: Fact) -> Fact:
    """The same number as evidence for the opposite."""
    opposite: dict[Verdict, Verdict] = {"holds": "does not hold", "does not hold": "holds"}
    return replace(fact, verdict=opposite.get(fact.verdict, fact.verdict))


def sample_of(table: pl.DataFrame, domain: str, algorithm: str) -> Sample:
    """The performances of an algorithm's runs in a domain."""
    return table.filter(domain=domain, algorithm=algorithm).sort("setting", "run")["performance"].to_numpy()


def _apart(first: Sample, second: Sample, margin: float) -> bool:
    """Do Student's intervals of two means lie apart, one of them shifted by the margin?"""
    if min(len(first), len(second)) < 2:
        return False
    one, other = t_interval(first), t_interval(second + margin)
    return bool(one.low > other.high or other.low > one.high)


def _welch(estimate: float, parts: Sequence[tuple[float, Sample]]) -> Interval:
    """Student's interval for a sum of weighted means, with Welch and Satterthwaite's degrees of freedom."""
    variances = [(weight**2 * sample.var(ddof=1) / len(sample), len(sample) - 1) for weight, sample in parts]
    total = sum(variance for variance, _ in variances)
    degrees = total**2 / sum(variance**2 / free for variance, free in variances) if total else 1.0
    half = float(stats.t.ppf((1 + LEVEL) / 2, degrees) * np.sqrt(total))
    return Interval(estimate, estimate - half, estimate + half, LEVEL)


def _within(interval: Interval, margin: float) -> Verdict:
    if -margin <= interval.low and interval.high <= margin:
        return "holds"
    return "does not hold" if interval.low > margin or interval.high < -margin else "undecided"
