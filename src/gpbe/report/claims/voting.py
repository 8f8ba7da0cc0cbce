"""Claims about how the setting was chosen (paper, appendix on the impact of the voting procedure)."""

from gpbe.analysis.evidence import Asker, Finding, Sample, all_of, not_so, sample_of
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import title_of
from gpbe.experiments.control import BAKEOFF
from gpbe.report.claims import levels
from gpbe.report.claims.levels import MARGIN
from gpbe.report.claims.runs import ACROBOT, CAR, LANDER, OTHERS, POLE, Case, claim

TUNED, HELD_OUT, RUNOFF = "appendix, per-domain tuning", "appendix, Lunar Lander held out", "appendix, instant runoff"
WAY = "parts of the way to the threshold, mean over domains"
LOW = ("qrc", "qc-ll", "sbeed")
CONSISTENT = 0.9
"""Share of runs that solve a domain, where an algorithm does so consistently."""


@claim("Tuned for each domain, the gaps between QRC and the other algorithms shrink.", TUNED)
def gaps_shrink(case: Case) -> Finding:
    voted, tuned = case.voted(), case.tuned(BAKEOFF)
    terms: dict[tuple[str, str, int], tuple[float, Sample]] = {}
    for name in BAKEOFF:
        sign = -1.0 if name == "qrc" else 1 / len(OTHERS)
        for (domain, setting), (weight, sample) in case.change(voted, tuned, name).items():  # pyright: ignore
            terms[name, domain, setting] = (sign * weight, sample)
    return all_of([Asker().contrast("mean gap to QRC, one setting less tuned", terms)], WAY)


@claim("Tuned for each domain, QRC is still among the best algorithms in every domain.", TUNED)
def tuned_qrc_among_the_best(case: Case) -> Finding:
    ask, table = Asker(len(OTHERS) * len(case.domains)), case.tuned(BAKEOFF)
    facts = [ask.better(table, d, "qrc", o, -MARGIN * levels.way(d)) for d in case.domains for o in OTHERS]
    return all_of(facts, f"is anybody ahead of QRC by {MARGIN:.0%} of the way to the threshold?")


@claim("Tuned for it, only QRC solves Mountain Car consistently across runs.", TUNED, domains=(CAR,))
def only_qrc_solves_mountain_car(case: Case) -> Finding:
    ask, table = Asker(len(BAKEOFF)), case.tuned(BAKEOFF)
    facts = []
    for name in ("qrc", *OTHERS):
        runs = sample_of(table, CAR, name)
        good = int((runs >= levels.solved(CAR)).sum())
        fact = ask.share_above(label_of(name), good, len(runs), CONSISTENT)
        facts.append(fact if name == "qrc" else not_so(fact))
    return all_of(facts, f"share of runs above {levels.solved(CAR):.0f}; consistent means more than {CONSISTENT:g}")


@claim("Tuned for it, QC-LL and SBEED find worse policies than QRC in Lunar Lander.", TUNED, LOW, (LANDER,))
def tuned_suboptimal_in_lunar_lander(case: Case) -> Finding:
    ask, table = Asker(2), case.tuned(LOW)
    return all_of(ask.better(table, LANDER, "qrc", other) for other in ("qc-ll", "sbeed"))


@claim("Tuned for it, SBEED performs better in Cart Pole than the algorithms that explore.", TUNED, domains=(POLE,))
def tuned_sbeed_best_in_cart_pole(case: Case) -> Finding:
    others = [name for name in BAKEOFF if name != "sbeed"]
    ask, table = Asker(len(others)), case.tuned(BAKEOFF)
    return all_of(ask.better(table, POLE, "sbeed", other) for other in others)


@claim("Without a vote of Lunar Lander, all algorithms perform worse there.", HELD_OUT, domains=(LANDER,))
def held_out_worse(case: Case) -> Finding:
    ask, before, after = Asker(len(BAKEOFF)), case.voted(), case.voted(leave_out=[LANDER])
    facts = (ask.contrast(label_of(name), case.change(after, before, name)) for name in BAKEOFF)
    return all_of(facts, f"return lost in {title_of(LANDER)}, as parts of the way; 0 where the setting stays the same")


@claim(
    "Without a vote of Lunar Lander, SBEED finds a setting that is better in the other domains.",
    HELD_OUT,
    ("sbeed",),
    (CAR, ACROBOT, POLE),
)
def held_out_helps_sbeed(case: Case) -> Finding:
    if not case.runs.has(["sbeed"], [LANDER]):
        return Finding("no data", (), "no runs in Lunar Lander, whose vote is in question")
    change = case.change(case.voted(), case.voted(leave_out=[LANDER]), "sbeed")
    return all_of([Asker().contrast("SBEED", change)], f"gain, {WAY}; 0 where the setting stays the same")


@claim("Instant runoff strongly hurts QC-LL and SBEED.", RUNOFF, ("qc-ll", "sbeed"))
def runoff_hurts(case: Case) -> Finding:
    ask, before, after = Asker(2), case.voted(), case.voted("instant-runoff")
    facts = (ask.contrast(label_of(name), case.change(after, before, name)) for name in ("qc-ll", "sbeed"))
    return all_of(facts, f"loss, {WAY}; 0 where the setting stays the same")


@claim(
    "With instant runoff, Q-learning and QRC perform as they do with a Condorcet vote.", RUNOFF, ("q-learning", "qrc")
)
def runoff_spares(case: Case) -> Finding:
    ask, before, after = Asker(2), case.voted(), case.voted("instant-runoff")
    facts = (ask.small(label_of(name), case.change(after, before, name), MARGIN) for name in ("q-learning", "qrc"))
    return all_of(facts, f"loss within {MARGIN:g}, {WAY}; 0 where the setting stays the same")
