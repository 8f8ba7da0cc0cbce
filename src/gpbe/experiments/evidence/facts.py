"""Facts about samples of runs: differences of means by the bounds of returns, ratios of spreads."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np

from gpbe.analysis import inference
from gpbe.analysis.findings import UNKNOWN, Basis, Cell, Fact
from gpbe.analysis.inference import Drawn, Evidence, Interval, verdicts
from gpbe.analysis.inference.bounds import order_statistics
from gpbe.analysis.inference.evidence import LEVEL, RESAMPLES
from gpbe.experiments.evidence.gathered import Runs
from gpbe.experiments.evidence.levels import MARGIN, bounds_of

Ask = Callable[[Evidence], verdicts.Fact]
"""What is asked of a number."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Runs of one setting in one domain."""

    domain: str
    runs: Runs
    basis: Basis
    cell: Cell | None = None
    """The setting that it is about, if more runs of it can be made."""
    resamples: int = RESAMPLES

    @cached_property
    def mean(self) -> Drawn:
        """Evidence about the mean. Its draws are those of this sample in every question, and of no other sample."""
        seed = seed_of(f"{self.basis} {self.domain} {self.cell} {self.runs.tobytes().hex()}")
        return order_statistics(self.runs, *bounds_of(self.domain), seed, self.resamples)


Terms = Mapping[tuple[str, object], tuple[float, Sample]]
"""Weighted means to add up, by domain and whatever tells them apart."""


def difference(what: str, first: Sample, second: Sample, by: float = 0.0) -> Fact:
    """Is the mean of the first above that of the second, by more than `by`?"""
    return mean_fact(what, _two(first, second), more_than(by))


def same(what: str, first: Sample, second: Sample, margin: float = MARGIN) -> Fact:
    """Are two means less than a margin apart?"""
    return mean_fact(what, _two(first, second), within(margin))


def mean_fact(what: str, terms: Terms, ask: Ask) -> Fact:
    """A question about a sum of weighted means, by limits that use the bounds of returns."""
    used, basis, cells = parts(terms)
    if not used:  # both sides are the same settings, by a choice that might have come out differently
        return Fact(f"{what} (the same settings)", Interval(0.0, 0.0, 0.0, LEVEL), UNKNOWN, basis, cells)
    evidence = inference.combined([sample.mean for _, sample in used], [weight for weight, _ in used])
    return Fact(what, evidence.interval(), ask(evidence), basis, cells)


def spread(what: str, first: Sample, second: Sample, by: float = 1.0) -> Fact:
    """Is the standard deviation of the first more than `by` times that of the second? Few runs decide nothing."""
    evidence = inference.spread_ratio(first.runs, second.runs, seed_of(what), first.resamples)
    interval = evidence.interval()
    with np.errstate(over="ignore"):
        ratio, low, high = (float(np.exp(x)) for x in (interval.estimate, interval.low, interval.high))
    few = min(len(first.runs), len(second.runs)) < inference.FEW
    p = UNKNOWN if few or not np.isfinite(interval.estimate) else verdicts.above(evidence, log(by))
    return based(Fact(what, Interval(ratio, low, high, interval.level), p), [first, second])


def within(margin: float = MARGIN) -> Ask:
    """The question whether a number is within a margin of 0."""
    return lambda evidence: verdicts.similar(evidence, margin)


def more_than(bound: float = 0.0) -> Ask:
    """The question whether a number is above a bound."""
    return lambda evidence: verdicts.above(evidence, bound)


def _two(first: Sample, second: Sample) -> Terms:
    return {(first.domain, "first"): (1.0, first), (second.domain, "second"): (-1.0, second)}


def parts(terms: Terms) -> tuple[list[tuple[float, Sample]], tuple[Basis, ...], frozenset[Cell]]:
    """What weighs something, where all of it comes from, and of what more runs can be made."""
    samples = [sample for _, sample in terms.values()]
    cells = frozenset(sample.cell for sample in samples if sample.cell is not None)
    once = any(sample.cell is None for sample in samples)
    used = [(weight, sample) for weight, sample in terms.values() if weight]
    return used, tuple(dict.fromkeys(sample.basis for sample in samples)), frozenset() if once else cells


def based(fact: Fact, samples: Iterable[Sample]) -> Fact:
    """A fact, with the samples that it rests on."""
    _, basis, cells = parts({("", k): (1.0, sample) for k, sample in enumerate(samples)})
    return replace(fact, basis=basis, cells=cells)


def seed_of(what: str) -> int:
    """A seed of its own for each question: no two share random numbers."""
    return zlib.crc32(what.encode())
