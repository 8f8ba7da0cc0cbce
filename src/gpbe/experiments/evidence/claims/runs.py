"""Claims about distributions over runs (paper, section 9.3)."""

import numpy as np

from gpbe.analysis import inference
from gpbe.analysis.findings import Answer, Basis, Fact, below, every, most
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import PAPER, title_of
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims.benchmark import CAR, LANDER, OTHERS
from gpbe.experiments.evidence.claims.claim import claim
from gpbe.experiments.evidence.facts import seed_of
from gpbe.experiments.evidence.levels import MARGIN
from gpbe.shapes import Array

RUNS = "section 9.3, distributions over runs"
LEAST = 0.1
"""The least share of runs in a second mode."""
RATIO = "standard deviation over runs of the tuned setting, as a multiple of QRC's"
AT_RANDOM = 0.1
"""Runs that end below this part of the way are at a random policy's level."""


@claim("QRC has the narrowest distribution over runs, in every domain.", RUNS)
def qrc_narrow_over_runs(case: Case) -> Answer:
    return every((case.wider(d, o, "qrc") for d in PAPER for o in OTHERS), f"{RATIO}, above 1")


@claim("The worse settings of QRC often have narrow distributions over runs as well.", RUNS)
def qrc_worse_settings_narrow(case: Case) -> Answer:
    per_domain = (every(_narrower_by_step_size(case, domain, other) for other in OTHERS) for domain in PAPER)
    return most(
        per_domain, "median over step sizes of the spread over runs, QRC less the other, below 0 in most domains"
    )


@claim("The runs of the other three algorithms are skewed toward low performance.", RUNS)
def others_skewed(case: Case) -> Answer:
    facts = (case.skewed(other, domain) for domain in PAPER for other in OTHERS)
    return most(facts, "median less mean over runs of the tuned setting, in most cases above 0")


@claim("SBEED's runs are bimodal in Mountain Car.", RUNS)
def sbeed_bimodal(case: Case) -> Answer:
    return every(
        [case.bimodal("sbeed", CAR, LEAST)], f"dip test; the smaller mode has at least {LEAST:.0%} of the runs"
    )


@claim("The runs of Q-learning and of QC-LL are bimodal in Mountain Car.", RUNS)
def others_bimodal(case: Case) -> Answer:
    facts = (case.bimodal(name, CAR, LEAST) for name in ("q-learning", "qc-ll"))
    return every(facts, f"dip test; the smaller mode has at least {LEAST:.0%} of the runs")


@claim("Q-learning and QC-LL have wide distributions over runs in all domains.", RUNS)
def others_wide(case: Case) -> Answer:
    facts = (case.wider(domain, name, "qrc", 1.5) for domain in PAPER for name in ("q-learning", "qc-ll"))
    return every(facts, f"{RATIO}, above 1.5")


@claim("A non-trivial part of SBEED's runs does not learn beyond random performance.", RUNS)
def sbeed_stays_random(case: Case) -> Answer:
    facts = (case.share_of_runs("sbeed", domain, lambda x: x < AT_RANDOM, 0.05) for domain in PAPER)
    return most(facts, f"share of runs that end below {AT_RANDOM:g} of the way, in most domains above 0.05")


@claim("In Lunar Lander, QRC and Q-learning have similar distributions over runs.", RUNS)
def alike_in_lunar_lander(case: Case) -> Answer:
    return every([case.alike(LANDER, "qrc", "q-learning")], f"Wasserstein distance, below {MARGIN:g}")


@claim("In Lunar Lander, QC-LL peaks at a lower return than QRC and Q-learning.", RUNS)
def qcll_lower_in_lunar_lander(case: Case) -> Answer:
    return every(
        (case.lower(LANDER, "qc-ll", name) for name in ("qrc", "q-learning")), "difference of medians, below 0"
    )


def _narrower_by_step_size(case: Case, domain: str, other: str) -> Fact:
    """Is the median over step sizes of QRC's spread over runs below that of another algorithm?"""
    rows = case.data.side(names.STEP_SIZES).filter(domain=domain).sort("setting", "run")
    samples = {
        name: np.array(mine.group_by("setting", maintain_order=True).agg("performance")["performance"].to_list())
        for name in ("qrc", other)
        if not (mine := rows.filter(algorithm=name)).is_empty()
    }
    what = f"{title_of(domain)}, QRC - {label_of(other)}"

    def typical(runs: Array) -> Array:
        """The median over settings of the standard deviation over runs, the last axis."""
        return np.asarray(np.median(runs.std(-1, ddof=1), -1))

    rng = np.random.default_rng(seed_of(what))
    drawn = [typical(_again(runs, rng, case.data.resamples)) for runs in samples.values()]
    observed = [float(typical(runs)) for runs in samples.values()]
    fact = below(what, inference.wider(observed[0] - observed[1], drawn[0] - drawn[1]))
    return Fact(fact.what, fact.interval, fact.p, (Basis(names.STEP_SIZES, samples["qrc"].shape[-1]),))


def _again(runs: Array, rng: np.random.Generator, resamples: int) -> Array:
    """Runs of every setting drawn again, (resamples, settings, runs), with the spread that they have."""
    settings, count = runs.shape
    picks = rng.integers(count, size=(resamples, settings, count))
    return runs[np.arange(settings)[:, None], picks] * np.sqrt(count / (count - 1))
