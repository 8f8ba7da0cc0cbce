"""How sure a choice is: how often each setting would have been chosen, had the runs come out differently."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from jaxtyping import Float

from gpbe.analysis.selection import Vote, ballots, comparable, hold
from gpbe.analysis.settings import setting_means
from gpbe.analysis.tables import check_known, check_performances, hyperparameters, stream
from gpbe.checks import check_at_least
from gpbe.shapes import Array


def choice_frequencies(
    performances: pl.DataFrame,
    method: Vote = "condorcet",
    leave_out: Sequence[str] = (),
    algorithms: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> pl.DataFrame:
    """Bootstrap of a vote: draw the runs of every setting in every domain anew, and vote again.

    All settings stand in every election, because one without a chance still decides who beats how many. The time goes
    as resamples x (runs x domains x settings + domains x settings^2): about 10 ms a resample for 864 settings with 100
    runs in 4 domains. Leave out all domains but one for the choice in that domain.

    Columns: algorithm, setting, the hyperparameters, chosen (resamples in which it won), frequency, winner (did it
    win with the runs as they are?). Only settings that won at least once are listed, most often first. A setting with
    a single run is always drawn as it is, so that its choice looks surer than it can be.

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": [0, 0, 0, 1, 1, 1], "tau": [0.0] * 3 + [1.0] * 3,
    ...     "run": [0, 1, 2] * 2, "performance": [1.0, 5.0, 9.0, 2.0, 4.0, 8.0],
    ...     "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> choice_frequencies(performances, resamples=200).select("setting", "tau", "frequency", "winner").rows()
    [(0, 0.0, 0.565, True), (1, 1.0, 0.435, False)]
    """
    check_at_least(1, resamples=resamples)
    table, means = check_performances(performances), setting_means(performances)
    hypers = hyperparameters(performances)
    for name in algorithms or ():
        check_known(name, means["algorithm"], "algorithm")
    frames = []
    for algorithm in algorithms or means["algorithm"].unique().sort().to_list():
        settings, domains, scores = ballots(means, algorithm, leave_out)
        mine = table.filter(algorithm=algorithm)
        samples = [_samples(mine.filter(domain=domain)) for domain in domains]
        chosen = np.zeros(len(settings), int)
        for drawn in _resampled(samples, resamples, stream(seed, algorithm)):
            chosen[hold(comparable(drawn), method, settings).winner] += 1
        winner = np.arange(len(settings)) == hold(scores, method, settings).winner
        counts = {"chosen": chosen, "frequency": chosen / resamples, "winner": winner}
        rows = pl.DataFrame({"setting": settings, **counts}, schema_overrides={"setting": means.schema["setting"]})
        known = means.filter(algorithm=algorithm).select("algorithm", "setting", *hypers).unique("setting")
        frames.append(known.join(rows.filter((pl.col("chosen") > 0) | pl.col("winner")), on="setting", how="right"))
    order = ["algorithm", "frequency", "setting"]
    table = pl.concat(frames).sort(order, descending=[False, True, False])
    return table.select("algorithm", "setting", *hypers, "chosen", "frequency", "winner")


def _samples(rows: pl.DataFrame) -> tuple[Float[Array, "settings runs"], Float[Array, " settings"]]:
    """Performances by setting, with zeros after the runs of those that have fewer, and how many runs each has."""
    lists = rows.group_by("setting", maintain_order=True).agg("performance").sort("setting")["performance"]
    counts = lists.list.len().to_numpy()
    values = np.zeros((len(lists), counts.max()))
    values[np.arange(counts.max()) < counts[:, None]] = lists.explode(empty_as_null=False, keep_nulls=False).to_numpy()
    return values, counts.astype(float)


def _resampled(
    samples: Sequence[tuple[Float[Array, "settings runs"], Float[Array, " settings"]]],
    resamples: int,
    rng: np.random.Generator,
) -> Iterator[Float[Array, "domains settings"]]:
    """Mean performances of settings whose runs were drawn with replacement, one table of them a resample."""
    for _ in range(resamples):
        means = []
        for values, counts in samples:
            drawn = (rng.random(values.shape) * counts[:, None]).astype(np.intp)
            kept = np.arange(values.shape[1]) < counts[:, None]
            means.append(np.where(kept, np.take_along_axis(values, drawn, 1), 0.0).sum(1) / counts)
        yield np.stack(means)
