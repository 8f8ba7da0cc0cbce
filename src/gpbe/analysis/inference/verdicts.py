"""Verdicts from p-values: facts, conjunctions, "at least u of k", "most of", and false discoveries over claims.

A fact comes with two p-values: that of its opposite (small: the fact holds), and its own (small: it does not hold).
A claim made of facts has two p-values again, so claims can be nested. All corrections hold under any dependence.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe.analysis.inference.evidence import Evidence
from gpbe.checks import as_floats, check_known
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers

ALPHA = 0.025
"""How often a verdict of either kind may be wrong: one tail of an interval of level 95 %."""

Outcome = Literal["holds", "does not hold", "undecided"]


class Fact(NamedTuple):
    """p-values for a statement: `holds` is small if the data say that it is so, `fails` if they say that it is not."""

    holds: float
    fails: float


class Verdict(NamedTuple):
    """An outcome, and the p-value that it rests on: the smaller of the two."""

    outcome: Outcome
    p: float


def above(evidence: Evidence, bound: float) -> Fact:
    """The fact that a number is above a bound."""
    return Fact(float(evidence.above(bound)), float(evidence.below(bound)))


def below(evidence: Evidence, bound: float) -> Fact:
    """The fact that a number is below a bound."""
    return negation(above(evidence, bound))


def similar(evidence: Evidence, margin: float) -> Fact:
    """The fact that a number is within `margin` of 0: two one-sided tests; it fails if it is beyond on either side."""
    return Fact(float(evidence.within(margin)), float(evidence.beyond(margin)))


def negation(fact: Fact) -> Fact:
    """The opposite of a fact."""
    return Fact(fact.fails, fact.holds)


def partial_conjunction(p_values: Numbers, u: int, independent: bool = False) -> float:
    """The p-value of "fewer than `u` of the k alternatives are true" (Benjamini and Heller 2008).

    (k - u + 1) p_(u), right under any dependence: the largest p-value for u = k, an intersection-union test without a
    correction, and Bonferroni's for u = 1. With `independent` p-values Simes' combination of the k - u + 1 largest,
    which is never larger.

    >>> [partial_conjunction([0.01, 0.02, 0.03], u) for u in (1, 2, 3)]
    [0.03, 0.04, 0.03]
    """
    ordered = np.sort(as_floats(p_values, "p_values"))
    k = len(ordered)
    if not 1 <= u <= k:
        raise InputError(f"u is {u}; it should be from 1 to the number of p-values, {k}")
    rest = ordered[u - 1 :] * (k - u + 1)
    return float(min(1.0, (rest / np.arange(1, len(rest) + 1)).min() if independent else rest[0]))


def at_least(facts: Sequence[Fact], u: int, independent: bool = False) -> Fact:
    """The claim that at least `u` of k facts hold; it fails if at least k - u + 1 of them fail.

    >>> facts = [Fact(0.01, 0.9), Fact(0.02, 0.9), Fact(0.5, 0.4)]
    >>> at_least(facts, 2)
    Fact(holds=0.04, fails=1.0)
    """
    if not facts:
        raise InputError("a claim needs at least one fact")
    holds = partial_conjunction([fact.holds for fact in facts], u, independent)
    return Fact(holds, partial_conjunction([fact.fails for fact in facts], len(facts) - u + 1, independent))


def every(facts: Sequence[Fact]) -> Fact:
    """The claim that all facts hold: each at the level itself (intersection-union); it fails if one does, corrected."""
    return at_least(facts, len(facts))


def some(facts: Sequence[Fact]) -> Fact:
    """The claim that a fact holds: one of them, corrected; it fails if each fails."""
    return at_least(facts, 1)


def most(facts: Sequence[Fact]) -> Fact:
    """The claim that more than half of the facts hold."""
    return at_least(facts, len(facts) // 2 + 1)


def verdict(fact: Fact, alpha: float = ALPHA) -> Verdict:
    """What to say of a fact: each of the two verdicts is wrong with probability `alpha` at most.

    >>> verdict(Fact(0.003, 0.99))
    Verdict(outcome='holds', p=0.003)
    """
    p = min(fact)
    if p > alpha:
        return Verdict("undecided", p)
    return Verdict("holds" if fact.holds <= fact.fails else "does not hold", p)


def holm(p_values: Numbers) -> Float[Array, " claims"]:
    """p-values adjusted so that the probability of even one false rejection is at most alpha (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = as_floats(p_values, "p_values")
    order = p.argsort()
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def false_discovery(p_values: Numbers, method: str = "benjamini-hochberg") -> Float[Array, " claims"]:
    """q-values: a list of all claims with q at most 5 % has, in expectation, at most 5 % false ones in it.

    `benjamini-hochberg` (1995) for independent or positively dependent p-values; `benjamini-yekutieli` (2001) for any
    dependence, larger by the factor 1 + 1/2 + ... + 1/k.

    >>> false_discovery([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    check_known(method, ["benjamini-hochberg", "benjamini-yekutieli"], "method")
    p = as_floats(p_values, "p_values")
    ranks = np.arange(1, len(p) + 1)
    factor = (1 / ranks).sum() if method == "benjamini-yekutieli" else 1.0
    order = p.argsort()
    adjusted = np.empty(len(p))
    stepped = (p[order] * len(p) * factor / ranks)[::-1]
    adjusted[order] = np.minimum(1, np.minimum.accumulate(stepped)[::-1])
    return adjusted


def q_values(facts: Sequence[Fact], method: str = "benjamini-hochberg") -> Float[Array, " claims"]:
    """The false discovery rate at which each claim's verdict, of either kind, would be made.

    Of a claim's two hypotheses exactly one is true, so that k claims have k true hypotheses, and the step-up over the
    smaller p-value of each claim needs no doubling: wrong verdicts are at most a share q of the verdicts made.
    """
    return false_discovery([min(fact) for fact in facts], method)
