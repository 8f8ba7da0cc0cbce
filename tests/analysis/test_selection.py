"""Choosing one setting for all domains, leaving one out, and how sure the choice is."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gpbe import InputError, analysis
from helpers.analysis_tables import PERFORMANCES, performances_table

DOMAINS = ("acrobot", "hill", "moon", "pole")


def sweep(scores: dict[str, list[float]], algorithm: str = "qrc") -> pl.DataFrame:
    """Two runs a setting, with the given mean performance by domain."""
    return performances_table(
        {(domain, algorithm, k): [m - 1, m + 1] for domain, means in scores.items() for k, m in enumerate(means)}
    )


# A circle of three settings, and a fourth one that all of them beat.
CIRCLE = sweep({"acrobot": [4, 3, 2, 1], "hill": [-20, -10, -15, -30], "pole": [300, 100, 400, 50]})


def test_every_domain_has_its_own_best():
    table = analysis.select_per_domain(CIRCLE)
    assert table.select("domain", "setting", "decided_by", "tied", "runs", "mean").rows() == [
        ("acrobot", 0, "mean", 1, 2, 4.0),
        ("hill", 1, "mean", 1, 2, -10.0),
        ("pole", 2, "mean", 1, 2, 400.0),
    ]
    assert table["standard_error"].to_list() == pytest.approx([1, 1, 1])


def test_equally_good_settings_are_reported():
    table = analysis.select_per_domain(sweep({"hill": [-1000, -1000, -1001]}))
    assert table.select("setting", "decided_by", "tied").row(0) == (0, "lowest index", 2)


def test_a_circle_is_reported_with_what_broke_it():
    row = analysis.select_by_vote(CIRCLE).row(0, named=True)
    assert row["condorcet_winner"] is None
    assert row["smith_set"] == [0, 1, 2]
    assert (row["setting"], row["decided_by"]) == (0, "lowest index")
    assert (row["voters"], row["candidates"]) == (["acrobot", "hill", "pole"], 4)
    assert row["step_size"] == 0.125


def test_the_two_votes_differ_as_they_do_in_the_literature():
    """Setting 1 is everybody's second choice: it wins every pairwise vote and has no first preference."""
    table = sweep({"acrobot": [3, 2, 1, 0], "hill": [0, 2, 3, 1], "pole": [1, 2, 0, 3]})
    assert analysis.select_by_vote(table).select("setting", "decided_by").row(0) == (1, "majority")
    runoff = analysis.select_by_vote(table, "instant-runoff").row(0, named=True)
    assert runoff["setting"] != 1
    assert (runoff["decided_by"], runoff["condorcet_winner"], runoff["smith_set"]) == ("lowest index", 1, [1])


def test_elections_are_open_to_inspection():
    vote = analysis.election(CIRCLE, "qrc")
    assert vote.pairwise.tolist() == [[0, 2, 1, 3], [1, 0, 2, 3], [2, 1, 0, 3], [0, 0, 0, 0]]
    assert vote.names == ("0", "1", "2", "3")
    assert len(analysis.election(CIRCLE, "qrc", "instant-runoff").rounds) > 1


def test_leaving_a_domain_out():
    table = analysis.leave_one_out(CIRCLE)
    assert table.select("left_out", "setting", "held_out_mean", "held_out_best", "held_out_rank").rows() == [
        # Of two domains, each pair of the circle is agreed on once and tied twice: the Copeland scores differ.
        ("acrobot", 2, 2.0, 4.0, 3),
        ("hill", 0, -20.0, -10.0, 3),
        ("pole", 1, 100.0, 400.0, 3),
    ]
    assert table["decided_by"].unique().to_list() == ["copeland"]
    for domain, voters in table.select("left_out", "voters").rows():
        assert sorted([domain, *voters]) == ["acrobot", "hill", "pole"]
    alone = analysis.select_by_vote(CIRCLE, leave_out=["hill"])
    assert table.filter(left_out="hill").select(alone.columns).equals(alone)


def test_a_vote_of_one_domain_is_its_choice():
    per_domain = analysis.select_per_domain(PERFORMANCES)
    for method in ("condorcet", "instant-runoff"):
        for domain in ("acrobot", "hill", "pole"):
            others = [d for d in ("acrobot", "hill", "pole") if d != domain]
            vote = analysis.select_by_vote(PERFORMANCES, method, others)
            assert vote["setting"].to_list() == per_domain.filter(domain=domain)["setting"].to_list()


def test_no_vote_hangs_on_a_rounding_error():
    """The same three numbers in another order: their sums differ in the last digit."""
    values = [0.1, 0.2, 0.3]
    one = pl.DataFrame({"performance": [*values, *values[::-1]]})
    assert one["performance"][:3].to_numpy().sum() != one["performance"][3:].to_numpy().sum()
    names = {"domain": "hill", "algorithm": "qrc", "setting": [1, 1, 1, 0, 0, 0], "run": [0, 1, 2] * 2}
    table = one.with_columns(
        *(pl.Series(k, v if isinstance(v, list) else [v] * 6) for k, v in names.items()),
        points=1, unfinished=0, diverged=False,
    )  # fmt: skip
    assert analysis.election(table, "qrc").copeland.tolist() == [0.5, 0.5]


def test_a_vote_needs_every_setting_everywhere():
    holes = CIRCLE.filter(~((pl.col("domain") == "hill") & (pl.col("setting") == 2)))
    message = "setting 2 of 'qrc' has no runs in 'hill'; a vote needs every setting in every domain"
    for function in (analysis.select_by_vote, analysis.choice_frequencies):
        with pytest.raises(InputError, match=message):
            function(holes)
    assert analysis.select_by_vote(holes, leave_out=["hill"]).height == 1


def test_choices_go_straight_into_what_draws_them():
    chosen = analysis.select_by_vote(PERFORMANCES)
    shown = analysis.run_densities(PERFORMANCES, chosen, points=5)
    assert shown.select("domain", "algorithm").n_unique() == 6
    assert analysis.run_densities(PERFORMANCES, analysis.select_per_domain(PERFORMANCES), points=5).height == 6 * 5


def two_settings(seed: int, gap: float, runs: int = 40) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        rng.normal(gap, 1, runs).astype(np.float32).astype(float),
        rng.normal(0, 1, runs).astype(np.float32).astype(float),
    ]


def chance(one: np.ndarray, other: np.ndarray) -> float:
    """Probability that a resampled mean of one exceeds that of the other, by the normal approximation."""
    spread = np.sqrt(one.var() / len(one) + other.var() / len(other))
    return float(stats.norm.cdf((one.mean() - other.mean()) / spread))


def test_frequencies_in_one_domain_have_the_closed_form():
    one, other = two_settings(0, 0.2)
    table = performances_table({("hill", "qrc", 0): one.tolist(), ("hill", "qrc", 1): other.tolist()})
    found = dict(analysis.choice_frequencies(table, resamples=1000).select("setting", "frequency").rows())
    assert found[0] == pytest.approx(chance(one, other), abs=0.05)
    assert sum(found.values()) == pytest.approx(1)


def test_frequencies_of_a_vote_have_the_closed_form():
    """Two settings, three domains that resample independently: a majority of three coins."""
    samples = {
        domain: two_settings(k, gap) for k, (domain, gap) in enumerate(zip(DOMAINS, (0.2, -0.1, 0.1), strict=False))
    }
    table = performances_table({(d, "qrc", s): v.tolist() for d, pair in samples.items() for s, v in enumerate(pair)})
    p, q, r = (chance(*pair) for pair in samples.values())
    majority = p * q + p * r + q * r - 2 * p * q * r
    for method in ("condorcet", "instant-runoff"):
        found = dict(analysis.choice_frequencies(table, method, resamples=1000).select("setting", "frequency").rows())
        assert found.get(0, 0) == pytest.approx(majority, abs=0.05)


def test_a_clear_choice_is_certain_and_a_tie_always_goes_the_same_way():
    table = analysis.choice_frequencies(sweep({d: [0, 50, -50] for d in DOMAINS}), resamples=50)
    assert table.select("setting", "chosen", "frequency", "winner").rows() == [(1, 50, 1.0, True)]
    constant = performances_table({("hill", "qrc", k): [-0.1] * 3 for k in range(4)})
    assert analysis.choice_frequencies(constant, resamples=50)["setting"].to_list() == [0]


def test_unequal_numbers_of_runs_are_resampled_as_they_are():
    """Three runs against thirty: the spread of each resampled mean is its own."""
    few, many = two_settings(3, 0.3)
    few, many = few[:3], many[:30]
    table = performances_table({("hill", "qrc", 0): few.tolist(), ("hill", "qrc", 1): many.tolist()})
    found = dict(analysis.choice_frequencies(table, resamples=1000).select("setting", "frequency").rows())
    rng = np.random.default_rng(0)
    draws = [v[rng.integers(len(v), size=(20_000, len(v)))].mean(1) for v in (few, many)]
    assert found.get(0, 0) == pytest.approx(np.mean(draws[0] > draws[1]), abs=0.05)


def test_frequencies_depend_on_the_seed_and_on_nothing_else():
    first = analysis.choice_frequencies(PERFORMANCES, resamples=60, seed=1)
    shuffled = PERFORMANCES.sample(fraction=1, shuffle=True, seed=9)
    assert analysis.choice_frequencies(shuffled, resamples=60, seed=1).equals(first)
    alone = analysis.choice_frequencies(PERFORMANCES, resamples=60, seed=1, algorithms=["sbeed"])
    assert alone.equals(first.filter(algorithm="sbeed"))
    assert not analysis.choice_frequencies(PERFORMANCES, resamples=60, seed=2).equals(first)
    assert first.columns == ["algorithm", "setting", "step_size", "tau", "chosen", "frequency", "winner"]
    winners = analysis.select_by_vote(PERFORMANCES).select("algorithm", "setting")
    assert first.filter("winner").select("algorithm", "setting").sort("algorithm").equals(winners)
