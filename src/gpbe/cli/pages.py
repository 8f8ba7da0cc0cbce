"""Tables for the terminal."""

from collections.abc import Iterator, Mapping
from math import floor, isfinite, log10
from typing import Any

import polars as pl
from rich.table import Table
from rich.text import Text

from gpbe.wording import as_written, duration

CORRECTED = {
    "none": "posterior corrections only: states weighted by d_b",
    "emphatic": "emphatic prior corrections: states weighted by m",
    "alternative-life": "alternative-life prior corrections: states weighted by d_pi",
}


def names_table(kind: str, entries: Mapping[str, str]) -> Table:
    """Names with a line each."""
    table = Table(box=None, title=kind, title_justify="left", title_style="bold", show_header=False, pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    for name, line in entries.items():
        table.add_row(name, line)
    return table


def experiments_table(rows: Mapping[str, Mapping[str, Any]], timed: bool) -> Table:
    """The experiments with their work, and their time where the speed of the machine is known, at two scales."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("experiment", style="cyan", no_wrap=True)
    for scale in ("quick", "paper"):
        for column in (scale, "time") if timed else (scale,):
            table.add_column(column, justify="right", no_wrap=True)
    table.add_column("what")
    for name, row in rows.items():
        cells = []
        for scale in ("quick", "paper"):
            work = row["scales"][scale]["work"]
            cells += [f"{work:,} {row['unit']}" if work < 1e7 else f"{work:.2g} {row['unit']}"]
            cells += [duration(max(1, row["scales"][scale]["seconds"]))] if timed else []
        table.add_row(name, *cells, row["describe"])
    return table


def stages_table(entries: Mapping[str, Mapping[str, Any]]) -> Table:
    """Experiments in stages: what each stage runs follows from what those before it found, so that none has a cost."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("in stages", style="cyan", no_wrap=True)
    for column in ("one after the other", "what"):
        table.add_column(column)
    for name, row in entries.items():
        table.add_row(name, ", ".join(row["stages"]), row["describe"])
    return table


def algorithm_tables(entries: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """One table for each prior correction; its columns are as wide in all of them, for a page of 120 characters."""
    widths = {"algorithm": 24, "bootstrapping": 13, "update": 19, "sound": 5, "also has": 14, "paper": 35}
    for prior, title in CORRECTED.items():
        table = Table(
            box=None, title=title, title_justify="left", title_style="bold", pad_edge=False, padding=(0, 2, 0, 0)
        )
        for column, width in widths.items():
            table.add_column(column, style="cyan" if column == "algorithm" else None, width=width)
        for name, a in entries.items():
            if a["prior"] == prior:
                own = [h for h in a["hyperparameters"] if h not in ("step_size", "lam", "power", "delay")]
                sound = Text("yes") if a["sound"] else Text("no", style="red")
                update = f"{a['update']}{' (MP)' if a['mirror_prox'] else ''}"
                paper = a["paper"].partition(" (Patterson")[0]
                table.add_row(name, a["bootstrapping"], update, sound, " ".join(own), paper)
        yield table


LEGEND = """\
bootstrapping: the rule for how long the sample is trusted. update: how the weights move; MP is mirror-prox.
sound: converges off-policy whatever the behavior, with small enough steps; TDC and HTD with h fast enough (a large
ratio), TDRC also with a small enough beta. `gpbe diagnose` tells whether beta = 1 is.
also has: hyperparameters besides step_size, power and delay (least squares has none of these) and lam, which all have;
`gpbe predict --help` says what they mean. The followon of etd-beta puts its weighting between d_b and m.
hypothetical: printed in gray in the paper's table."""


def control_tables(entries: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """The control algorithms, and what their hyperparameters mean."""
    table = Table(box=None, title="control algorithms", title_justify="left", title_style="bold", pad_edge=False)
    widths = {"algorithm": max(map(len, entries)), "what it is": 44, "the paper sweeps": 24, "paper": 35}
    for column, width in widths.items():
        table.add_column(column, style="cyan" if column == "algorithm" else None, width=width)
    known: dict[str, Any] = {}
    for name, a in entries.items():
        swept = [h for h, about in a["hyperparameters"].items() if "paper" in about]
        table.add_row(name, a["describe"], " ".join(swept), a["paper"])
        known |= {h: about for h, about in a["hyperparameters"].items() if "paper" in about or h not in known}
    yield table
    table = Table(box=None, title="their hyperparameters", title_justify="left", title_style="bold", pad_edge=False)
    for column in ("name", "meaning", "default", "in the paper"):
        table.add_column(column, style="cyan" if column == "name" else None)
    for name, about in known.items():
        default = "" if about["default"] is None else as_written([about["default"]])[0]
        table.add_row(name, about["meaning"], default, " ".join(as_written(about.get("paper", []))))
    yield table


NET_H = {
    "zero": "0",
    "same": "the TD error itself",
    "second": "the error of a second sample",
    "kernel": "errors smoothed by a kernel",
    "learned": "learned",
}


def network_table(entries: Mapping[str, Mapping[str, Any]]) -> Table:
    """The algorithms of prediction with networks."""
    title = "algorithms for `gpbe predict --net`"
    table = Table(box=None, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for column in ("algorithm", "form", "h", "weighting", "hyperparameters", "paper"):
        table.add_column(column, style="cyan" if column == "algorithm" else None)
    for name, a in entries.items():
        h = NET_H[a["h"]] + (", with curvature" if a["curvature"] else "")
        own = [k for k in a["hyperparameters"] if k not in ("step_size", "power", "delay")]
        table.add_row(name, a["form"], h, a["weighting"], " ".join(own), a["paper"])
    return table


def training_page(settings: pl.DataFrame, swept: tuple[str, ...]) -> Table:
    """A row for each setting: mean return over all steps and over the last quarter, and how many runs diverged."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in swept:
        table.add_column(name, justify="right", style="cyan", no_wrap=True)
    for what in ("mean return", "over the last quarter", "of the best run", "diverged"):
        table.add_column(what, justify="right", no_wrap=True)
    columns = [_cells(settings[name]) for name in swept]
    finals = settings["final"].to_list()
    best = max((f for f in finals if f is not None), default=None)
    for k, row in enumerate(settings.iter_rows(named=True)):
        shown = [
            "no episode ended" if row[what] is None else with_error(row[what], row[f"{what}_error"])
            for what in ("mean", "final")
        ]
        top = "" if row["best_final"] is None else f"{row['best_final']:.1f}"
        diverged = f"{row['diverged']} of {row['runs']}" if row["diverged"] else "none"
        style = "bold" if swept and row["final"] == best else None
        table.add_row(*(column[k] for column in columns), *shown, top, diverged, style=style)
    return table


def prediction_table(settings: pl.DataFrame) -> Table:
    """A row for each setting: the error over learning and at its end, and how many runs diverged."""
    metrics = settings["metric"].unique(maintain_order=True).to_list()
    first = settings.filter(metric=metrics[0])
    swept = first.columns[1 : first.columns.index("metric")]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in swept:
        table.add_column(name, justify="right", style="cyan", no_wrap=True)
    for metric in metrics:
        for what in ("area", "final"):
            table.add_column(f"{metric} {what}", justify="right", no_wrap=True)
    table.add_column("diverged", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    columns = [_cells(first[name]) for name in swept]
    for k, row in enumerate(first.iter_rows(named=True)):
        cells = [column[k] for column in columns]
        for metric in metrics:
            other = settings.filter(metric=metric).row(k, named=True)
            cells += [with_error(other[what], other[f"{what}_error"]) for what in ("area", "final")]
        counted = {f" of {row['runs']}": row["diverged"], " grow": row["growing"]}
        diverged = ", ".join(f"{n}{what}" for what, n in counted.items() if n) or "none"
        mark = {"best": "best", "rival": "as good", None: ""}[row["choice"]]
        table.add_row(*cells, diverged, mark, style="bold" if mark == "best" else None)
    return table


def _cells(column: pl.Series) -> list[str]:
    """Numbers as people write them, names as they are; nothing for what an algorithm has not."""
    values = column.to_list()
    if column.dtype == pl.String:
        return values
    written = iter(as_written([value for value in values if value is not None]))
    return ["" if value is None else next(written) for value in values]


def edges(settings: pl.DataFrame) -> list[str]:
    """A sentence for each swept hyperparameter whose best value is the smallest or the largest that was tried."""
    first = settings.filter(metric=settings["metric"][0])
    swept, best = first.columns[1 : first.columns.index("metric")], first.filter(choice="best")
    if best.is_empty():
        return ["every setting has runs that diverged, so none is best; try smaller step sizes"] if swept else []
    sentences = []
    for name in swept:
        tried, value = first[name].unique().sort(), best[name][0]
        place = {tried[0]: ("smallest", "smaller"), tried[-1]: ("largest", "larger")}.get(value)
        at_the_end = value == 0 or (value == 1 and name in ("lam", "followon_decay"))
        if place and len(tried) > 2 and not at_the_end:
            sentences.append(f"the best {name} is the {place[0]} that was tried; try {place[1]} ones too")
    return sentences


def with_error(mean: float, error: float | None) -> str:
    """A mean with its standard error, to the digit that the error leaves meaningful.

    >>> with_error(0.123456, 0.0123), with_error(5.0, None), with_error(float("inf"), None)
    ('0.123 ± 0.012', '5', 'inf')
    """
    if error is None or not isfinite(mean) or not isfinite(error) or error == 0:
        return f"{mean:.4g}"
    if not 1e-4 < abs(mean) < 1e6:
        return f"{mean:.3g} ± {error:.1g}"
    digits = max(0, 1 - floor(log10(error)))
    return f"{mean:.{digits}f} ± {error:.{digits}f}"
