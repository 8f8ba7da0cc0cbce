"""Several algorithms in one call of `gpbe predict` or `gpbe train`: what each is told, one table, one picture."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from gpbe.errors import InputError
from gpbe.wording import as_written

Typed = Mapping[str, list[float]]


def told(algorithms: Sequence[str], typed: Typed, has: Callable[[str], Sequence[str]]) -> list[tuple[str, Typed]]:
    """Each algorithm with the hyperparameters it is told. Of several, each is told what it has; one is told all.

    >>> has = {"td": ["step_size"], "tdrc": ["step_size", "beta"]}
    >>> told(["td", "tdrc"], {"step_size": [0.1], "beta": [1.0]}, has.get)
    [('td', {'step_size': [0.1]}), ('tdrc', {'step_size': [0.1], 'beta': [1.0]})]
    """
    if not algorithms:
        raise InputError("ALGORITHM is missing; name one, or several to compare them")
    if len(algorithms) == 1:
        return [(algorithms[0], typed)]
    if len(set(algorithms)) < len(algorithms):
        raise InputError(f"algorithms are {' '.join(algorithms)}; name each once")
    known = {name: set(has(name)) for name in algorithms}
    for each in typed:
        if not any(each in names for names in known.values()):
            raise InputError(f"none of {', '.join(algorithms)} has {each!r}; leave it out")
    return [(name, {k: v for k, v in typed.items() if k in known[name]}) for name in algorithms]


def stacked(tables: Mapping[str, pl.DataFrame], before: str) -> pl.DataFrame:
    """Tables of settings by algorithm as one, with a column `algorithm`; settings are numbered through.

    Hyperparameters are the columns after `setting` and up to `before`; an algorithm without one has null there.

    >>> one = pl.DataFrame({"setting": [0, 1], "beta": [0.5, 1.0], "final": [3.0, 4.0]})
    >>> stacked({"td": one.drop("beta").head(1), "tdrc": one}, "final").rows()
    [(0, 'td', None, 3.0), (1, 'tdrc', 0.5, 3.0), (2, 'tdrc', 1.0, 4.0)]
    """
    frames, first = [], 0
    for name, table in tables.items():
        frames.append(table.with_columns(pl.col("setting") + first, algorithm=pl.lit(name)))
        first += table["setting"].n_unique()
    whole = pl.concat(frames, how="diagonal_relaxed")
    swept = list(dict.fromkeys(k for table in tables.values() for k in table.columns[1 : table.columns.index(before)]))
    return whole.select("setting", "algorithm", *swept, pl.all().exclude("setting", "algorithm", *swept))


def labels(table: pl.DataFrame, before: str) -> dict[int, str]:
    """What to call each setting of a stacked table: its algorithm, and what was swept of it.

    >>> table = pl.DataFrame({"setting": [0, 1], "algorithm": ["td", "tdrc"], "beta": [None, 0.5], "final": [3.0, 4.0]})
    >>> labels(table, "final")
    {0: 'td', 1: 'tdrc, beta 0.5'}
    """
    swept = table.columns[2 : table.columns.index(before)]
    found = {}
    for row in table.select("setting", "algorithm", *swept).unique(maintain_order=True).iter_rows(named=True):
        told = [f"{name} {as_written([row[name]])[0]}" for name in swept if row[name] is not None]
        found[row["setting"]] = ", ".join([row["algorithm"], *told])
    return found


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> listed(["td"]), listed(["td", "tdrc", "gtd2"])
    ('td', 'td, tdrc and gtd2')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def alike(headings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all headings say alike, without the algorithm."""
    first = headings[0]
    return {k: v for k, v in first.items() if k != "algorithm" and all(k in h and h[k] == v for h in headings)}
