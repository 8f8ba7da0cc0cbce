"""One hyperparameter setting for each algorithm: by domain, or by a vote of the domains (paper, section 9.1).

Settings are the candidates. Domains are the voters, and rank them by mean performance over runs. Means that agree to
twelve digits are equal, so that no vote hangs on a rounding error.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl
from jaxtyping import Float

from gpbe import checks
from gpbe.analysis.runoff import Runoff, instant_runoff
from gpbe.analysis.settings import setting_means
from gpbe.analysis.tables import check_known, describe, hyperparameters
from gpbe.analysis.voting import Election, condorcet
from gpbe.errors import InputError
from gpbe.shapes import Array

Vote = Literal["condorcet", "instant-runoff"]
_DIGITS = 12


def select_per_domain(performances: pl.DataFrame) -> pl.DataFrame:
    """The best setting of each algorithm in each domain: what tuning for every domain alone would give.

    Columns: domain, algorithm, setting, the hyperparameters, decided_by ("mean", or "lowest index" among equals),
    tied (how many settings share the best mean, itself included), runs, mean, standard_error.

    >>> performances = pl.DataFrame({
    ...     "domain": ["hill", "hill", "pole"], "algorithm": "qrc", "setting": [0, 1, 0], "tau": [0.0, 1.0, 0.0],
    ...     "run": 0, "performance": [-4.0, -2.0, 9.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> select_per_domain(performances).select("domain", "setting", "tau", "mean").rows()
    [('hill', 1, 1.0, -2.0), ('pole', 0, 0.0, 9.0)]
    """
    rows = []
    for _, group in setting_means(performances).group_by("domain", "algorithm", maintain_order=True):
        scores = comparable(group["mean"].to_numpy()[None])[0]
        tied = np.flatnonzero(scores == scores.max())
        rule = "mean" if len(tied) == 1 else "lowest index"
        rows.append(group[int(tied[0])].with_columns(decided_by=pl.lit(rule), tied=pl.lit(len(tied), pl.Int64)))
    hypers = hyperparameters(performances)
    columns = ("domain", "algorithm", "setting", *hypers, "decided_by", "tied", "runs", "mean", "standard_error")
    return pl.concat(rows).select(columns)


def select_by_vote(
    performances: pl.DataFrame, method: Vote = "condorcet", leave_out: Sequence[str] = ()
) -> pl.DataFrame:
    """One setting for each algorithm, voted for by all domains but those left out.

    Columns: algorithm, setting, the hyperparameters, method, voters (list of domains), candidates (how many),
    decided_by (see `condorcet` and `instant_runoff`), condorcet_winner (a setting; null where there is none),
    smith_set (list of settings). The last two are facts about the ballots, whatever the method.

    >>> performances = pl.DataFrame({
    ...     "domain": ["hill", "hill", "pole", "pole", "moon", "moon"], "algorithm": "qrc", "setting": [0, 1] * 3,
    ...     "tau": [0.0, 1.0] * 3, "run": 0, "performance": [-4.0, -2.0, 9.0, 8.0, 1.0, 3.0], "points": 50,
    ...     "unfinished": 0, "diverged": False,
    ... })
    >>> select_by_vote(performances).select("algorithm", "setting", "tau", "decided_by", "condorcet_winner").rows()
    [('qrc', 1, 1.0, 'majority', 1)]
    """
    means = setting_means(performances)
    known = _hypers_of(means, hyperparameters(performances))
    rows = []
    for algorithm in means["algorithm"].unique().sort():
        settings, domains, scores = ballots(means, algorithm, leave_out)
        vote, pairs = hold(scores, method, settings), condorcet(scores)
        rows.append(
            {
                "algorithm": algorithm,
                "setting": settings[vote.winner],
                "method": method,
                "voters": domains,
                "candidates": len(settings),
                "decided_by": vote.decided_by,
                "condorcet_winner": settings[pairs.winner] if pairs.has_condorcet_winner else None,
                "smith_set": [settings[k] for k in pairs.smith_set],
            }
        )
    kinds = {"setting": means.schema["setting"], "condorcet_winner": pl.Int64, "candidates": pl.Int64}
    table = pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)
    hypers = [name for name in known.columns if name not in ("algorithm", "setting")]
    joined = table.join(known, on=["algorithm", "setting"], how="left", maintain_order="left")
    return joined.select("algorithm", "setting", *hypers, *table.columns[2:])


def leave_one_out(performances: pl.DataFrame, method: Vote = "condorcet") -> pl.DataFrame:
    """The vote with each domain held out in turn, and how its winner does there.

    Columns: those of `select_by_vote` with `left_out` before them, and held_out_mean (mean performance of the winner
    in the domain left out), held_out_best (of the best setting there), held_out_rank (of the winner there, from 1).

    >>> performances = pl.DataFrame({
    ...     "domain": ["hill", "hill", "pole", "pole", "moon", "moon"], "algorithm": "qrc", "setting": [0, 1] * 3,
    ...     "run": 0, "performance": [-4.0, -2.0, 9.0, 8.0, 1.0, 3.0], "points": 50, "unfinished": 0,
    ...     "diverged": False,
    ... })
    >>> leave_one_out(performances).select("left_out", "setting", "held_out_mean", "held_out_best").rows()
    [('hill', 0, -4.0, -2.0), ('moon', 0, 1.0, 3.0), ('pole', 1, 8.0, 9.0)]
    """
    means = setting_means(performances).select(
        pl.col("domain").alias("left_out"),
        "algorithm",
        "setting",
        held_out_mean="mean",
        held_out_best=pl.col("mean").max().over("domain", "algorithm"),
        held_out_rank=pl.col("mean").rank("min", descending=True).over("domain", "algorithm").cast(pl.Int64),
    )
    frames = [
        select_by_vote(performances, method, [domain]).select(pl.lit(domain).alias("left_out"), pl.all())
        for domain in performances["domain"].unique().sort()
    ]
    on = ["left_out", "algorithm", "setting"]
    return pl.concat(frames).join(means, on=on, how="left", maintain_order="left")


def election(
    performances: pl.DataFrame, algorithm: str, method: Vote = "condorcet", leave_out: Sequence[str] = ()
) -> Election | Runoff:
    """One algorithm's vote in full, with the pairwise matrix or every count. Candidates are named by their settings.

    >>> performances = pl.DataFrame({
    ...     "domain": ["hill", "hill", "pole", "pole"], "algorithm": "qrc", "setting": [0, 3, 0, 3], "run": 0,
    ...     "performance": [-4.0, -2.0, 8.0, 9.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> election(performances, "qrc").name
    '3'
    """
    settings, _, scores = ballots(setting_means(performances), algorithm, leave_out)
    return hold(scores, method, settings)


def ballots(
    means: pl.DataFrame, algorithm: str, leave_out: Sequence[str] = ()
) -> tuple[list[int], list[str], Float[Array, "domains settings"]]:
    """An algorithm's settings, the domains that vote, and their comparable scores, from a table of `setting_means`."""
    check_known(algorithm, means["algorithm"], "algorithm")
    for domain in leave_out:
        check_known(domain, means["domain"], "domain")
    mine = means.filter(algorithm=algorithm)
    domains = [domain for domain in mine["domain"].unique().sort() if domain not in leave_out]
    if not domains:
        raise InputError(f"no domain is left to vote on {algorithm!r}; leave out fewer")
    settings = mine.filter(pl.col("domain").is_in(domains))["setting"].unique().sort().to_list()
    wide = mine.pivot(on="domain", index="setting", values="mean").filter(pl.col("setting").is_in(settings))
    scores = wide.sort("setting").select(domains)
    for domain in domains:
        if scores[domain].null_count():
            setting = settings[scores[domain].is_null().arg_true()[0]]
            missing = describe({"setting": setting, "algorithm": algorithm})
            raise InputError(f"{missing} has no runs in {domain!r}; a vote needs every setting in every domain")
    return settings, domains, comparable(scores.to_numpy().T)


def hold(scores: Float[Array, "voters candidates"], method: Vote, settings: Sequence[int]) -> Election | Runoff:
    """The vote by its name."""
    checks.check_known(method, get_args(Vote), "vote")
    return (condorcet if method == "condorcet" else instant_runoff)(scores, [str(k) for k in settings])


def comparable(means: Float[Array, "voters candidates"]) -> Float[Array, "voters candidates"]:
    """Scores that rank like the means, with those equal that differ only by rounding.

    >>> comparable(np.array([[0.1 + 0.2, 0.3, 0.4]]))
    array([[0.75, 0.75, 1.  ]])
    """
    size = np.abs(means).max(1, keepdims=True)
    return np.round(means / np.where(size > 0, size, 1), _DIGITS)


def _hypers_of(means: pl.DataFrame, hypers: Sequence[str]) -> pl.DataFrame:
    return means.select("algorithm", "setting", *hypers).unique(["algorithm", "setting"], maintain_order=True)
