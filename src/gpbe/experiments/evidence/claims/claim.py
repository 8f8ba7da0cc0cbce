"""A claim about control: its words, its place in the paper, and the function that asks for facts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from gpbe.analysis.findings import ERROR, LOOKS, Answer, Finding, found, lacking
from gpbe.errors import InputError
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.gathered import Gathered
from gpbe.experiments.evidence.levels import SOLVED

REPEATS = (2, 4, 8, 16)
"""Times the runs that are tried to decide what is open."""
ROUGHLY = 999
"""Resamples for that: it need not be more exact than the question."""


@dataclass(frozen=True)
class ControlClaim:
    """A claim of the paper about control."""

    name: str
    text: str
    where: str
    """The place in the paper."""
    ask: Callable[[Case], Answer]
    on_solved: bool = False
    """Does it depend on what counts as solved?"""

    def judge(self, looks: tuple[Gathered, ...], solved: float = SOLVED) -> Finding:
        """What the runs say: at one look, or at a first one and, if it leaves the claim open, at a second."""
        try:
            answer = self.ask(Case(looks[0], solved))
        except InputError as error:
            return lacking(str(error))
        if looks[0].looks == 1:
            return found(answer, ERROR)
        if not answer.cells:  # no stage adds runs to it: it is looked at once, when all looks are over
            return found(answer, LOOKS[1])
        finding = found(answer, LOOKS[0])
        return finding if finding.verdict != "undecided" or len(looks) == 1 else self._again(finding, looks[1], solved)

    def _again(self, first: Finding, gathered: Gathered, solved: float) -> Finding:
        try:
            second = found(self.ask(Case(gathered, solved)), LOOKS[1])
        except InputError:
            return first
        return replace(second, p=min(first.p, second.p))

    def decided_by(self, repeats: Mapping[int, Gathered]) -> int | None:
        """How many times the runs would decide an open claim, if they came out alike: the least of `repeats`."""
        for times, gathered in repeats.items():
            level = ERROR if gathered.looks == 1 else LOOKS[-1]
            if found(self.ask(Case(gathered)), level).verdict != "undecided":
                return times
        return None


def repeats_of(look: Gathered) -> dict[int, Gathered]:
    """The runs of a look, made again and again, for `ControlClaim.decided_by`."""
    few = replace(look, resamples=min(look.resamples, ROUGHLY))
    return {times: few.repeated(times) for times in REPEATS}


def claim(text: str, where: str, on_solved: bool = False) -> Callable[[Callable[[Case], Answer]], ControlClaim]:
    """Make a claim of the function that asks for its facts; the function's name is the claim's."""
    return lambda ask: ControlClaim(ask.__name__.replace("_", "-"), text, where, ask, on_solved)
