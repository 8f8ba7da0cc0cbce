"""Figures and tables of a sweep of one's own, from what is stored: the same pipeline as the paper's.

Which there are follows from the declaration that is stored with the results: a curve for each domain, what was chosen,
how returns are spread over settings and over runs, and sensitivity to every hyperparameter that was swept.
"""

from collections.abc import Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from gpbe import analysis, store
from gpbe.analysis.choices import electable, per_domain
from gpbe.analysis.stored import Stored
from gpbe.analysis.tables import RUNS
from gpbe.checks import check_names
from gpbe.errors import InputError
from gpbe.experiments.control.computation import (
    best_runs,
    notes,
    sensitivities,
    settings,
    tuned_curves,
    tuned_notes,
    vote_notes,
    voted_curves,
)
from gpbe.experiments.files import read
from gpbe.experiments.results import RESULTS
from gpbe.experiments.sweep import Swept
from gpbe.figures import FigureSpec

GROUP = "The sweep"


def find_results(name: str, out: Path, source: Path | None = None) -> tuple[str, Path]:
    """The name of an experiment of one's own, and where its results are: a folder in `out`, or packed in `source`.

    `name` is that of the experiment, or the file that declares it (a .py file is executed, as by `gpbe run`).
    """
    if Path(name).suffix in (".toml", ".py"):
        found = [experiment.name for experiment in read(name)]
        if len(found) > 1:
            raise InputError(f"{name} has experiments {', '.join(found)}; name the one to show")
        name = found[0]
    place = out / RESULTS / name if source is None else source / f"{name}.parquet"
    if not (place / "manifest.json").exists() and not place.is_file():
        raise InputError(f"there are no results of {name!r} in {place.parent}; first: gpbe run {name}.toml")
    return name, place


def open_own(name: str, place: Path) -> Stored:
    """The results of one experiment of one's own, as far as they go."""
    status = store.status(place)
    if not status.done:
        raise InputError(f"{place} has no results yet; first: gpbe run {name}.toml")
    table, unit = store.scan(place), store.spec(place).get("unit", "steps")
    if not set(RUNS) <= set(table.collect_schema().names()):
        raise InputError(
            f"{name} is no sweep of control, and only these are drawn; its table: store.scan({str(place)!r})"
        )
    rest = f"{place} has {status.done:,} of {status.total:,} chunks"
    return Stored(
        {name: table}, lacking={} if status.complete else {name: rest}, amounts={name: f"{status.steps_done:,} {unit}"}
    )


def figures_of(name: str, spec: Mapping[str, Any]) -> dict[str, FigureSpec]:
    """The figures of a sweep, by name, from its declaration.

    >>> from gpbe.experiments.sweep import Sweep, Swept
    >>> mine = Sweep("mine", ("CartPole-v1",), (Swept("qrc", {"step_size": (0.1, 0.2), "beta": (1.0,)}),), 3, 1000)
    >>> list(figures_of("mine", mine.spec()))
    ['mine', 'mine-settings', 'mine-runs', 'mine-step-size']
    """
    names, domains = names_in(spec), domains_of(spec)
    about = {"algorithms": names, "domains": domains}

    def made(suffix: str, describe: str, draw: str, table: Any, said: Any) -> FigureSpec:
        full = f"{name}-{suffix}" if suffix else name
        computed, told = partial(table, algorithms=names), partial(said, **about)
        return FigureSpec(full, describe, (name,), f"{__name__}_drawing:{draw}", computed, told, GROUP)

    found = [made("", "learning curves with the best setting of each domain", "draw_curves", tuned_curves, tuned_notes)]
    if len(domains) > 1:
        voted = "learning curves with the one setting for all domains that wins a Condorcet vote"
        found.append(made("vote", voted, "draw_voted", voted_curves, vote_notes))
    spread = "how mean return is spread over hyperparameter settings"
    found.append(made("settings", spread, "draw_settings", settings, notes))
    runs = "how return is spread over runs, with the best setting of each domain"
    found.append(made("runs", runs, "draw_runs", best_runs, tuned_notes))
    for each in swept_in(spec):
        describe = f"how return depends on {each.replace('_', ' ')}, with the best of the others for each value"
        found.append(made(each.replace("_", "-"), describe, "draw_sensitivity", partial(_by, swept=each), notes))
    return {figure.name: figure for figure in found}


def names_in(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The algorithms of a sweep, each once."""
    return tuple(dict.fromkeys(each.algorithm for each in algorithms_of(spec)))


def swept_in(spec: Mapping[str, Any]) -> list[str]:
    """The hyperparameters that have several values in a sweep."""
    values: dict[str, set[float]] = {}
    for each in algorithms_of(spec):
        for setting in each.numbered().values():
            for key, value in setting.items():
                values.setdefault(key, set()).add(value)
    return [key for key, tried in values.items() if len(tried) > 1]


def algorithms_of(spec: Mapping[str, Any]) -> tuple[Swept, ...]:
    """The algorithms of a stored declaration with their settings, checked as when it was declared."""
    try:
        return tuple(
            Swept(
                each["algorithm"],
                {name: tuple(values) for name, values in each["grid"].items()},
                tuple(each["settings"]),
                only=tuple(each["only"]),
            )
            for each in spec["algorithms"]
        )
    except (AttributeError, KeyError, TypeError):
        raise _no_sweep() from None


def domains_of(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The domains of a stored declaration."""
    domains = spec.get("domains")
    if not isinstance(domains, list | tuple) or not all(isinstance(each, str) for each in domains):
        raise _no_sweep()
    check_names(domains, "domain")
    return tuple(domains)


def _no_sweep() -> InputError:
    return InputError("the declaration that is stored with these results is not that of a sweep; run the sweep again")


def _by(stored: Stored, algorithms: tuple[str, ...], swept: str) -> pl.DataFrame:
    """A row for each value of a hyperparameter; which it is stands in the table, for the drawing."""
    return sensitivities(stored, algorithms, swept).with_columns(swept=pl.lit(swept))


def tables_of(stored: Stored, spec: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """What there is to read beside the figures: choices, how sure they are, all settings, and comparisons."""
    names = names_in(spec)
    performances = stored.runs.performances(names)
    picks = per_domain(stored.runs, names)
    electorate, _ = electable(performances)
    found = {
        "The best setting of each domain": picks,
        "How often each setting would be chosen, over resampled runs": analysis.choice_frequencies(electorate)
        .filter(pl.col("chosen") > 0)
        .sort("algorithm", "chosen", descending=[False, True]),
        "Every setting": analysis.setting_means(performances).sort(
            "domain", "algorithm", "mean", descending=[False, False, True]
        ),
    }
    if len(names) > 1:
        found["Differences between algorithms, with 95 % intervals"] = _differences(performances, picks)
    return found


def _differences(performances: pl.DataFrame, picks: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for (domain,), there in picks.group_by("domain", maintain_order=True):
        for first, second in combinations(there["algorithm"].to_list(), 2):
            c = analysis.compare(performances, str(domain), first, second, picks)
            numbers = {"difference": c.difference.estimate, "low": c.difference.low, "high": c.difference.high}
            rows.append({"domain": domain, "first": first, "second": second, **numbers, "first better": c.verdict})
    return pl.DataFrame(rows)
