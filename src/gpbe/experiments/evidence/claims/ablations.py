"""Claims about what makes QRC: the form of its gradient, the basis of h, the policy (paper, sections 9.4 to 9.6)."""

from gpbe.analysis.findings import Answer, every, most, not_so, some
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import PAPER, title_of
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims.claim import claim
from gpbe.experiments.evidence.facts import difference, mean_fact, more_than, within
from gpbe.experiments.evidence.levels import MARGIN

SADDLEPOINT, BASIS, POLICIES = "section 9.4", "section 9.5", "section 9.6"
SADDLES, POLICY_PAIRS = ("gq", "gq-grad"), (("qrc", "tdrc-pg"), ("sbeed-q", "sbeed"))
MEAN = "mean over domains"
SMALLER = tuple(2.0**k for k in (-13, -14))
"""Step sizes beyond the range."""


@claim("Saddlepoint methods perform worse than gradient corrections, although beta is swept for them.", SADDLEPOINT)
def saddlepoint_worse(case: Case) -> Answer:
    return every((case.better("tuned", d, "qrc", o) for d in PAPER for o in SADDLES), "QRC less the other, above 0")


@claim("Saddlepoint methods have wider distributions over runs than QRC.", SADDLEPOINT)
def saddlepoint_wider(case: Case) -> Answer:
    facts = (case.wider(domain, other, "qrc") for domain in PAPER for other in SADDLES)
    return most(facts, "standard deviation over runs, as a multiple of QRC's, in most cases above 1")


@claim("The bulk of the runs of saddlepoint methods is around poor performance.", SADDLEPOINT)
def saddlepoint_poor(case: Case) -> Answer:
    facts = (case.share_of_runs(other, domain, lambda x: x < 0.5, 0.5) for domain in PAPER for other in SADDLES)
    return most(facts, "share of runs below half of the way, in most cases above 0.5")


@claim("Gradient features for h make the saddlepoint method slightly better.", SADDLEPOINT)
def gradient_features_help_saddlepoint(case: Case) -> Answer:
    return every([mean_fact("GQ-Grad - GQ", case.gain("tuned", "gq-grad", "gq"), more_than())], f"{MEAN}, above 0")


@claim("GQ's choice of the smallest step size is no artifact of the range of step sizes.", "section 9.1")
def gq_boundary(case: Case) -> Answer:
    facts = []
    for domain in PAPER:
        best = case.settled(case.chosen("tuned", "gq", domain))
        for size in SMALLER:
            beyond = case.side(names.BOUNDARY, domain, step_size=size)
            facts.append(not_so(difference(f"{title_of(domain)}, step size {size:.3g}", beyond, best, MARGIN)))
    return every(facts, f"smaller step size less the tuned setting, below {MARGIN:g}")


@claim("QRC, QRC-Sep and QRC-Grad perform comparably.", BASIS)
def bases_comparable(case: Case) -> Answer:
    pairs = (("qrc", "qrc-sep"), ("qrc", "qrc-grad"), ("qrc-sep", "qrc-grad"))
    facts = (mean_fact(f"{label_of(a)} - {label_of(b)}", case.gain("tuned", a, b), within()) for a, b in pairs)
    return every(facts, f"{MEAN}, within {MARGIN:g}")


@claim("QRC-Sep performs marginally worse than QRC.", BASIS)
def separate_network_worse(case: Case) -> Answer:
    return every([mean_fact("QRC - QRC-Sep", case.gain("tuned", "qrc", "qrc-sep"), more_than())], f"{MEAN}, above 0")


@claim("QRC-Grad performs marginally better than QRC.", BASIS)
def gradient_features_better(case: Case) -> Answer:
    return every([mean_fact("QRC-Grad - QRC", case.gain("tuned", "qrc-grad", "qrc"), more_than())], f"{MEAN}, above 0")


OVER_SETTINGS = "mean over all settings and steps, above 0"


@claim("SBEED-Q performs significantly better than SBEED.", POLICIES)
def sbeedq_better_than_sbeed(case: Case) -> Answer:
    return every((case.better_settings(domain, "sbeed-q", "sbeed") for domain in PAPER), OVER_SETTINGS)


@claim("SBEED-Q still performs worse than QRC in all domains.", POLICIES)
def sbeedq_worse_than_qrc(case: Case) -> Answer:
    return every((case.better_settings(domain, "qrc", "sbeed-q") for domain in PAPER), OVER_SETTINGS)


@claim("SBEED-Q performs worse than TDRC-PG in most domains.", POLICIES)
def sbeedq_worse_than_tdrcpg(case: Case) -> Answer:
    return most((case.better_settings(domain, "tdrc-pg", "sbeed-q") for domain in PAPER), OVER_SETTINGS)


@claim(
    "Parameterized policies generally have a lower mean over settings than action values, update by update.", POLICIES
)
def policies_lower(case: Case) -> Answer:
    return most((case.better_settings(domain, *pair) for domain in PAPER for pair in POLICY_PAIRS), OVER_SETTINGS)


@claim("Parameterized policies occasionally have the higher maximum over settings.", POLICIES)
def policies_occasionally_best(case: Case) -> Answer:
    facts = (case.better("tuned", domain, policy, values) for domain in PAPER for values, policy in POLICY_PAIRS)
    return some(facts, "policy less action values, tuned, somewhere above 0")


@claim("SBEED-Q occasionally has a lower maximum over settings than QRC.", POLICIES)
def sbeedq_occasionally_lower(case: Case) -> Answer:
    facts = (case.better("tuned", domain, "qrc", "sbeed-q", MARGIN) for domain in PAPER)
    return some(facts, f"QRC less SBEED-Q, tuned, somewhere above {MARGIN:g}")


@claim("QRC has the narrowest distribution over settings of the four, in all domains.", POLICIES)
def qrc_narrowest_of_policies(case: Case) -> Answer:
    facts = (case.narrower(domain, "qrc", other) for domain in PAPER for other in ("sbeed-q", "tdrc-pg", "sbeed"))
    return every(facts, "standard deviation over settings, the other less QRC, above 0")
