"""Claims about one setting for all domains (paper, section 9.2, learning curves)."""

from gpbe.analysis.findings import Answer, every, not_so, some
from gpbe.envs.domains import PAPER
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims.claim import claim
from gpbe.experiments.evidence.design import BENCHMARK
from gpbe.experiments.evidence.levels import MARGIN

CURVES = "section 9.2, learning curves"
OTHERS = tuple(name for name in BENCHMARK if name != "qrc")
CAR, ACROBOT, POLE, LANDER = PAPER


@claim("With one setting for all domains, QRC is among the best algorithms in every domain.", CURVES)
def qrc_among_the_best(case: Case) -> Answer:
    facts = [case.better("voted", domain, "qrc", other, -MARGIN) for domain in PAPER for other in OTHERS]
    return every(facts, f"QRC less the other, above -{MARGIN:g}")


@claim("No other algorithm is among the best in every domain.", CURVES)
def only_qrc_among_the_best(case: Case) -> Answer:
    behind = [
        some(
            case.better("voted", domain, rival, other, MARGIN)
            for domain in PAPER
            for rival in BENCHMARK
            if rival != other
        )
        for other in OTHERS
    ]
    return every(behind, f"each of the others is somewhere behind some algorithm by more than {MARGIN:g}")


@claim("QRC is the only algorithm with a single setting that solves all four domains.", CURVES, on_solved=True)
def only_qrc_solves_all(case: Case) -> Answer:
    solves = [case.solves("qrc", domain, case.data.setting("voted", "qrc", domain)) for domain in PAPER]
    fail = [
        some(not_so(case.solves(other, domain, setting)) for domain in PAPER)
        for other in OTHERS
        for setting in case.data.everywhere(other)
    ]
    return every([*solves, *fail, case.screened_solvers(OTHERS)], f"mean over runs; solved means {case.solved:g}")


@claim("SBEED performs worse than all other algorithms in every domain.", CURVES)
def sbeed_worst(case: Case) -> Answer:
    others = [name for name in BENCHMARK if name != "sbeed"]
    return every((case.better("voted", d, o, "sbeed") for d in PAPER for o in others), "the other less SBEED, above 0")


@claim("QC-LL performs well in the simpler domains, Acrobot and Cart Pole.", CURVES)
def qcll_good_in_simple_domains(case: Case) -> Answer:
    facts = (case.better("voted", domain, "qc-ll", "qrc", -MARGIN) for domain in (ACROBOT, POLE))
    return every(facts, f"QC-LL less QRC, above -{MARGIN:g}")


@claim("QC-LL performs poorly in the harder domains, Mountain Car and Lunar Lander.", CURVES)
def qcll_poor_in_hard_domains(case: Case) -> Answer:
    facts = (case.better("voted", domain, "qrc", "qc-ll", MARGIN) for domain in (CAR, LANDER))
    return every(facts, f"QRC less QC-LL, above {MARGIN:g}")
