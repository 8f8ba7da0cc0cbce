"""Is one algorithm better than another? Differences of mean performance, with verdicts on claims."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from gpbe.analysis.intervals import LEVEL, RESAMPLES, Interval, Statistic, resample, statistic_of
from gpbe.analysis.tables import check_known, check_performances, restrict, stream
from gpbe.checks import check_level
from gpbe.errors import InputError
from gpbe.shapes import Array

Verdict = Literal["holds", "does not hold", "undecided"]


def verdict(difference: Interval, margin: float | int = 0.0) -> Verdict:
    """Is the difference above the margin? Undecided where the interval has numbers on both sides of it, or is unknown.

    >>> verdict(Interval(2.0, 1.0, 3.0, 0.95)), verdict(Interval(2.0, -1.0, 5.0, 0.95))
    ('holds', 'undecided')
    >>> verdict(Interval(0.0, 0.0, 0.0, 0.95))
    'does not hold'
    """
    if difference.low > margin:
        return "holds"
    return "does not hold" if difference.high <= margin else "undecided"


@dataclass(frozen=True, eq=False)
class Comparison:
    """The claim that `first` is better than `second` in a domain by more than `margin`, with its numbers.

    >>> print(Comparison("hill", "qrc", "sbeed", 5.0, 3.0, 30, 28, Interval(2.0, 1.25, 2.75, 0.95)))
    hill: qrc - sbeed = 2 [1.25, 2.75] (30 and 28 runs): qrc > sbeed holds
    """

    domain: str
    first: str
    second: str
    first_score: float
    second_score: float
    first_runs: int
    second_runs: int
    difference: Interval
    statistic: Statistic = "mean"
    margin: float | int = 0.0

    @property
    def verdict(self) -> Verdict:
        return verdict(self.difference, self.margin)

    def __str__(self) -> str:
        margin = f" {'+' if self.margin > 0 else '-'} {abs(self.margin):g}" if self.margin else ""
        verb = f"is {self.verdict}" if self.verdict == "undecided" else self.verdict
        return (
            f"{self.domain}: {self.first} - {self.second} = {self.difference} "
            f"({self.first_runs} and {self.second_runs} runs): {self.first} > {self.second}{margin} {verb}"
        )


def compare(
    performances: pl.DataFrame,
    domain: str,
    first: str,
    second: str,
    choices: pl.DataFrame | None = None,
    margin: float | int = 0.0,
    statistic: Statistic = "mean",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Is `first` better than `second` in a domain, by more than `margin`?

    `choices` says with which setting each of them competes: a table such as `select_by_vote` or `select_per_domain`
    makes. The interval is a percentile bootstrap of the difference; the runs of each are drawn apart, so neither equal
    numbers nor equal spreads are assumed. A negative margin asks whether it is at least not much worse.

    Between equals, one question in twenty comes out decided at level 0.95: raise the level where many are asked. The
    interval knows nothing of how settings were chosen; one that was chosen for its mean on these very runs, out of
    many, is flattered by it.

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": ["qrc"] * 3 + ["sbeed"] * 3, "setting": 0, "run": [0, 1, 2] * 2,
    ...     "performance": [4.0, 5.0, 6.0, 1.0, 0.0, 2.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> print(compare(performances, "hill", "qrc", "sbeed"))
    hill: qrc - sbeed = 4 [2.667, 5.333] (3 and 3 runs): qrc > sbeed holds
    """
    table = check_performances(performances)
    check_known(domain, table["domain"], "domain")
    check_level(level)
    chosen = restrict(table.lazy(), choices).filter(pl.col("domain") == domain).collect()
    one, other = (_sample(table, chosen, domain, name) for name in (first, second))
    score, other_score = (float(statistic_of(sample, statistic)) for sample in (one, other))
    low = high = float("nan")
    if min(len(one), len(other)) > 1:  # one run has no spread to resample
        # A stream for each side: comparing something with itself must not cancel.
        drawn = [
            resample(sample, stream(seed, domain, name, side), statistic, resamples)
            for side, name, sample in (("first", first, one), ("second", second, other))
        ]
        low, high = map(float, np.quantile(drawn[0] - drawn[1], [(1 - level) / 2, (1 + level) / 2]))
    difference = Interval(score - other_score, low, high, level)
    return Comparison(domain, first, second, score, other_score, len(one), len(other), difference, statistic, margin)


def comparison_table(comparisons: Iterable[Comparison]) -> pl.DataFrame:
    """Comparisons as a table.

    Columns: domain, first, second, first_score, second_score, first_runs, second_runs, difference, low, high (null
    where unknown), level, statistic, margin, verdict.

    >>> won = Comparison("hill", "qrc", "sbeed", 5.0, 3.0, 30, 28, Interval(2.0, 1.25, 2.75, 0.95))
    >>> comparison_table([won]).select("difference", "low", "verdict").rows()
    [(2.0, 1.25, 'holds')]
    """
    rows = [
        {
            "domain": c.domain,
            "first": c.first,
            "second": c.second,
            "first_score": c.first_score,
            "second_score": c.second_score,
            "first_runs": c.first_runs,
            "second_runs": c.second_runs,
            "difference": c.difference.estimate,
            "low": c.difference.low,
            "high": c.difference.high,
            "level": c.difference.level,
            "statistic": c.statistic,
            "margin": c.margin,
            "verdict": c.verdict,
        }
        for c in comparisons
    ]
    if not rows:
        raise InputError("there are no comparisons; give at least one")
    return pl.DataFrame(rows).with_columns(pl.col("low", "high").fill_nan(None))


def _sample(table: pl.DataFrame, chosen: pl.DataFrame, domain: str, algorithm: str) -> Array:
    check_known(algorithm, table["algorithm"], "algorithm")
    rows = chosen.filter(pl.col("algorithm") == algorithm)
    settings = rows["setting"].n_unique()
    if settings != 1:
        raise InputError(
            f"{algorithm!r} competes with {settings} settings in {domain!r}; choose one, as with select_by_vote"
        )
    return rows["performance"].to_numpy()
