"""Findings about a claim, from numbers: facts with their intervals and p-values, put together, and a verdict.

A claim asks for facts; `every`, `some`, `most` and `at_least` put them together and can be nested. An `Answer` has
p-values and no verdict: that depends on the level at which it is looked at (`found`). What no chance is in is exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gpbe.analysis.inference import verdicts
from gpbe.analysis.inference.evidence import LEVEL, Evidence, Interval
from gpbe.analysis.inference.verdicts import Outcome

ERROR = 0.05
"""How often a verdict may be wrong."""
LOOKS = (0.01, 0.04)
"""The parts of it that are spent on a first look and on a second one, with more runs."""
IS_SO, IS_NOT = verdicts.Fact(0.0, 1.0), verdicts.Fact(1.0, 0.0)
UNKNOWN = verdicts.Fact(1.0, 1.0)


class Basis(NamedTuple):
    """Where a number comes from: an experiment, and how many runs of a setting."""

    experiment: str
    runs: int = 0
    """0 where no runs are counted."""


class Cell(NamedTuple):
    """A setting of an algorithm in a domain: what more runs can be made of."""

    algorithm: str
    domain: str
    setting: int


@dataclass(frozen=True)
class Fact:
    """One number that a claim rests on, where it lies, and the p-values of what is asked of it."""

    what: str
    interval: Interval
    p: verdicts.Fact
    basis: tuple[Basis, ...] = ()
    cells: frozenset[Cell] = frozenset()
    """Those whose fresh runs it rests on."""

    @property
    def facts(self) -> "tuple[Fact, ...]":
        """Itself: a fact is the smallest answer."""
        return (self,)

    @property
    def exact(self) -> bool:
        """Is there no chance in it?"""
        return self.interval.level == 1

    def outcome(self, level: float = ERROR) -> Outcome:
        """The verdict on this fact alone."""
        return verdicts.verdict(self.p, level).outcome

    def __str__(self) -> str:
        interval = self.interval
        if interval.low == interval.high:
            return f"{self.what}: {number(float(interval.estimate))}"
        estimate, low, high = (number(float(x)) for x in (interval.estimate, interval.low, interval.high))
        return f"{self.what}: {estimate} [{low}, {high}]"


@dataclass(frozen=True)
class Answer:
    """Facts put together: p-values of the whole, and what is asked."""

    facts: tuple[Fact, ...]
    p: verdicts.Fact
    remark: str = ""

    @property
    def cells(self) -> frozenset[Cell]:
        """The cells whose fresh runs it rests on."""
        return frozenset().union(*(fact.cells for fact in self.facts))

    @property
    def exact(self) -> bool:
        """Is there no chance in it?"""
        return bool(self.facts) and all(fact.exact for fact in self.facts)

    @property
    def where(self) -> str:
        """The experiments behind it, with their runs.

        >>> nothing = Interval(0.0, 0.0, 0.0, 0.95)
        >>> facts = [Fact("x", nothing, UNKNOWN, (Basis("evidence-verdict", n),)) for n in (30, 50)]
        >>> every(facts).where
        'evidence-verdict (30 to 50 runs)'
        """
        runs: dict[str, set[int]] = {}
        for basis in (basis for fact in self.facts for basis in fact.basis):
            runs.setdefault(basis.experiment, set()).add(basis.runs)
        return ", ".join(f"{name}{_runs(counts - {0})}" for name, counts in runs.items())


def _runs(counts: set[int]) -> str:
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return f" ({low}{'' if low == high else f' to {high}'} run{'s' if high > 1 else ''})"


Part = Fact | Answer


@dataclass(frozen=True)
class Finding:
    """What the data say about a claim."""

    verdict: Outcome
    facts: tuple[Fact, ...] = ()
    remark: str = ""
    where: str = ""
    """The experiments that decided, and how many runs."""
    p: float = 1.0
    """That the verdict rests on, over all looks: at most `ERROR` where it is decided."""
    missing: str = ""
    """Why there is nothing to decide by."""
    exact: bool = False
    level: float = field(default=ERROR, compare=False)
    """The level at which it was looked at the last time."""

    @property
    def numbers(self) -> str:
        """The facts in a row, after the remark; or what is missing."""
        if self.missing:
            return self.missing
        facts = "; ".join(map(str, self.facts))
        if not self.remark or not facts:
            return self.remark or facts
        return f"{self.remark}{' ' if self.remark.endswith('?') else ': '}{facts}"


def lacking(reason: str) -> Finding:
    """A claim that nothing is stored for."""
    return Finding("undecided", missing=reason)


def found(answer: Answer, level: float = ERROR) -> Finding:
    """The verdict at a level, a part of `ERROR` where a claim is looked at more than once.

    >>> found(every([exactly("distance", 0.26, True)])).verdict
    'holds'
    """
    verdict = verdicts.verdict(answer.p, level)
    p = min(1.0, verdict.p * ERROR / level)
    return Finding(verdict.outcome, answer.facts, answer.remark, answer.where, p, exact=answer.exact, level=level)


def number(value: float) -> str:
    """Three digits, and a minus sign where there is one.

    >>> number(-123.456), number(0.01234), number(7.69e10), number(float("nan"))
    ('-123', '0.0123', '7.69e+10', '?')
    """
    if not np.isfinite(value):
        return "?"
    return f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"


def exactly(what: str, value: float, holds: bool, basis: Sequence[Basis] = ()) -> Fact:
    """A number that no chance is in, and whether it is as claimed.

    >>> print(exactly("distance", 0.2635, holds=True))
    distance: 0.264
    """
    return Fact(what, Interval(value, value, value, 1.0), IS_SO if holds else IS_NOT, tuple(basis))


def above(what: str, evidence: Evidence, bound: float = 0.0) -> Fact:
    """The fact that a number is above a bound."""
    return Fact(what, evidence.interval(LEVEL), verdicts.above(evidence, bound))


def below(what: str, evidence: Evidence, bound: float = 0.0) -> Fact:
    """The fact that a number is below a bound."""
    return Fact(what, evidence.interval(LEVEL), verdicts.below(evidence, bound))


def similar(what: str, evidence: Evidence, margin: float) -> Fact:
    """The fact that a number is within a margin of 0, by two one-sided tests."""
    return Fact(what, evidence.interval(LEVEL), verdicts.similar(evidence, margin))


def not_so(fact: Fact) -> Fact:
    """The same number as evidence for the opposite."""
    return replace(fact, p=verdicts.negation(fact.p))


def every(parts: Iterable[Part], remark: str = "") -> Answer:
    """All parts hold: each at the full level (intersection-union); it fails if one does, corrected for their number."""
    return at_least(None, parts, remark)


def some(parts: Iterable[Part], remark: str = "") -> Answer:
    """At least one part holds, corrected for their number; it fails if each of them does."""
    return at_least(1, parts, remark)


def most(parts: Iterable[Part], remark: str = "") -> Answer:
    """More than half of the parts hold."""
    parts = tuple(parts)
    return at_least(len(parts) // 2 + 1, parts, remark)


def at_least(count: int | None, parts: Iterable[Part], remark: str = "") -> Answer:
    """At least so many of the parts hold; all if None.

    >>> at_least(2, [exactly("a", 1.0, True), exactly("b", 1.0, True), exactly("c", 1.0, False)]).p.holds
    0.0
    """
    parts = tuple(parts)
    p = verdicts.at_least([part.p for part in parts], len(parts) if count is None else count)
    return Answer(tuple(fact for part in parts for fact in part.facts), p, remark)
