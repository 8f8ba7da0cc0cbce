"""Claims about how the setting was chosen (paper, appendix on the impact of the voting procedure)."""

import numpy as np
import polars as pl

from gpbe.analysis.findings import Answer, Basis, every, not_so, some
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import PAPER
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims.benchmark import CAR, LANDER, OTHERS, POLE
from gpbe.experiments.evidence.claims.claim import claim
from gpbe.experiments.evidence.design import BENCHMARK
from gpbe.experiments.evidence.facts import Sample, Terms, mean_fact, more_than, same, within
from gpbe.experiments.evidence.gathered import Missing
from gpbe.experiments.evidence.levels import MARGIN

TUNED, HELD_OUT, RUNOFF = "appendix, per-domain tuning", "appendix, Lunar Lander held out", "appendix, instant runoff"
MEAN = "mean over domains"
CONSISTENT = 0.9
"""Share of runs that solve a domain, where an algorithm does so consistently."""
EXPLORERS = tuple(name for name in BENCHMARK if name != "sbeed")


@claim("Tuned for each domain, the gaps between QRC and the other algorithms shrink.", TUNED)
def gaps_shrink(case: Case) -> Answer:
    terms: dict[tuple[str, object], tuple[float, Sample]] = dict(case.loss("qrc", "voted", "tuned"))
    for other in OTHERS:
        terms |= case.loss(other, "voted", "tuned", weight=-1 / len(OTHERS))
    return every([mean_fact("mean gap to QRC, voted less tuned", terms, more_than())], f"{MEAN}, above 0")


@claim("Tuned for each domain, QRC is still among the best algorithms in every domain.", TUNED)
def tuned_qrc_among_the_best(case: Case) -> Answer:
    facts = (case.better("tuned", domain, "qrc", other, -MARGIN) for domain in PAPER for other in OTHERS)
    return every(facts, f"QRC less the other, above -{MARGIN:g}")


@claim("Tuned for it, only QRC solves Mountain Car consistently across runs.", TUNED, on_solved=True)
def only_qrc_solves_mountain_car(case: Case) -> Answer:
    facts = [case.share_of_runs(name, CAR, lambda x: x >= case.solved, CONSISTENT) for name in ("qrc", *OTHERS)]
    return every(
        [facts[0], *map(not_so, facts[1:])], f"share of solved runs, QRC's above {CONSISTENT:g}, others' below"
    )


@claim("Tuned for it, QC-LL and SBEED find worse policies than QRC in Lunar Lander.", TUNED)
def tuned_suboptimal_in_lunar_lander(case: Case) -> Answer:
    return every((case.better("tuned", LANDER, "qrc", o) for o in ("qc-ll", "sbeed")), "QRC less the other, above 0")


@claim("Tuned for it, SBEED performs better in Cart Pole than the algorithms that explore.", TUNED)
def tuned_sbeed_best_in_cart_pole(case: Case) -> Answer:
    return every((case.better("tuned", POLE, "sbeed", o) for o in EXPLORERS), "SBEED less the other, above 0")


@claim("It does so because they explore: with greedy actions there is little difference.", TUNED)
def greedy_alike_in_cart_pole(case: Case) -> Answer:
    samples = {name: _greedy(case, name) for name in BENCHMARK}
    facts = (same(f"SBEED - {label_of(o)}", samples["sbeed"], samples[o]) for o in EXPLORERS)
    return every(facts, f"greedy actions of trained agents in Cart Pole, within {MARGIN:g}")


@claim("Without a vote of Lunar Lander, all algorithms perform worse there.", HELD_OUT)
def held_out_worse(case: Case) -> Answer:
    facts = (
        case.changed(
            label_of(name),
            case.loss(name, "voted", "held out", [LANDER]),
            more_than(),
            [(name, "voted", "held out")],
            kept=False,
        )
        for name in BENCHMARK
    )
    return every(facts, "loss in Lunar Lander, above 0")


@claim("Without a vote of Lunar Lander, particularly Q-learning and SBEED perform worse there.", HELD_OUT)
def held_out_particularly(case: Case) -> Answer:
    terms: Terms = {}
    for name in BENCHMARK:
        weight = 0.5 if name in ("q-learning", "sbeed") else -0.5
        terms = {**terms, **case.loss(name, "voted", "held out", [LANDER], weight)}
    pairs = [(name, "voted", "held out") for name in BENCHMARK]
    what = "loss of Q-learning and SBEED, less that of QRC and QC-LL"
    return every([case.changed(what, terms, more_than(), pairs, kept=False)], "in Lunar Lander, above 0")


@claim("Instant runoff strongly hurts QC-LL and SBEED.", RUNOFF)
def runoff_hurts(case: Case) -> Answer:
    facts = (
        case.changed(
            label_of(name),
            case.loss(name, "voted", "runoff"),
            more_than(MARGIN),
            [(name, "voted", "runoff")],
            kept=False,
        )
        for name in ("qc-ll", "sbeed")
    )
    return every(facts, f"loss, {MEAN}, above {MARGIN:g}")


@claim("With instant runoff, Q-learning and QRC perform as they do with a Condorcet vote.", RUNOFF)
def runoff_spares(case: Case) -> Answer:
    facts = (
        case.changed(
            label_of(name), case.loss(name, "voted", "runoff"), within(), [(name, "voted", "runoff")], kept=True
        )
        for name in ("q-learning", "qrc")
    )
    return every(facts, f"loss, {MEAN}, within {MARGIN:g}")


@claim("Instant runoff finds a setting that suits all domains for QRC only.", RUNOFF, on_solved=True)
def runoff_suits_qrc_only(case: Case) -> Answer:
    settings = {name: case.data.setting("runoff", name, CAR) for name in BENCHMARK}
    solves = [case.solves("qrc", domain, settings["qrc"]) for domain in PAPER]
    fail = [some(not_so(case.solves(other, domain, settings[other])) for domain in PAPER) for other in OTHERS]
    return every([*solves, *fail], f"mean over runs; solved means {case.solved:g}")


def _greedy(case: Case, algorithm: str) -> Sample:
    """The returns of trained agents that take greedy actions, a number a run."""
    rows = case.data.side(names.GREEDY).filter(pl.col("algorithm") == algorithm).sort("run")
    runs = rows["performance"].to_numpy()
    if not len(runs):
        raise Missing(f"{names.GREEDY} has no runs of {algorithm}")
    return Sample(POLE, np.asarray(runs, float), Basis(names.GREEDY, len(runs)), resamples=case.data.resamples)
