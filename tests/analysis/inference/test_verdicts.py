"""Verdicts: adjusted p-values against SciPy's and hand-made ones, and error rates of claims with known truth."""

import numpy as np
import pytest
from scipy import stats

from gpbe.analysis.inference import (
    Fact,
    Student,
    above,
    at_least,
    every,
    false_discovery,
    holm,
    most,
    negation,
    partial_conjunction,
    q_values,
    similar,
    some,
    verdict,
)
from gpbe.analysis.inference.simulation import rate

RNG = np.random.default_rng(1)


def test_false_discovery_rates_are_scipys():
    p = RNG.random(17) ** 3
    np.testing.assert_allclose(false_discovery(p), stats.false_discovery_control(p))
    by = false_discovery(p, "benjamini-yekutieli")
    np.testing.assert_allclose(by, stats.false_discovery_control(p, method="by"))


def test_holms_procedure_rejects_step_by_step():
    p, alpha = RNG.random(9) / 10, 0.05
    rejected = np.zeros(9, bool)
    for k, i in enumerate(p.argsort()):
        if p[i] > alpha / (9 - k):
            break
        rejected[i] = True
    np.testing.assert_array_equal(holm(p) <= alpha, rejected)


def test_all_and_some_are_the_ends_of_at_least():
    facts = [Fact(*pair) for pair in RNG.random((7, 2)) / 10]
    holds, fails = (np.array(side) for side in zip(*facts, strict=True))
    assert every(facts) == pytest.approx((holds.max(), 7 * fails.min()))
    assert some(facts) == pytest.approx((7 * holds.min(), fails.max()))
    assert most(facts) == at_least(facts, 4)
    assert negation(every(facts)) == some([negation(fact) for fact in facts])


def simulated(effects, repetitions, correlation=0.0):
    """Facts about normal means: p-values of "above 0" and of "below 0" for each."""
    common = RNG.normal(size=(repetitions, 1)) * np.sqrt(correlation)
    z = effects + common + RNG.normal(size=(repetitions, len(effects))) * np.sqrt(1 - correlation)
    holds, fails = stats.norm.sf(z).tolist(), stats.norm.cdf(z).tolist()
    return [[Fact(*pair) for pair in zip(*rows, strict=True)] for rows in zip(holds, fails, strict=True)]


def test_twelve_facts_hold_with_the_power_of_an_intersection_union_test():
    # Each fact has the power 0.93^(1/12) at 2.5 %; all twelve have 93 % together, and 50 % with a correction.
    effects = np.full(12, stats.norm.isf(0.025) + stats.norm.ppf(0.93 ** (1 / 12)))
    runs = simulated(effects, 600)
    right = rate([verdict(every(facts)).outcome == "holds" for facts in runs])
    corrected = rate([12 * every(facts).holds <= 0.025 for facts in runs])
    assert right.low <= 0.93 <= right.high
    exact = stats.norm.sf(stats.norm.isf(0.025 / 12) - effects[0]) ** 12
    assert 0.48 < exact < 0.54
    assert corrected.low <= exact <= corrected.high


@pytest.mark.parametrize("correlation", [0.0, 0.6])
@pytest.mark.parametrize(
    ("claim", "effects"),
    [
        # Borderline cases: one fact just fails, the others hold for sure; or half of the facts just fail.
        (every, [0.0] + [9.0] * 11),
        (some, [0.0] * 12),
        (most, [9.0] * 6 + [0.0] * 6),
        (lambda facts: at_least(facts, 3), [9.0] * 2 + [0.0] * 10),
    ],
)
def test_claims_that_do_not_hold_are_said_to_hold_no_more_often_than_alpha(claim, effects, correlation):
    runs = simulated(np.array(effects), 500, correlation)
    assert rate([verdict(claim(facts)).outcome == "holds" for facts in runs]).low <= 0.025
    # And turned around: claims that do hold are not said to fail.
    turned = simulated(-np.array(effects), 500, correlation)
    wrong = [verdict(negation(claim([negation(fact) for fact in facts]))).outcome for facts in turned]
    assert rate([outcome == "does not hold" for outcome in wrong]).low <= 0.025


def test_the_test_for_independent_facts_is_valid_and_never_weaker():
    runs = simulated(np.array([9.0] * 3 + [0.0] * 5), 500)
    p = np.array([[partial_conjunction([f.holds for f in facts], 4, i) for i in (False, True)] for facts in runs])
    assert (p[:, 1] <= p[:, 0]).all()
    assert rate(p[:, 1] <= 0.05).low <= 0.05


def test_similarity_errs_at_its_margins_no_more_often_than_alpha():
    error, margin = 0.2, 1.0

    def facts(truth):
        return [similar(Student(np.array(e), np.array(error), np.array(1e6)), margin) for e in truth]

    at_margin = facts(RNG.normal(margin, error, 400))
    holds = rate([fact.holds <= 0.025 for fact in at_margin])
    assert holds.low <= 0.025 <= holds.high
    assert rate([fact.fails <= 0.025 for fact in at_margin]).low <= 0.025
    assert all(verdict(fact).outcome == "holds" for fact in facts([0.0, 0.5]))
    assert all(verdict(fact).outcome == "does not hold" for fact in facts([2.0, -2.0]))


def test_few_of_the_verdicts_over_all_claims_are_false():
    repetitions, effects = 200, np.array([0.02] * 30 + [-0.02] * 10 + [3.0] * 15 + [-3.0] * 5)
    shares = []
    for facts in simulated(effects, repetitions):
        decided = q_values(facts) <= 0.1
        said = np.array([fact.holds < fact.fails for fact in facts])
        wrong = decided & (said != (effects > 0))
        shares.append(wrong.sum() / max(decided.sum(), 1))
    error = np.std(shares) / np.sqrt(repetitions)
    assert np.mean(shares) <= 0.1 + 3.3 * error


def test_verdicts_of_evidence():
    evidence = Student(np.array(1.0), np.array(0.2), np.array(50.0))
    assert verdict(above(evidence, 0.0)).outcome == "holds"
    assert verdict(above(evidence, 2.0)).outcome == "does not hold"
    assert verdict(above(evidence, 0.9)).outcome == "undecided"


def test_wrong_input_is_refused(refuses):
    refuses(lambda: at_least([], 1), "at least one fact")
    refuses(lambda: partial_conjunction([0.1, 0.2], 3), "u is 3; it should be from 1")
    refuses(lambda: false_discovery([0.1], "benjamini-hochburg"), "did you mean 'benjamini-hochberg'")
