"""A claim about control: its words, its place in the paper, and the function that asks for facts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from gpbe.analysis.findings import ERROR, LOOKS, Answer, Finding, found, lacking
from gpbe.errors import InputError
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.gathered import Gathered
from gpbe.experiments.evidence.levels import SOLVED


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


def claim(text: str, where: str, on_solved: bool = False) -> Callable[[Callable[[Case], Answer]], ControlClaim]:
    """Make a claim of the function that asks for its facts; the function's name is the claim's."""
    return lambda ask: ControlClaim(ask.__name__.replace("_", "-"), text, where, ask, on_solved)
