"""What the field reports, against definitions written as loops, and coverage of its intervals."""

import numpy as np
import pytest
from scipy import stats

from gpbe import InputError
from gpbe.analysis.inference import iqm, performance_profile, probability_of_improvement, sensitivity
from gpbe.analysis.inference.simulation import LAWS, outcomes, rate

RNG = np.random.default_rng(7)


def test_interquartile_means_hold_the_truth():
    # For a normal law in one task and the same law moved by 0 in the other the truth is the common center.
    scores = [RNG.normal(0.5, 0.1, size=(2, 40)) for _ in range(100)]
    found = [iqm(list(x), seed, 0.9, 300) for seed, x in enumerate(scores)]
    assert rate([not i.low <= 0.5 <= i.high for i in found]).low <= 0.1
    assert found[0].estimate == pytest.approx(np.sort(scores[0].ravel())[20:60].mean())


def test_tasks_may_have_unequal_numbers_of_runs():
    assert iqm([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0, 6.0, 7.0]]).estimate == pytest.approx(3.5)


def test_profiles_are_shares_of_runs_above_a_threshold():
    scores, thresholds = [RNG.random(9), RNG.random(14)], np.linspace(0, 1, 11)
    profile = performance_profile(scores, thresholds, 1)
    for k, t in enumerate(thresholds):
        expected = np.mean([np.mean([run > t for run in task]) for task in scores])
        assert profile.estimate[k] == pytest.approx(expected)
    assert (profile.low <= profile.estimate).all()
    assert (profile.estimate <= profile.high).all()
    assert (np.diff(profile.estimate) <= 0).all()


def test_the_probability_of_improvement_is_mann_whitneys():
    x, y = RNG.integers(0, 5, 12).astype(float), RNG.integers(1, 6, 9).astype(float)
    expected = stats.mannwhitneyu(x, y).statistic / (12 * 9)
    assert probability_of_improvement([x], [y]).estimate == pytest.approx(expected)
    found = [probability_of_improvement(*RNG.normal(size=(2, 2, 30)).tolist(), seed, 0.9, 300) for seed in range(100)]
    assert rate([not i.low <= 0.5 <= i.high for i in found]).low <= 0.13


def test_sensitivity_is_the_loss_by_one_setting_for_all_domains():
    # Each domain has a best setting of its own (1), and a compromise is worth 0.7 everywhere.
    means = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1], [0.3, 0.2, 1.0], [0.7, 0.7, 0.7]])
    scores = means[..., None] + RNG.normal(0, 0.01, (4, 3, 8))
    found = sensitivity(scores)
    assert found.tuned.estimate == pytest.approx(1.0, abs=0.02)
    assert found.single.estimate == pytest.approx(0.7, abs=0.02)
    assert found.loss.estimate == pytest.approx(0.3, abs=0.02)
    assert found.loss.low < found.loss.estimate < found.loss.high
    assert found.flattered == pytest.approx(0.3, abs=0.03)


def test_settings_that_do_not_differ_lose_nothing_though_the_best_of_noise_says_so():
    losses = np.array([
        (s.loss.estimate, s.flattered)
        for s in (sensitivity(RNG.normal(size=(30, 4, 6)), seed, splits=5, resamples=2) for seed in range(80))
    ])  # fmt: skip
    honest, flattered = losses.mean(0) / (losses.std(0) / np.sqrt(len(losses)))
    assert abs(honest) < 4
    assert flattered > 10


def test_two_runs_choose_for_each_other_and_say_nothing_of_their_spread():
    # The first run prefers setting 0 in domain 0, the second setting 1; both prefer setting 1 in domain 1.
    found = sensitivity([[[1.0, 0.2], [0.0, 0.0]], [[0.4, 0.6], [1.0, 1.0]]])
    # For each domain: run 0 chooses (0, 1), worth (0.2 + 1) / 2 in run 1; run 1 chooses (1, 1), worth (0.4 + 1) / 2.
    assert found.tuned.estimate == pytest.approx((0.6 + 0.7) / 2)
    # For all: both choose setting 1, worth (0.6 + 1) / 2 and (0.4 + 1) / 2.
    assert found.single.estimate == pytest.approx((0.8 + 0.7) / 2)
    assert found.loss.estimate == pytest.approx(-0.1)
    assert (found.loss.low, found.loss.high) == (-np.inf, np.inf)


def test_outcomes_are_counted_over_simulated_runs():
    found = outcomes(
        lambda cells, seed: "holds" if cells[0].mean() > cells[1].mean() else "undecided",
        [LAWS["normal"], LAWS["degenerate"]], [4, 7], 40,
    )  # fmt: skip
    assert found == {"undecided": 1.0}


def test_wrong_input_is_refused(refuses):
    refuses(lambda: iqm([]), "tasks")
    refuses(lambda: probability_of_improvement([[1.0]], [[1.0], [2.0]]), "1 tasks of the first and 2 of the second")
    refuses(lambda: sensitivity(np.zeros((3, 2, 1))), "2 runs or more")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "level is 95; it should be between 0 and 1, such as 0.95"),
        ({"level": np.nan}, "level is nan; it should be between 0 and 1"),
        ({"resamples": 0}, "resamples is 0; it should be a whole number, 1 or more"),
    ],
)
def test_intervals_that_cannot_be_had(options, message):
    with pytest.raises(InputError, match=message):
        iqm([[0.0, 1.0, 2.0]], **options)
