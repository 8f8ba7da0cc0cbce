"""Claims about what makes QRC: the form of its gradient, the basis of h, the policy (paper, sections 9.4 to 9.6)."""

from collections.abc import Callable

from gpbe.analysis.evidence import Asker, Finding, all_of, most_of, sample_of
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import title_of
from gpbe.experiments.control import BASES, FORMS, UPDATES
from gpbe.report.claims.benchmark import FEW_SETTINGS
from gpbe.report.claims.levels import MARGIN
from gpbe.report.claims.runs import Case, claim

SADDLEPOINT, BASIS, POLICIES = "section 9.4", "section 9.5", "section 9.6"
WAY = "parts of the way to the threshold, mean over domains"


@claim(
    "Saddlepoint methods perform worse than gradient corrections in every domain, although beta is swept for them.",
    SADDLEPOINT,
    FORMS,
)
def saddlepoint_worse(case: Case) -> Finding:
    ask, table = Asker(2 * len(case.domains)), case.tuned(FORMS)
    return all_of(ask.better(table, domain, "qrc", other) for domain in case.domains for other in FORMS[1:])


@claim("Saddlepoint methods have wider distributions over runs than QRC.", SADDLEPOINT, FORMS)
def saddlepoint_wider(case: Case) -> Finding:
    ask, table = Asker(2 * len(case.domains)), case.tuned(FORMS)
    facts = []
    for domain in case.domains:
        for other in FORMS[1:]:
            first, second = (sample_of(table, domain, name) for name in ("qrc", other))
            facts.append(ask.spread(f"{title_of(domain)}, {label_of(other)}", first, second))
    return most_of(facts, "standard deviation over runs of the best setting, less QRC's")


@claim("Gradient features for h make the saddlepoint method slightly better.", SADDLEPOINT, ("gq", "gq-grad"))
def gradient_features_help_saddlepoint(case: Case) -> Finding:
    gain = case.gain(case.tuned(("gq", "gq-grad")), "gq-grad", "gq")
    return all_of([Asker().contrast("GQ-Grad - GQ", gain)], WAY)


@claim("QRC, QRC-Sep and QRC-Grad perform comparably.", BASIS, BASES)
def bases_comparable(case: Case) -> Finding:
    ask, table = Asker(2), case.tuned(BASES)
    facts = (ask.small(f"QRC - {label_of(o)}", case.gain(table, "qrc", o), MARGIN) for o in BASES[1:])
    return all_of(facts, f"within {MARGIN:g} {WAY}")


@claim("QRC-Sep performs marginally worse than QRC.", BASIS, ("qrc", "qrc-sep"))
def separate_network_worse(case: Case) -> Finding:
    gain = case.gain(case.tuned(("qrc", "qrc-sep")), "qrc", "qrc-sep")
    return all_of([Asker().contrast("QRC - QRC-Sep", gain)], WAY)


@claim("QRC-Grad performs marginally better than QRC.", BASIS, ("qrc", "qrc-grad"))
def gradient_features_better(case: Case) -> Finding:
    gain = case.gain(case.tuned(("qrc", "qrc-grad")), "qrc-grad", "qrc")
    return all_of([Asker().contrast("QRC-Grad - QRC", gain)], WAY)


@claim("SBEED-Q performs significantly better than SBEED.", POLICIES, ("sbeed-q", "sbeed"))
def sbeedq_better_than_sbeed(case: Case) -> Finding:
    return _over_settings(case, [("sbeed-q", "sbeed")], all_of)


@claim("SBEED-Q still performs worse than QRC in all domains.", POLICIES, ("qrc", "sbeed-q"))
def sbeedq_worse_than_qrc(case: Case) -> Finding:
    return _over_settings(case, [("qrc", "sbeed-q")], all_of)


@claim("SBEED-Q performs worse than TDRC-PG in most domains.", POLICIES, ("sbeed-q", "tdrc-pg"))
def sbeedq_worse_than_tdrcpg(case: Case) -> Finding:
    return _over_settings(case, [("tdrc-pg", "sbeed-q")], most_of)


@claim(
    "Parameterized policies generally have a lower mean return over settings than action values with the same update.",
    POLICIES,
    UPDATES,
)
def policies_lower(case: Case) -> Finding:
    return _over_settings(case, [("qrc", "tdrc-pg"), ("sbeed-q", "sbeed")], most_of)


@claim("QRC has the narrowest distribution over settings of the four, in all domains.", POLICIES, UPDATES)
def qrc_narrowest_of_policies(case: Case) -> Finding:
    ask = Asker(3 * len(case.domains))
    facts = []
    for domain in case.domains:
        for other in UPDATES[1:]:
            first, second = (case.settings(domain, name) for name in ("qrc", other))
            facts.append(ask.spread(f"{title_of(domain)}, {label_of(other)}", first, second, fewest=FEW_SETTINGS))
    return all_of(facts, "standard deviation over settings, less QRC's")


def _over_settings(case: Case, pairs: list[tuple[str, str]], together: Callable[..., Finding]) -> Finding:
    """Is the first of each pair better, by its mean over settings?"""
    ask, facts = Asker(len(pairs) * len(case.domains)), []
    for domain in case.domains:
        for first, second in pairs:
            terms = {name: (sign, case.settings(domain, name)) for name, sign in ((first, 1.0), (second, -1.0))}
            facts.append(ask.contrast(f"{title_of(domain)}, {label_of(first)} - {label_of(second)}", terms))
    return together(facts, "mean return over all steps and settings")
