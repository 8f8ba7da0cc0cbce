"""Claims about performance over settings (paper, section 9.2, violins)."""

from dataclasses import replace

import numpy as np

from gpbe.analysis import inference
from gpbe.analysis.findings import Answer, Basis, Fact, above, at_least, every, most, not_so
from gpbe.envs.domains import PAPER, title_of
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims.benchmark import OTHERS
from gpbe.experiments.evidence.claims.claim import claim
from gpbe.experiments.evidence.facts import seed_of
from gpbe.experiments.evidence.levels import NEAR

VIOLINS = "section 9.2, violins"
WIDE = 0.2
"""A standard deviation over settings above this is wide."""
SKEW = 0.05
"""A mean that lies below the median by more than this shows a skew."""


@claim("QRC's performance has the lowest spread over hyperparameters.", VIOLINS)
def qrc_lowest_spread_over_settings(case: Case) -> Answer:
    facts = (case.narrower(domain, "qrc", other) for domain in PAPER for other in OTHERS)
    return every(facts, "standard deviation over settings, the other less QRC, above 0")


@claim("Most of QRC's settings perform nearly as well as its best one.", VIOLINS)
def qrc_settings_near_the_best(case: Case) -> Answer:
    facts = (case.near_best("qrc", domain, 0.5) for domain in PAPER)
    return most(facts, f"share of settings within {NEAR:g} of the best, in most domains above 0.5")


@claim("SBEED has one or a few settings that perform well, and is highly sensitive to them.", VIOLINS)
def sbeed_few_good_settings(case: Case) -> Answer:
    facts = (not_so(case.near_best("sbeed", domain, 0.25)) for domain in PAPER)
    return most(facts, f"share of settings within {NEAR:g} of the best, in most domains below 0.25")


@claim("Q-learning's performance is widely spread over hyperparameters.", VIOLINS)
def qlearning_widely_spread(case: Case) -> Answer:
    facts = (case.wide("q-learning", domain, WIDE) for domain in PAPER)
    return most(facts, f"standard deviation over settings, in most domains above {WIDE:g}")


@claim("Q-learning's performance is highly skewed over hyperparameters in two of the domains.", VIOLINS)
def qlearning_skewed_over_settings(case: Case) -> Answer:
    return at_least(
        2, (_skew(case, domain) for domain in PAPER), f"median less mean over settings, above {SKEW:g} in two"
    )


def _skew(case: Case, domain: str) -> Fact:
    """The screened settings, with more runs of each: two runs have too much skew of their own."""
    grid, basis = np.concatenate(case.data.grid("q-learning", domain)), (Basis(case.data.screening),)
    if case.data.screening == names.SCREEN:
        rows = case.data.side(names.SKEW).filter(domain=domain).sort("setting", "run")
        more = np.array(rows.group_by("setting", maintain_order=True).agg("performance")["performance"].to_list())
        grid, basis = np.concatenate([grid, more], axis=-1), (*basis, Basis(names.SKEW, more.shape[-1]))
    return replace(
        above(title_of(domain), inference.grid_skew(grid, seed_of(domain), case.data.resamples), SKEW), basis=basis
    )
