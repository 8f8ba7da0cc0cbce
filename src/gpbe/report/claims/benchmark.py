"""Claims about the benchmark: four algorithms in four domains (paper, sections 9.2 and 9.3)."""

import numpy as np

from gpbe.analysis.evidence import Asker, Fact, Finding, all_of, most_of, not_so, sample_of
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import title_of
from gpbe.report.claims import levels
from gpbe.report.claims.levels import MARGIN, SOLVED
from gpbe.report.claims.runs import ACROBOT, CAR, LANDER, OTHERS, POLE, Case, claim
from gpbe.shapes import Array

CURVES, VIOLINS, RUNS = "section 9.2, learning curves", "section 9.2, violins", "section 9.3, distributions over runs"
QCLL = ("qrc", "qc-ll")
FEW_SETTINGS = 5
"""A spread over fewer settings decides nothing."""
BIMODAL = 5 / 9
"""Sarle's coefficient of a uniform distribution; two modes have a higher one."""


@claim("With one setting for all domains, QRC is among the best algorithms in every domain.", CURVES)
def qrc_among_the_best(case: Case) -> Finding:
    ask, table = Asker(len(OTHERS) * len(case.domains)), case.voted()
    facts = [ask.better(table, d, "qrc", o, -MARGIN * levels.way(d)) for d in case.domains for o in OTHERS]
    return all_of(facts, f"is anybody ahead of QRC by {MARGIN:.0%} of the way to the threshold?")


@claim("No other algorithm is among the best in every domain.", CURVES)
def only_qrc_among_the_best(case: Case) -> Finding:
    ask, table = Asker(len(OTHERS)), case.voted()
    facts = []
    for other in OTHERS:
        domain = case.behind(table, other)
        facts.append(ask.better(table, domain, "qrc", other, MARGIN * levels.way(domain)))
    return all_of(
        facts,
        f"does each fall behind QRC by {MARGIN:.0%} of the way to the threshold somewhere? Where it is furthest behind",
    )


@claim("QRC is the only algorithm with a single setting that solves all four domains.", CURVES)
def only_qrc_solves_all(case: Case) -> Finding:
    ask, table = Asker(len(OTHERS) + len(case.domains)), case.voted()
    facts = [_solves(ask, table, domain, "qrc") for domain in case.domains]
    facts += [not_so(_solves(ask, table, case.behind(table, other), other)) for other in OTHERS]
    where = ", ".join(f"{title_of(d)} {levels.solved(d):.0f}" for d in case.domains)
    return all_of(facts, f"solved means {SOLVED:.0%} of the way to the threshold ({where})")


@claim("SBEED performs worse than all other algorithms in every domain.", CURVES)
def sbeed_worst(case: Case) -> Finding:
    others = ("q-learning", "qrc", "qc-ll")
    ask, table = Asker(len(others) * len(case.domains)), case.voted()
    return all_of(ask.better(table, domain, other, "sbeed") for domain in case.domains for other in others)


@claim("QC-LL performs well in the simpler domains, Acrobot and Cart Pole.", CURVES, QCLL, (ACROBOT, POLE))
def qcll_good_in_simple_domains(case: Case) -> Finding:
    ask, table = Asker(len(case.domains)), case.voted()
    facts = (ask.better(table, domain, "qc-ll", "qrc", -MARGIN * levels.way(domain)) for domain in case.domains)
    return all_of(facts, f"is it behind QRC by {MARGIN:.0%} of the way to the threshold?")


@claim("QC-LL performs poorly in the harder domains, Mountain Car and Lunar Lander.", CURVES, QCLL, (CAR, LANDER))
def qcll_poor_in_hard_domains(case: Case) -> Finding:
    ask, table = Asker(len(case.domains)), case.voted()
    facts = (ask.better(table, domain, "qrc", "qc-ll", MARGIN * levels.way(domain)) for domain in case.domains)
    return all_of(facts, f"is it behind QRC by {MARGIN:.0%} of the way to the threshold?")


@claim("QRC's performance has the lowest spread over hyperparameters.", VIOLINS)
def qrc_lowest_spread_over_settings(case: Case) -> Finding:
    ask = Asker(len(OTHERS) * len(case.domains))
    return all_of(
        (_setting_spread(ask, case, domain, other) for domain in case.domains for other in OTHERS),
        "standard deviation over settings, less QRC's",
    )


@claim("Most of QRC's settings perform nearly as well as its best one.", VIOLINS, ("qrc",))
def qrc_settings_near_the_best(case: Case) -> Finding:
    ask = Asker(len(case.domains))
    facts = []
    for domain in case.domains:
        means, way = case.settings(domain, "qrc"), levels.way(domain)
        near = int((means >= means.max() - 2 * MARGIN * way).sum())
        facts.append(ask.share_above(title_of(domain), near, len(means), 0.5))
    return most_of(
        facts, f"share of settings within {2 * MARGIN:.0%} of the way of the best, in most domains above 0.5"
    )


@claim("SBEED has one or a few settings that perform well, and is highly sensitive to them.", VIOLINS, ("sbeed",))
def sbeed_few_good_settings(case: Case) -> Finding:
    ask = Asker(len(case.domains))
    facts = []
    for domain in case.domains:
        means, way = case.settings(domain, "sbeed"), levels.way(domain)
        near = int((means >= means.max() - 2 * MARGIN * way).sum())
        facts.append(not_so(ask.share_above(title_of(domain), near, len(means), 0.25)))
    return most_of(
        facts, f"share of settings within {2 * MARGIN:.0%} of the way of the best, in most domains below 0.25"
    )


@claim("QRC has the narrowest distribution over runs, in every domain.", RUNS)
def qrc_narrow_over_runs(case: Case) -> Finding:
    ask, table = Asker(len(OTHERS) * len(case.domains)), case.tuned(("qrc", *OTHERS))
    facts = []
    for domain in case.domains:
        for other in OTHERS:
            first, second = (sample_of(table, domain, name) for name in ("qrc", other))
            facts.append(ask.spread(f"{title_of(domain)}, {label_of(other)}", first, second))
    return all_of(facts, "standard deviation over runs of the best setting, less QRC's")


@claim("The runs of the other three algorithms are skewed towards low performance.", RUNS)
def others_skewed(case: Case) -> Finding:
    ask, table = Asker(len(OTHERS) * len(case.domains)), case.tuned(("qrc", *OTHERS))
    facts = [
        ask.statistic(
            f"{title_of(d)}, {label_of(o)}", [sample_of(table, d, o)], lambda x: np.median(x, -1) - x.mean(-1)
        )
        for d in case.domains
        for o in OTHERS
    ]
    return most_of(facts, "median less mean over runs of the best setting, in most cases above 0")


@claim("SBEED's runs are bimodal in Mountain Car.", RUNS, ("sbeed",), (CAR,))
def sbeed_bimodal(case: Case) -> Finding:
    runs = sample_of(case.tuned(("sbeed",)), CAR, "sbeed")
    fact = Asker().statistic("coefficient", [runs], bimodality, BIMODAL)
    return all_of([fact], "Sarle's coefficient of bimodality, above 5/9 where there are two modes")


@claim(
    "In Lunar Lander, QRC and Q-learning have similar distributions over runs.",
    RUNS,
    ("qrc", "q-learning"),
    (LANDER,),
)
def alike_in_lunar_lander(case: Case) -> Finding:
    table = case.tuned(("qrc", "q-learning"))
    gain = case.gain(table, "qrc", "q-learning")
    return all_of([Asker().small("QRC - Q-learning", gain, MARGIN)], "parts of the way to the threshold")


@claim(
    "In Lunar Lander, QC-LL peaks at a lower return than QRC and Q-learning.", RUNS, (*QCLL, "q-learning"), (LANDER,)
)
def qcll_lower_in_lunar_lander(case: Case) -> Finding:
    ask, table = Asker(2), case.tuned(("qrc", "q-learning", "qc-ll"))
    return all_of(ask.better(table, LANDER, other, "qc-ll") for other in ("qrc", "q-learning"))


def bimodality(values: Array) -> Array:
    """Sarle's coefficient along the last axis, (skewness^2 + 1) / (excess kurtosis + 3 (n-1)^2 / ((n-2)(n-3))).

    >>> even, two = np.linspace(0, 1, 999), np.repeat([0.0, 1.0], 500)
    >>> float(bimodality(even).round(1)), float(bimodality(two).round(1))
    (0.6, 1.0)
    """
    n = values.shape[-1]
    if n < 4:
        return np.full(values.shape[:-1], np.nan)
    away = values - values.mean(-1, keepdims=True)
    variance = (away**2).mean(-1)
    scale = np.where(variance > 0, variance, 1.0)
    skewness = (away**3).mean(-1) / scale**1.5 * np.sqrt(n * (n - 1)) / (n - 2)
    excess = ((n + 1) * ((away**4).mean(-1) / scale**2 - 3) + 6) * (n - 1) / ((n - 2) * (n - 3))
    below = excess + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))
    both = (skewness**2 + 1) / np.where(below > 0, below, np.nan)  # of four runs in two pairs it is not defined
    return np.where(variance > 0, both, 0.0)  # runs that all end alike have one mode


def _solves(ask: Asker, table, domain: str, algorithm: str) -> Fact:
    runs = sample_of(table, domain, algorithm)
    return ask.mean_above(f"{title_of(domain)}, {label_of(algorithm)}", runs, levels.solved(domain))


def _setting_spread(ask: Asker, case: Case, domain: str, other: str) -> Fact:
    first, second = (case.settings(domain, name) for name in ("qrc", other))
    return ask.spread(f"{title_of(domain)}, {label_of(other)}", first, second, fewest=FEW_SETTINGS)
