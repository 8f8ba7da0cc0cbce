"""A claim that a study decides: its words, its place in the paper, and the function that asks for facts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import polars as pl

from gpbe.analysis.findings import ERROR, Answer, Finding, found, lacking
from gpbe.analysis.stored import Stored
from gpbe.errors import InputError


@dataclass(frozen=True)
class StudyClaim:
    """A claim of the paper that the table of one study decides."""

    name: str
    text: str
    where: str
    """The place in the paper."""
    experiment: str
    ask: Callable[[pl.DataFrame], Answer]
    level: float = ERROR
    """At which it is decided; less than `ERROR` where the table is not all that chance has a part in."""

    def judge(self, stored: Stored) -> Finding:
        """What stored results say."""
        try:
            finding = found(self.ask(stored.rows(self.experiment)), self.level)
        except InputError as error:
            return lacking(str(error))
        amount = stored.amounts.get(self.experiment)
        return replace(finding, where=f"{self.experiment} ({amount})" if amount else self.experiment)


def claim(
    text: str, where: str, experiment: str, level: float = ERROR
) -> Callable[[Callable[[pl.DataFrame], Answer]], StudyClaim]:
    """Make a claim of the function that asks for its facts; the function's name is the claim's."""
    return lambda ask: StudyClaim(ask.__name__.replace("_", "-"), text, where, experiment, ask, level)
