"""Verdicts on claims that one algorithm is better than another."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gpbe import InputError, analysis
from helpers.analysis_tables import PERFORMANCES, performances_table


def contest(first, second) -> pl.DataFrame:
    return performances_table({("hill", "qrc", 0): list(first), ("hill", "sbeed", 0): list(second)})


def test_a_difference_with_its_interval():
    rng = np.random.default_rng(0)
    first, second = (rng.normal(m, s, n).astype(np.float32).astype(float) for m, s, n in ((1, 1, 60), (0, 3, 90)))
    found = analysis.compare(contest(first, second), "hill", "qrc", "sbeed", resamples=8000)
    assert found.difference.estimate == pytest.approx(first.mean() - second.mean())
    assert (found.first_score, found.second_score) == pytest.approx((first.mean(), second.mean()))
    assert (found.first_runs, found.second_runs) == (60, 90)
    theirs = stats.bootstrap(
        (first, second), lambda x, y, axis=-1: x.mean(axis) - y.mean(axis), n_resamples=8000, method="percentile", rng=0
    ).confidence_interval
    np.testing.assert_allclose([found.difference.low, found.difference.high], [theirs.low, theirs.high], atol=0.06)


@pytest.mark.parametrize(
    ("first", "second", "margin", "expected"),
    [
        ([5, 6, 7], [1, 2, 3], 0.0, "holds"),
        ([1, 2, 3], [5, 6, 7], 0.0, "does not hold"),
        ([1, 5, 9], [2, 5, 8], 0.0, "undecided"),
        ([5, 6, 7], [1, 2, 3], 9.0, "does not hold"),
        ([1, 2, 3], [5, 6, 7], -9.0, "holds"),
        ([4, 4, 4], [4, 4, 4], 0.0, "does not hold"),  # equal for certain, so not greater
        ([4, 4, 4], [4, 4, 4], -0.5, "holds"),
        ([5], [1, 2, 3], 0.0, "undecided"),  # one run proves nothing
    ],
)
def test_verdicts(first, second, margin, expected):
    assert analysis.compare(contest(first, second), "hill", "qrc", "sbeed", margin=margin).verdict == expected


def test_claims_print_with_their_numbers():
    table = contest([5, 5, 5], [1, 1, 1])
    say = lambda **options: str(analysis.compare(table, "hill", "qrc", "sbeed", **options))  # noqa: E731
    assert say() == "hill: qrc - sbeed = 4 [4, 4] (3 and 3 runs): qrc > sbeed holds"
    assert say(margin=6.0).endswith("qrc > sbeed + 6 does not hold")
    assert say(margin=-6.0).endswith("qrc > sbeed - 6 holds")
    undecided = analysis.compare(contest([1, 9], [2, 8]), "hill", "qrc", "sbeed")
    assert str(undecided).endswith("qrc > sbeed is undecided")


def test_medians_can_be_compared():
    table = contest([0, 10, 10], [9, 9, 9])
    assert analysis.compare(table, "hill", "qrc", "sbeed", statistic="median").difference.estimate == 1
    assert analysis.compare(table, "hill", "qrc", "sbeed").difference.estimate == pytest.approx(20 / 3 - 9)


@pytest.mark.slow
def test_equals_are_rarely_told_apart_and_different_ones_usually():
    """Between equals, 5 % are decided at level 0.95 (a little more with 30 runs); 14 of 150 is three sigma above."""
    rng = np.random.default_rng(0)
    decided = found = 0
    for _ in range(150):
        first, second = rng.normal(size=(2, 30))
        options = {"domain": "hill", "first": "qrc", "second": "sbeed", "resamples": 400}
        decided += analysis.compare(contest(first, second), **options).verdict != "undecided"
        found += analysis.compare(contest(first + 1.2, second), **options).verdict == "holds"
    assert 1 <= decided <= 17
    assert found > 140


def test_settings_have_to_be_chosen():
    chosen = analysis.select_by_vote(PERFORMANCES)
    found = analysis.compare(PERFORMANCES, "pole", "qrc", "sbeed", chosen)
    setting = chosen.filter(algorithm="qrc")["setting"][0]
    rows = PERFORMANCES.filter(domain="pole", algorithm="qrc", setting=setting)
    assert found.first_score == pytest.approx(rows["performance"].mean())
    with pytest.raises(
        InputError, match="'qrc' competes with 6 settings in 'pole'; choose one, as with select_by_vote"
    ):
        analysis.compare(PERFORMANCES, "pole", "qrc", "sbeed")
    with pytest.raises(InputError, match="'sbeed' competes with 0 settings in 'pole'"):
        analysis.compare(PERFORMANCES, "pole", "qrc", "sbeed", chosen.filter(algorithm="qrc"))
    with pytest.raises(InputError, match=r"there is no algorithm 'sbed'; did you mean 'sbeed'\?"):
        analysis.compare(PERFORMANCES, "pole", "qrc", "sbed", chosen)


def test_seeds_make_comparisons_repeatable():
    table = contest([1.0, 2.0, 4.0, 8.0], [1.0, 3.0, 9.0])
    lows = [analysis.compare(table, "hill", "qrc", "sbeed", seed=seed).difference.low for seed in (0, 0, 1)]
    assert lows[0] == lows[1]
    itself = analysis.compare(table, "hill", "qrc", "qrc")
    assert (itself.difference.estimate, itself.verdict) == (0, "undecided")


def test_comparisons_as_a_table():
    chosen = analysis.select_per_domain(PERFORMANCES)
    claims = [analysis.compare(PERFORMANCES, d, "qrc", "sbeed", chosen) for d in ("acrobot", "hill", "pole")]
    claims.append(analysis.compare(contest([1], [2]), "hill", "qrc", "sbeed"))
    table = analysis.comparison_table(claims)
    assert table["verdict"].to_list() == [claim.verdict for claim in claims]
    assert table["difference"].to_list() == pytest.approx((table["first_score"] - table["second_score"]).to_list())
    assert table["low"].null_count() == 1
