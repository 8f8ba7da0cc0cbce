"""`gpbe list`: what there is, and what it would cost."""

from dataclasses import asdict
from typing import Any, Literal

from tyro.conf import Positional

from gpbe.cli.options import Json, Number
from gpbe.cli.speed import cores, measure_speed
from gpbe.cli.terminal import console, print_json
from gpbe.errors import InputError
from gpbe.wording import duration

What = Literal[
    "all",
    "problems",
    "algorithms",
    "networks",
    "control",
    "experiments",
    "figures",
    "objectives",
    "weightings",
    "bounds",
]


def list_(what: Positional[What] = "all", workers: Number = None, json: Json = False) -> None:
    """Show what there is: problems, algorithms, experiments with what they cost here, figures, objectives and more.

    Args:
        what: which kind to show; `experiments` measures the speed of this machine first, if that was not done yet
        workers: for how many to tell the time that experiments take; one for each core if left out
        json: print JSON
    """
    from gpbe.cli import catalog, pages

    if workers is not None and what != "experiments":
        raise InputError("--workers is for the cost of experiments: gpbe list experiments --workers 64")
    if what == "experiments":
        list_experiments(workers, json)
        return
    kinds = {k: v for k, v in catalog.catalog().items() if what in ("all", k)}
    if json:
        whole = {
            "algorithms": catalog.algorithms,
            "networks": catalog.network_algorithms,
            "control": catalog.control_algorithms,
        }
        print_json({k: whole[k]() if k in whole else v for k, v in kinds.items()})
    elif what == "networks":
        console().print(pages.network_table(catalog.network_algorithms()))
    elif what in ("algorithms", "control"):
        if what == "algorithms":
            for table in pages.algorithm_tables(catalog.algorithms()):
                console().print(table, "")
            console().print(pages.LEGEND, "")
        for table in pages.control_tables(catalog.control_algorithms()):
            console().print(table, "")
    else:
        for kind, entries in kinds.items():
            console().print(pages.names_table(kind, entries), "")


def list_experiments(count: int | None, json: bool) -> None:
    """Every experiment, with its work and its time at each scale; of those in stages, which these are."""
    from gpbe import experiments
    from gpbe.cli.catalog import staged
    from gpbe.envs.domains import DOMAINS
    from gpbe.experiments.cost import cost_of

    speed, workers = measure_speed(DOMAINS), cores(count)
    rows: dict[str, dict[str, Any]] = {}
    for name in experiments.NAMES:
        at = {scale: experiments.find(name, scale) for scale in experiments.SCALES}
        costs = {s: cost_of(e, speed) for s, e in at.items()}
        scales = {
            s: {"work": e.work, **costs[s]._asdict(), "seconds": costs[s].seconds(workers)} for s, e in at.items()
        }
        rows[name] = {"describe": at["paper"].describe, "unit": at["paper"].unit, "scales": scales}
    if json:
        print_json({"experiments": rows, "staged": staged(), "workers": workers, "speed": asdict(speed)})
        return
    from rich.table import Table

    from gpbe.cli import pages

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("experiment", style="cyan", no_wrap=True)
    for column in ("quick", "time", "paper", "time"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("what")
    for name, row in rows.items():
        cells = []
        for scale in ("quick", "paper"):
            work, seconds = (row["scales"][scale][key] for key in ("work", "seconds"))
            cells += [f"{work:,} {row['unit']}" if work < 1e7 else f"{work:.2g} {row['unit']}"]
            cells += [duration(max(1, seconds))]
        table.add_row(name, *cells, row["describe"])
    console().print(table)
    total = sum(row["scales"]["paper"]["core_seconds"] for row in rows.values())
    console().print(
        f"\ntime on {workers:,} workers like one core of this machine; the paper's, all: {duration(total / workers)}"
    )
    said = ", ".join(f"{domain} {rate:,.0f}" for domain, rate in speed.rates.items())
    console().print(f"steps a second of QRC on one core: {said}\n")
    console().print(pages.stages_table(staged()))
