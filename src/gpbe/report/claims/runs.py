"""Claims that are judged on runs of control: what each is asked of, and the statistics that several of them need."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from gpbe import analysis
from gpbe.analysis import choices
from gpbe.analysis.evidence import Finding, Sample, Terms, sample_of
from gpbe.analysis.labels import label_of
from gpbe.analysis.selection import Vote
from gpbe.analysis.stored import Stored, StoredRuns
from gpbe.envs.domains import PAPER, domains_in, title_of
from gpbe.experiments.control import BAKEOFF, MEMBERS
from gpbe.report.claims import levels
from gpbe.report.claims.claim import Claim, name_of
from gpbe.wording import listed

OTHERS = tuple(name for name in BAKEOFF if name != "qrc")
CAR, ACROBOT, POLE, LANDER = "MountainCar-v0", "Acrobot-v1", "CartPole-v1", "LunarLander-v3"


@dataclass(frozen=True, eq=False)
class Case:
    """What a claim is judged on: runs, and those of the claim's domains in which everything it needs ran."""

    runs: StoredRuns
    domains: tuple[str, ...]

    def voted(self, method: Vote = "condorcet", leave_out: Sequence[str] = ()) -> pl.DataFrame:
        """The runs of the benchmark's algorithms with their one setting."""
        picks = choices.by_vote(self.runs, BAKEOFF, method, leave_out)
        return choices.chosen(self.runs.performances(BAKEOFF), picks)

    def tuned(self, algorithms: Sequence[str]) -> pl.DataFrame:
        """The runs of algorithms with the best setting of each domain."""
        picks = choices.per_domain(self.runs, algorithms)
        return choices.chosen(self.runs.performances(algorithms), picks)

    def settings(self, domain: str, algorithm: str) -> Sample:
        """Mean returns over all of learning of an algorithm's settings."""
        mine = self.runs.performances([algorithm], last=1.0).filter(domain=domain)
        return analysis.setting_means(mine)["mean"].to_numpy()

    def gain(self, table: pl.DataFrame, first: str, second: str) -> Terms:
        """By how much `first` is better than `second`, as a part of the way to the threshold; mean over domains."""
        terms = {}
        for domain in self.domains:
            weight = 1 / (levels.way(domain) * len(self.domains))
            for name, sign in ((first, weight), (second, -weight)):
                terms[domain, name] = (sign, sample_of(table, domain, name))
        return terms

    def change(self, before: pl.DataFrame, after: pl.DataFrame, algorithm: str) -> Terms:
        """By how much an algorithm is better after than before; nothing where its setting is the same."""
        terms = {}
        for domain in self.domains:
            weight = 1 / (levels.way(domain) * len(self.domains))
            rows = [table.filter(domain=domain, algorithm=algorithm) for table in (before, after)]
            for sign, row in zip((-weight, weight), rows, strict=True):
                key = (domain, row["setting"][0])
                terms[key] = (terms.get(key, (0.0,))[0] + sign, sample_of(row, domain, algorithm))
        return terms

    def behind(self, table: pl.DataFrame, algorithm: str) -> str:
        """The domain in which an algorithm is furthest behind QRC, as a part of the way to the threshold."""

        def gap(domain: str) -> float:
            means = (sample_of(table, domain, name).mean() for name in ("qrc", algorithm))
            return float((next(means) - next(means)) / levels.way(domain))

        return max(self.domains, key=gap)


@dataclass(frozen=True)
class Question:
    """A question about runs of some algorithms in some domains, which stored results decide as far as they go."""

    algorithms: tuple[str, ...]
    domains: tuple[str, ...]
    answer: Callable[[Case], Finding]

    def __call__(self, stored: Stored) -> Finding:
        """The verdict of some data: open as long as one of the claim's domains is missing."""
        runs = stored.only(MEMBERS).runs
        domains = [name for name in self.domains if name in runs.domains and runs.has(self.algorithms, [name])]
        if not domains:
            absent = [name for name in self.algorithms if not any(runs.has([name], [d]) for d in runs.domains)]
            lacking = f"of {listed(map(label_of, absent))}" if absent else f"in {_titles(self.domains)}"
            return Finding("no data", (), f"no runs {lacking}")
        finding = self.answer(Case(runs, tuple(domains)))
        gone = [name for name in self.domains if name not in domains]
        if gone:
            remark = "; ".join(filter(None, [f"without {_titles(gone)}", finding.remark]))
            finding = replace(finding, remark=remark, verdict="undecided")
        return finding


def claim(
    text: str, where: str, algorithms: Sequence[str] = BAKEOFF, domains: Sequence[str] = PAPER
) -> Callable[[Callable[[Case], Finding]], Claim]:
    """Make a claim of the function that judges it on runs of control; the function's name is the claim's."""

    def made(answer: Callable[[Case], Finding]) -> Claim:
        needs = tuple(name for name, members in MEMBERS.items() if set(members) & set(algorithms))
        return Claim(name_of(answer), text, where, needs, Question(tuple(algorithms), tuple(domains), answer))

    return made


def _titles(domains: Iterable[str]) -> str:
    return listed(map(title_of, domains_in(domains)))
