"""Claims about choices that the paper did not show: optimizers, beta, SBEED's rho (paper, section 9.1)."""

from gpbe.analysis.findings import Answer, every
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import PAPER, title_of
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims.benchmark import ACROBOT, CAR, POLE
from gpbe.experiments.evidence.claims.claim import claim
from gpbe.experiments.evidence.facts import Sample, difference, mean_fact, same, within
from gpbe.experiments.evidence.levels import MARGIN

DESIGN = "section 9.1"
BETAS = (0.5, 2.0)
"""Ends of the range in which beta hardly matters."""


@claim("With SGD and with RMSProp in place of Adam, most conclusions remain the same.", DESIGN)
def other_optimizers(case: Case) -> Answer:
    facts = []
    for optimizer, stage in names.OPTIMIZERS.items():
        for domain in (CAR, ACROBOT, POLE):
            samples = {name: case.side(stage, domain, algorithm=name) for name in ("qrc", "q-learning", "qc-ll")}
            for other in ("q-learning", "qc-ll"):
                what = f"{optimizer}, {title_of(domain)}, QRC - {label_of(other)}"
                facts.append(difference(what, samples["qrc"], samples[other], -MARGIN))
    return every(facts, f"QRC less the other, tuned, above -{MARGIN:g}")


@claim("QRC is insensitive to beta.", DESIGN)
def insensitive_to_beta(case: Case) -> Answer:
    facts = []
    for beta in BETAS:
        terms: dict[tuple[str, object], tuple[float, Sample]] = {}
        for domain in PAPER:
            terms[domain, beta] = (1 / len(PAPER), case.side(names.BETA, domain, beta=beta))
            terms[domain, 1.0] = (-1 / len(PAPER), case.settled(case.chosen("tuned", "qrc", domain)))
        facts.append(mean_fact(f"beta {beta:g} - beta 1", terms, within()))
    return every(facts, f"mean over domains, within {MARGIN:g}")


@claim("How SBEED's rho is defined, as in this paper or as by Dai et al., changes no verdict.", DESIGN)
def rho_does_not_matter(case: Case) -> Answer:
    facts = []
    for domain in PAPER:
        paper = case.settled(case.chosen("tuned", "sbeed", domain))
        facts.append(same(f"{title_of(domain)}, Dai et al. - paper", case.side(names.RHO, domain), paper))
    return every(facts, f"SBEED, tuned, within {MARGIN:g} in each domain")
