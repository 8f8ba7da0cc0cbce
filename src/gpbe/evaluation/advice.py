"""What to make of the estimates: warnings, and which of them to use and why."""

from collections.abc import Mapping

import numpy as np

from gpbe.evaluation.result import Estimate
from gpbe.evaluation.survey import SUSPICIOUS, Calibrated, Survey

BY_RATIOS = ("wdr", "dr", "wpdis", "pdis", "wis", "is")
"""Estimators that are consistent whatever the features are."""
FEW_CUT = 0.02
"""The part of the episodes that may be cut off without a warning."""
ENOUGH = 30.0
"""Effective episodes below which products of ratios are not to be trusted."""
SETTLED = 0.02
"""How much a last round of fitting may change a network's values, as a part of their deviation."""


def warnings(survey: Survey, calibration: Calibrated, estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Sentences about what is wrong with the log, or may be."""
    return tuple([*_of_the_log(survey), *_of_probabilities(calibration), *_of_estimates(survey, estimates)])


def _of_the_log(survey: Survey) -> list[str]:
    """Episodes that were cut off, and products of ratios that leave too few of them."""
    said = []
    cut = survey.episodes - survey.ended
    if survey.ended and cut > FEW_CUT * survey.episodes:
        said.append(
            f"{cut:,} of {survey.episodes:,} episodes are cut off before they end; importance sampling counts nothing "
            "after that, the other estimators go on with values"
        )
    effective = survey.effective
    if survey.ended and len(effective) and effective[-1] < ENOUGH:
        step = int((effective < ENOUGH).argmax())
        said.append(
            f"the log is worth {effective[-1]:.3g} episodes of the target policy (from step {step} on fewer than "
            f"{ENOUGH:g}); estimates from products of ratios rest on few episodes"
        )
    return said


def _of_probabilities(calibration: Calibrated) -> list[str]:
    """Recorded probabilities that do not fit the actions that were taken."""
    if not calibration.suspicious:
        return []
    if calibration.inverse_score > SUSPICIOUS:
        return [
            f"1 / behavior averages to more than the number of actions ({calibration.inverse_score:.1f} standard "
            "errors): recorded probabilities are too small for how often these actions were taken"
        ]
    what = "" if calibration.worst_feature < 0 else f" along feature {calibration.worst_feature}"
    return [
        f"the ratios do not average to 1{what} ({calibration.worst_score:+.1f} standard errors): the recorded "
        "probabilities of the behavior look wrong, or the target takes actions that the behavior never takes"
    ]


def _of_estimates(survey: Survey, estimates: Mapping[str, Estimate]) -> list[str]:
    """Estimates that are no numbers, have not settled, or contradict one another."""
    said = []
    infinite = [e.name for e in estimates.values() if not e.finite]
    for names, why in (
        ([name for name in infinite if name in BY_RATIOS], "products of ratios are too large or too few"),
        ([name for name in infinite if name not in BY_RATIOS], "values have diverged, or rest on too little,"),
    ):
        if names:
            said.append(f"{', '.join(names)}: {why} for a number with an interval")
    unsettled = [e for e in estimates.values() if e.finite and not e.change <= SETTLED]
    if unsettled:
        said.append(
            f"{', '.join(e.name for e in unsettled)}: the networks had not settled when fitting ended (the last round "
            f"changed values by {max(e.change for e in unsettled):.0%} of their deviation); an interval does not tell "
            "of this, so try other layers or features"
        )
    effective, apart = survey.effective, _apart(estimates)
    if apart and len(effective) and effective[-1] >= ENOUGH:
        said.append(
            f"the intervals of {apart[0]} and {apart[1]} do not meet: the features may be too coarse for linear "
            "values, or the ratios wrong"
        )
    return said


def recommend(survey: Survey, estimates: Mapping[str, Estimate]) -> tuple[str, str]:
    """Which estimate to use, and why."""
    usable = {name: e for name, e in estimates.items() if e.finite}
    if not usable:
        return next(iter(estimates)), "it is the first of those asked for; none has a number with an interval"
    if len(usable) == 1:
        return next(iter(usable)), "it is the only one that was asked for and has an interval"
    by_ratios = [name for name in BY_RATIOS if name in usable]
    others = [name for name in usable if name not in by_ratios]
    effective = float(survey.effective[-1]) if survey.ended and len(survey.effective) else 0.0
    if by_ratios and (effective >= ENOUGH or not others):
        best = min(by_ratios, key=lambda name: usable[name].error)
        return best, (
            f"the log is worth {effective:,.0f} episodes of the target policy, enough for estimates that hold whatever "
            "the features are, and of these it is the most certain"
        )
    nets = [name for name in others if usable[name].network]
    best = min(nets or others, key=lambda name: usable[name].error)
    why = (
        f"the log is worth only {effective:.3g} episodes of the target policy, too few for products of ratios"
        if survey.ended
        else "no episode ends, so there is no whole return to weight"
    )
    which = "network's values, which can be what linear ones cannot," if nets else "estimates through values"
    return best, f"{why}; of the {which} it is the most certain, if its features can express them"


def _apart(estimates: Mapping[str, Estimate]) -> tuple[str, str] | None:
    """Two estimates, one by ratios and one by values, whose intervals do not meet."""
    finite = [e for e in estimates.values() if e.finite]
    pairs = [(a, b) for a in finite for b in finite if a.name in ("wdr", "wpdis") and b.name not in BY_RATIOS]
    for a, b in pairs:
        gap = max(a.interval[0] - b.interval[1], b.interval[0] - a.interval[1])
        if gap > 0 and not np.isnan(gap):
            return a.name, b.name
    return None
