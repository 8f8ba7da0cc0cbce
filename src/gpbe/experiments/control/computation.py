"""The tables of the control figures from stored runs, and what there is to say about each (paper, section 9)."""

from collections.abc import Sequence

import polars as pl

from gpbe import analysis
from gpbe.analysis.choices import by_vote, chosen, describe_per_domain, describe_vote, per_domain
from gpbe.analysis.selection import Vote
from gpbe.analysis.stored import Stored, StoredRuns, amount, missing
from gpbe.envs.domains import PAPER, domains_in
from gpbe.experiments.control.design import LANDER
from gpbe.figures import Notes

Names = Sequence[str]


def voted_curves(stored: Stored, algorithms: Names, method: Vote = "condorcet", leave_out: Names = ()) -> pl.DataFrame:
    """Learning curves of the setting that wins the vote of the domains, in every domain."""
    return _curves(stored.runs, algorithms, by_vote(stored.runs, algorithms, method, leave_out))


def tuned_curves(stored: Stored, algorithms: Names) -> pl.DataFrame:
    """Learning curves of the best setting of each domain."""
    return _curves(stored.runs, algorithms, per_domain(stored.runs, algorithms))


def settings(stored: Stored, algorithms: Names) -> pl.DataFrame:
    """A row for each setting with its mean return over all of learning, best first."""
    means = analysis.setting_means(stored.runs.performances(algorithms, last=1.0))
    return means.sort("domain", "algorithm", "mean", descending=[False, False, True])


def best_runs(stored: Stored, algorithms: Names) -> pl.DataFrame:
    """A row for each run of the best setting of each domain."""
    return chosen(stored.runs.performances(algorithms), per_domain(stored.runs, algorithms))


def example_runs(stored: Stored, algorithms: Names) -> pl.DataFrame:
    """The same in one domain as an example."""
    return best_runs(stored, algorithms).filter(domain=_example(stored.runs, algorithms))


def runs_by_step_size(stored: Stored, algorithms: Names) -> pl.DataFrame:
    """A row for each run of the setting that is best for its step size; `best` marks the best step size."""
    performances, key = stored.runs.performances(algorithms), ["domain", "algorithm", "setting"]
    picks = analysis.sensitivity(performances)
    return chosen(performances, picks).join(picks.select(*key, "best"), on=key, maintain_order="left")


def notes(stored: Stored, algorithms: Names, sentences: Sequence[str] = (), domains: Names = PAPER) -> Notes:
    """How much stands behind a figure, and what is missing of these domains."""
    gone = missing(stored.runs, algorithms, domains)
    said = (f"not in these results: {'; '.join(gone)}",) if gone else ()
    first = tuple(f"{each[0].upper()}{each[1:]}." for each in said)
    return Notes((amount(stored.runs, algorithms), *said), (*first, *sentences))


def vote_notes(
    stored: Stored, algorithms: Names, method: Vote = "condorcet", leave_out: Names = (), domains: Names = PAPER
) -> Notes:
    """The same, and who was voted for."""
    return notes(stored, algorithms, describe_vote(stored.runs, algorithms, method, leave_out), domains)


def tuned_notes(stored: Stored, algorithms: Names, domains: Names = PAPER) -> Notes:
    """The same, and what was chosen in each domain."""
    return notes(stored, algorithms, describe_per_domain(per_domain(stored.runs, algorithms), algorithms), domains)


def sensitivities(stored: Stored, algorithms: Names, hyperparameter: str) -> pl.DataFrame:
    """A row for each value of a hyperparameter, with the setting that is best for it."""
    return analysis.sensitivity(stored.runs.performances(algorithms), hyperparameter)


def example_notes(stored: Stored, algorithms: Names) -> Notes:
    """The same, and what was chosen in the domain that is the example."""
    picks = per_domain(stored.runs, algorithms).filter(domain=_example(stored.runs, algorithms))
    return notes(stored, algorithms, describe_per_domain(picks, algorithms))


def _example(runs: StoredRuns, algorithms: Names) -> str:
    """Lunar Lander, or the last domain that there is."""
    there = domains_in(runs.performances(algorithms)["domain"])
    return LANDER if LANDER in there else there[-1]


def _curves(runs: StoredRuns, algorithms: Names, picks: pl.DataFrame) -> pl.DataFrame:
    return analysis.curves(runs.table(algorithms), picks, worst=runs.worst)
