"""Which setting each algorithm is shown with, and what there is to say about the choice.

Settings are chosen by their mean performance over the last quarter of the steps.
"""

from collections.abc import Sequence

import polars as pl

from gpbe.analysis.labels import label_of
from gpbe.analysis.selection import Vote, select_by_vote, select_per_domain
from gpbe.analysis.stored import StoredRuns
from gpbe.analysis.tables import hyperparameters, restrict
from gpbe.analysis.uncertainty import choice_frequencies
from gpbe.envs.domains import domains_in, title_of
from gpbe.errors import InputError
from gpbe.wording import as_text, listed

RESAMPLES = 200
"""How often runs are drawn again to see how sure a vote is."""
RULES = {
    "majority": "it beats every other setting",
    "copeland": "no setting beats every other; it wins the most pairs",
    "summed rank": "no setting beats every other; it has the best sum of ranks",
    "lowest index": "tied; the first of its equals",
}


def by_vote(
    runs: StoredRuns, algorithms: Sequence[str], method: Vote = "condorcet", leave_out: Sequence[str] = ()
) -> pl.DataFrame:
    """One setting for each algorithm that ran, as `gpbe.analysis.select_by_vote`."""
    electorate, _ = electable(runs.performances(algorithms), leave_out)
    absent = [domain for domain in leave_out if domain in set(electorate["domain"])]
    return select_by_vote(electorate, method, absent)


def per_domain(runs: StoredRuns, algorithms: Sequence[str]) -> pl.DataFrame:
    """The best setting of each algorithm in each domain, as `gpbe.analysis.select_per_domain`."""
    return select_per_domain(runs.performances(algorithms))


def chosen(performances: pl.DataFrame, choices: pl.DataFrame) -> pl.DataFrame:
    """The runs of the chosen settings alone."""
    return restrict(performances.lazy(), choices).collect().sort("domain", "algorithm", "setting", "run")


def electable(performances: pl.DataFrame, leave_out: Sequence[str] = ()) -> tuple[pl.DataFrame, list[str]]:
    """What of an incomplete sweep can be voted on, and words for what cannot.

    A vote needs every candidate in every domain: settings that lack one are no candidates. Should nothing be left,
    the domain with the fewest settings does not vote, and so on.

    >>> performances = pl.DataFrame({
    ...     "domain": ["hill", "hill", "pole"], "algorithm": "qrc", "setting": [0, 1, 1], "run": 0,
    ...     "performance": [4.0, 2.0, 9.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> table, words = electable(performances)
    >>> table["setting"].to_list(), words
    ([1, 1], ['QRC: 1 of 2 settings stand for election, as the others did not run in every domain.'])
    """
    frames, words = [], []
    for (algorithm,), mine in performances.group_by("algorithm", maintain_order=True):
        left_out = mine.filter(pl.col("domain").is_in(list(leave_out)))
        voting = mine.filter(~pl.col("domain").is_in(list(leave_out)))
        if voting.is_empty():
            words.append(f"{label_of(str(algorithm))}: no domain is left to vote.")
            continue
        everyone = voting["setting"].n_unique()
        while not (candidates := _everywhere(voting)):
            sizes = voting.group_by("domain").agg(pl.col("setting").n_unique()).sort("setting", "domain")
            words.append(f"{label_of(str(algorithm))}: {title_of(sizes['domain'][0])} does not vote, for want of runs.")
            voting = voting.filter(pl.col("domain") != sizes["domain"][0])
        if len(candidates) < everyone:
            words.append(
                f"{label_of(str(algorithm))}: {len(candidates)} of {everyone} settings stand for election, "
                "as the others did not run in every domain."
            )
        frames.append(pl.concat([voting, left_out]).filter(pl.col("setting").is_in(candidates)))
    if not frames:
        raise InputError("no domain is left to vote; run the experiment in more of them")
    return pl.concat(frames), words


def describe_vote(
    runs: StoredRuns, algorithms: Sequence[str], method: Vote = "condorcet", leave_out: Sequence[str] = ()
) -> tuple[str, ...]:
    """A sentence for each algorithm: what was chosen, by which rule, and how sure that is."""
    performances = runs.performances(algorithms)
    electorate, words = electable(performances, leave_out)
    absent = [domain for domain in leave_out if domain in set(electorate["domain"])]
    choices = select_by_vote(electorate, method, absent)
    sure = choice_frequencies(electorate, method, absent, resamples=RESAMPLES).filter("winner")
    hypers, frequency = hyperparameters(performances), dict(sure.select("algorithm", "frequency").rows())
    rows = _ordered(choices, algorithms)
    electors = {tuple(domains_in(row["voters"])) for row in rows}
    if len(electors) == 1:
        words.append(f"The voters: {listed(map(title_of, *electors))}.")
    for row in rows:
        rule = RULES[row["decided_by"]]
        if method == "instant-runoff":
            rule = "a majority" if row["decided_by"] == "majority" else f"ties broken by {row['decided_by']}"
        if len(electors) > 1:
            rule += f"; the voters: {listed(map(title_of, domains_in(row['voters'])))}"
        words.append(
            f"{label_of(row['algorithm'])}: {_hypers(row, hypers)} (of {row['candidates']} settings; {rule}; "
            f"chosen in {frequency[row['algorithm']]:.0%} of {RESAMPLES} resamples of the runs)."
        )
    return tuple(words)


def describe_per_domain(choices: pl.DataFrame, algorithms: Sequence[str]) -> tuple[str, ...]:
    """A sentence for each algorithm: what was chosen in each domain."""
    hypers, words = hyperparameters(choices.drop("mean", "standard_error")), []
    for name in algorithms:
        rows = {row["domain"]: row for row in choices.filter(algorithm=name).rows(named=True)}
        if rows:
            parts = (f"{title_of(domain)} {_hypers(rows[domain], hypers)}" for domain in domains_in(rows))
            words.append(f"{label_of(name)}: {'; '.join(parts)}.")
    return tuple(words)


def _everywhere(voting: pl.DataFrame) -> list[int]:
    """The settings with runs in every domain of the table."""
    counts = voting.group_by("setting").agg(pl.col("domain").n_unique())
    return counts.filter(pl.col("domain") == voting["domain"].n_unique())["setting"].sort().to_list()


def _ordered(choices: pl.DataFrame, algorithms: Sequence[str]) -> list[dict]:
    return [row for name in algorithms for row in choices.filter(algorithm=name).rows(named=True)]


def _hypers(row: dict, hypers: Sequence[str]) -> str:
    """The hyperparameters of a setting in words, without those it does not have."""
    there = [f"{name.replace('_', ' ')} {as_text(row[name])}" for name in hypers if row[name] is not None]
    return ", ".join(there) or f"setting {row['setting']}"
