"""What to make of the estimates: warnings, and which of them to use and why."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from gpbe.evaluation.asked import ESTIMATORS
from gpbe.evaluation.result import Estimate
from gpbe.evaluation.survey import SUSPICIOUS, Calibrated, Survey

BY_RATIOS = ("wdr", "dr", "wpdis", "pdis", "wis", "is")
"""Estimators that are consistent whatever the features are."""
SIMPLEST = ("wpdis", "pdis", "wdr", "dr")
"""Those that weight rewards one by one, the simplest first. The others weight whole returns: they vary most, and do not
show it where large products are rare."""
CLEARLY = 0.8
"""Part of the simplest one's error below which another is taken: the smallest of several like errors is too small."""
FEW_CUT = 0.02
"""The part of the episodes that may be cut off without a warning."""
ENOUGH = 30.0
"""Effective episodes below which products of ratios are not to be trusted."""
FEW_DEGREES = 4.0
"""Degrees of freedom of an error below which it rests on one episode or two."""
SETTLED = 0.02
"""How much a last round of fitting may change a network's values, as a part of their deviation."""


def warnings(survey: Survey, calibration: Calibrated, estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Sentences about what is wrong with the log, or may be."""
    return tuple(
        [*_of_the_log(survey), *_of_probabilities(calibration), *_of_estimates(survey, calibration, estimates)]
    )


def _of_the_log(survey: Survey) -> list[str]:
    """Episodes that were cut off, and products of ratios that leave too few of them."""
    said = []
    cut = survey.episodes - survey.ended
    if survey.ended and cut > FEW_CUT * survey.episodes:
        said.append(
            f"{cut:,} of {survey.episodes:,} episodes are cut off before they end; importance sampling counts nothing "
            "after that, the other estimators go on with values"
        )
    if not survey.ended and survey.episodes > 1:
        said.append(
            f"no row ends an episode (none has a discount of 0), so all {survey.episodes:,} count as cut off, and "
            "values go on after them; if they did end, name a column terminal, or give the discount as one number"
        )
    if survey.rows and survey.undiscounted == survey.rows:
        said.append("every discount is 1 and no row ends an episode: a sum of rewards without an end has no value")
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


def _of_estimates(survey: Survey, calibration: Calibrated, estimates: Mapping[str, Estimate]) -> list[str]:
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
    chosen = estimates[recommend(survey, calibration, estimates)[0]]
    if chosen.finite and chosen.error > 0 and chosen.freedom < FEW_DEGREES and survey.episodes > 2 * FEW_DEGREES:
        said.append(
            f"one episode or two make up nearly all of the error of {chosen.name}; if more like these are to be "
            "expected than are in this log, its interval is too narrow"
        )
    enough = bool(survey.ended and len(survey.effective) and survey.effective[-1] >= ENOUGH)
    if apart := _apart(estimates, enough):
        said.append(
            f"the intervals of {apart[0]} and {apart[1]} do not meet: the features may be too coarse for linear "
            "values, or the ratios wrong"
        )
    return said


def recommend(survey: Survey, calibration: Calibrated, estimates: Mapping[str, Estimate]) -> tuple[str, str]:
    """Which estimate to use, and why."""
    usable = {name: e for name, e in estimates.items() if e.finite}
    if not usable:
        return next(iter(estimates)), "it is the first of those asked for; none has a number with an interval"
    if len(usable) == 1:
        return next(iter(usable)), "it is the only one that was asked for and has an interval"
    if calibration.suspicious and "fqe" in usable:
        return "fqe", (
            "the recorded probabilities of the behavior look wrong, and it alone does not use them; its values hold if "
            "the features can express them"
        )
    doubt = "; but the recorded probabilities look wrong, and then so is this" if calibration.suspicious else ""
    by_ratios = [name for name in BY_RATIOS if name in usable]
    others = [name for name in usable if name not in by_ratios]
    effective = float(survey.effective[-1]) if survey.ended and len(survey.effective) else 0.0
    enough = effective >= ENOUGH
    if by_ratios and (enough or not others):
        stepwise = [name for name in SIMPLEST if name in usable]
        best = min(stepwise, key=lambda name: usable[name].error) if stepwise else by_ratios[0]
        which = "of those that weight rewards one by one" if stepwise else "of those asked for"
        least = "it is the most certain" if stepwise else "it varies least where large products are rare"
        if stepwise and usable[best].error > CLEARLY * usable[stepwise[0]].error and best != stepwise[0]:
            best, least = stepwise[0], "it is the simplest, and none is more certain by a fifth"
        return best, (
            f"the log is worth {effective:,.0f} episodes of the target policy, {'enough' if enough else 'few'} for "
            f"estimates that hold whatever the features are; {which} {least}{doubt}"
        )
    nets = [name for name in others if usable[name].network]
    best = min(nets or others, key=lambda name: usable[name].error)
    why = (
        f"the log is worth only {effective:.3g} episodes of the target policy, too few for products of ratios"
        if survey.ended
        else "no episode ends, so there is no whole return to weight"
    )
    which = "network's values, which can be what linear ones cannot," if nets else "estimates through values"
    return best, f"{why}; of the {which} it is the most certain, if its features can express them{doubt}"


def _apart(estimates: Mapping[str, Estimate], enough: bool) -> tuple[str, str] | None:
    """Two estimates whose intervals do not meet: by ratios, if these are enough, and by values; or both by values.

    Where features can express the values all kinds of them agree; where they cannot, each is another projection.
    """
    finite = [e for e in estimates.values() if e.finite]
    ratios = [e for e in finite if enough and e.name in ("wdr", "wpdis")]
    values = [e for e in finite if e.name in ESTIMATORS and e.name not in BY_RATIOS]
    pairs = [(a, b) for a in ratios for b in finite if b.name not in BY_RATIOS]
    for a, b in [*pairs, *combinations(values, 2)]:
        gap = max(a.interval[0] - b.interval[1], b.interval[0] - a.interval[1])
        if gap > 0 and not np.isnan(gap):
            return a.name, b.name
    return None
