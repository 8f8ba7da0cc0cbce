"""The paper's claims about control (docs/evidence.md), one small function each."""

from gpbe.analysis.findings import LOOKS, Cell, found
from gpbe.errors import InputError
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims import ablations, benchmark, choices, runs, settings, voting
from gpbe.experiments.evidence.claims.claim import ControlClaim
from gpbe.experiments.evidence.gathered import Gathered

CLAIMS: tuple[ControlClaim, ...] = tuple(
    value
    for module in (benchmark, settings, runs, ablations, voting, choices)
    for value in vars(module).values()
    if isinstance(value, ControlClaim)
)
"""All claims about control, in the order of the paper."""


def open_cells(gathered: Gathered) -> frozenset[Cell]:
    """The settings, by algorithm and domain, that a claim is about which the first look leaves open."""
    cells: frozenset[Cell] = frozenset()
    for claim in CLAIMS:
        try:
            answer = claim.ask(Case(gathered))
        except InputError:  # something else is missing, which more runs of these settings do not mend
            continue
        if found(answer, LOOKS[0]).verdict == "undecided":
            cells |= answer.cells
    return cells
