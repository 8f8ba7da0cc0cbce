"""Choosing and evaluating on the same runs flatters, cross-fitting does not, and races keep the best."""

import numpy as np
import pytest

from gpbe.analysis.inference import cross_fit, race, resampled_choices, welch
from gpbe.analysis.inference.simulation import LAWS, rate

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("settings", [36, 144])
def test_the_best_of_equal_settings_is_flattered_by_its_own_runs_and_not_by_others(settings):
    flattered, evidence = [], []
    for seed in range(120):
        runs = RNG.normal(size=(settings, 6))
        best = runs.mean(1).argmax()
        flattered.append(welch([runs[best]], [1.0]).above(0.0) <= 0.025)
        evidence.append(cross_fit(runs, seed=seed).evidence)
    # Four times the nominal rate, and more.
    assert rate(flattered).low > 0.1
    estimates = np.array([e.estimate for e in evidence])
    assert abs(estimates.mean()) < 4 * estimates.std() / np.sqrt(len(estimates))
    # Twice the nominal rate, as the documentation says.
    assert rate([e.above(0.0) <= 0.025 for e in evidence]).low <= 0.05


def test_cross_fitted_limits_of_bounded_runs_hold_the_worth_of_what_was_chosen():
    wrong = []
    for seed in range(150):
        shift = RNG.uniform(-0.2, 0.0, 36)
        runs = np.clip(LAWS["bimodal"].draw(RNG, (36, 6)) + shift[:, None], 0, 1)
        fitted = cross_fit(runs, bounds=(0.0, 1.0), seed=seed)
        worth = 0.9 * (0.85 + shift) + 0.1 * np.clip(0.15 + shift, 0, None)
        wrong.append(fitted.evidence.limits(0.025)[0] > worth[fitted.chosen].mean() + 0.01)
    assert rate(wrong).low <= 0.025


def test_a_setting_is_chosen_for_all_domains_by_any_rule():
    runs = np.zeros((3, 2, 8)) + np.array([[0.0, 9.0], [5.0, 5.0], [4.0, 4.0]])[..., None] + RNG.random((3, 2, 8)) / 10
    assert cross_fit(runs).chosen == [1, 1]
    worst_domain = cross_fit(runs, choose=lambda means: int(means.min(1).argmax()), folds=4)
    assert worst_domain.chosen == [1] * 4
    assert worst_domain.evidence.estimate == pytest.approx(runs[1].mean())


def test_resampled_choices_are_as_unsure_as_the_runs():
    clear = np.array([[0.0, 1.0, 0.5], [5.0, 6.0, 5.5]])
    assert (resampled_choices(clear, resamples=200) == 1).all()
    twins = np.stack([RNG.normal(size=20)] * 2) + np.array([[0.0], [1e-9]])
    assert 0.3 < resampled_choices(twins, resamples=400).mean() < 0.7


def test_a_race_drops_what_is_clearly_worse_and_rarely_the_best():
    lost, runs = [], []
    for _ in range(30):
        shift = -np.sort(RNG.uniform(0, 0.6, 16))
        shift[:3] = 0.0
        cells = [LAWS["skewed"].draw(RNG, (24,)) + s for s in shift]
        stay, spent = np.ones(16, bool), np.zeros(16)
        for n in (4, 8, 16, 24):
            ahead = np.flatnonzero(stay)
            spent[ahead] = n
            stay[ahead] = race([cells[k][:n] for k in ahead], level=0.01).stay
        lost.append(not stay[0])
        runs.append(spent.sum())
    # Four rounds at 1 % each.
    assert rate(lost).low <= 0.04
    assert np.mean(runs) < 0.75 * 16 * 24


def test_nobody_is_dropped_with_too_few_runs():
    assert race([[0.0, 0.1], [9.0, 9.1]], least=3).stay.all()
    assert not race([[0.0, 0.1, 0.05], [9.0, 9.1, 9.05]], least=3).stay[0]
    assert race([[0.0, 0.1, 0.05], [9.0, 9.1, 9.05]], least=3, slack=10.0).stay.all()


def test_wrong_input_is_refused(refuses):
    refuses(lambda: cross_fit([[1.0, 2.0, 3.0]]), "3 runs for 2 folds; each fold needs 2 or more")
    refuses(lambda: cross_fit([1.0, 2.0]), r"it should be \(settings, runs\)")
