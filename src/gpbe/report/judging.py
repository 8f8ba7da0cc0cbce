"""A claim of the paper as data: its words, its place, what it needs, and how it is judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from gpbe import analysis
from gpbe.analysis.selection import Vote
from gpbe.errors import InputError
from gpbe.figures.control import choices
from gpbe.figures.control.looks import DOMAIN, domains_in, label_of, listed, title_of
from gpbe.figures.control.sweeps import EXPERIMENTS, Sweeps
from gpbe.report.evidence import Finding, Sample, Terms, sample_of
from gpbe.report.levels import LEVELS

BAKEOFF = EXPERIMENTS["bakeoff"]
OTHERS = tuple(name for name in BAKEOFF if name != "qrc")
CAR, ACROBOT, POLE, LANDER = DOMAIN


@dataclass(frozen=True, eq=False)
class Case:
    """What a claim is judged on: sweeps, and those of the claim's domains in which everything it needs ran."""

    sweeps: Sweeps
    domains: tuple[str, ...]

    def voted(self, method: Vote = "condorcet", leave_out: Sequence[str] = ()) -> pl.DataFrame:
        """The runs of the benchmark's algorithms with their one setting."""
        picks = choices.by_vote(self.sweeps, BAKEOFF, method, leave_out)
        return choices.chosen(self.sweeps.performances(BAKEOFF), picks)

    def tuned(self, algorithms: Sequence[str]) -> pl.DataFrame:
        """The runs of algorithms with the best setting of each domain."""
        picks = choices.per_domain(self.sweeps, algorithms)
        return choices.chosen(self.sweeps.performances(algorithms), picks)

    def settings(self, domain: str, algorithm: str) -> Sample:
        """Mean returns over all of learning of an algorithm's settings."""
        mine = self.sweeps.performances([algorithm], last=1.0).filter(domain=domain)
        return analysis.setting_means(mine)["mean"].to_numpy()

    def gain(self, table: pl.DataFrame, first: str, second: str) -> Terms:
        """By how much `first` is better than `second`, as a part of the way to the threshold; mean over domains."""
        terms = {}
        for domain in self.domains:
            weight = 1 / (LEVELS[domain].way * len(self.domains))
            for name, sign in ((first, weight), (second, -weight)):
                terms[domain, name] = (sign, sample_of(table, domain, name))
        return terms

    def change(self, before: pl.DataFrame, after: pl.DataFrame, algorithm: str) -> Terms:
        """By how much an algorithm is better after than before; nothing where its setting is the same."""
        terms = {}
        for domain in self.domains:
            weight = 1 / (LEVELS[domain].way * len(self.domains))
            rows = [table.filter(domain=domain, algorithm=algorithm) for table in (before, after)]
            for sign, row in zip((-weight, weight), rows, strict=True):
                key = (domain, row["setting"][0])
                terms[key] = (terms.get(key, (0.0,))[0] + sign, sample_of(row, domain, algorithm))
        return terms

    def behind(self, table: pl.DataFrame, algorithm: str) -> str:
        """The domain in which an algorithm is furthest behind QRC, as a part of the way to the threshold."""

        def gap(domain: str) -> float:
            means = (sample_of(table, domain, name).mean() for name in ("qrc", algorithm))
            return float((next(means) - next(means)) / LEVELS[domain].way)

        return max(self.domains, key=gap)


@dataclass(frozen=True)
class Claim:
    """An empirical claim of the paper."""

    name: str
    text: str
    where: str
    algorithms: tuple[str, ...]
    domains: tuple[str, ...]
    judge_case: Callable[[Case], Finding]

    def judge(self, sweeps: Sweeps) -> Finding:
        """The verdict of some data: open as long as one of the claim's domains is missing."""
        domains = [name for name in self.domains if name in sweeps.domains and sweeps.has(self.algorithms, [name])]
        if not domains:
            absent = [name for name in self.algorithms if not any(sweeps.has([name], [d]) for d in sweeps.domains)]
            lacking = listed(map(label_of, absent)) if absent else listed(map(title_of, domains_in(self.domains)))
            return Finding("no data", (), f"no runs of {lacking}" if absent else f"no runs in {lacking}")
        try:
            finding = self.judge_case(Case(sweeps, tuple(domains)))
        except InputError as error:  # such as experiments of different scales, or a vote without voters
            return Finding("no data", (), str(error))
        gone = [title_of(name) for name in self.domains if name not in domains]
        if gone:
            remark = "; ".join(filter(None, [f"without {listed(gone)}", finding.remark]))
            finding = replace(finding, remark=remark, verdict="undecided")
        return finding


def claim(
    text: str, where: str, algorithms: Sequence[str] = BAKEOFF, domains: Sequence[str] = tuple(DOMAIN)
) -> Callable[[Callable[[Case], Finding]], Claim]:
    """Make a claim of the function that judges it; the function's name is the claim's."""

    def made(judge: Callable[[Case], Finding]) -> Claim:
        name = judge.__name__.replace("_", "-")
        return Claim(name, text, where, tuple(algorithms), tuple(domains), judge)

    return made
