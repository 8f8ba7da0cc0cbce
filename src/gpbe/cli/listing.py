"""`gpbe list`: what there is, and what it would cost."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from tyro.conf import Positional

from gpbe.cli.options import Json, Number
from gpbe.cli.speed import cores, known_speed, measure_speed
from gpbe.cli.terminal import console, print_json
from gpbe.errors import InputError
from gpbe.wording import counted, duration

if TYPE_CHECKING:
    from gpbe.experiments.cost import Speed
    from gpbe.experiments.experiment import Experiment

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


def list_(what: Positional[What] = "all", cost: bool = False, workers: Number = None, json: Json = False) -> None:
    """Show what there is: problems, algorithms, experiments with what they cost here, figures, objectives and more.

    Args:
        what: which kind to show
        cost: tell the time that experiments take, from a calibration of this machine (a minute, once)
        workers: the same for so many workers; one for each core if left out
        json: print JSON
    """
    from gpbe.cli import catalog, pages

    if (cost or workers is not None) and what != "experiments":
        raise InputError("--cost and --workers are for experiments: gpbe list experiments --workers 64")
    if what == "experiments":
        list_experiments(cost, workers, json)
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


def list_experiments(cost: bool, count: int | None, json: bool) -> None:
    """Every experiment, with its work and its time at each scale; of those in stages, which these are."""
    from gpbe import experiments
    from gpbe.cli.catalog import staged
    from gpbe.envs.domains import DOMAINS

    workers = cores(count)
    speed = measure_speed(DOMAINS) if cost or count is not None else known_speed(DOMAINS)
    rows: dict[str, dict[str, Any]] = {}
    for name in experiments.NAMES:
        at = {scale: experiments.find(name, scale) for scale in experiments.SCALES}
        scales = {scale: {"work": each.work, **_times(each, speed, workers)} for scale, each in at.items()}
        rows[name] = {"describe": at["paper"].describe, "unit": at["paper"].unit, "scales": scales}
    if json:
        measured = None if speed is None else asdict(speed)
        print_json({"experiments": rows, "staged": staged(), "workers": workers, "speed": measured})
        return
    from gpbe.cli import pages

    console().print(pages.experiments_table(rows, timed=speed is not None))
    if speed is None:
        console().print("\ntimes on this machine: gpbe list experiments --cost (measures it once, in a minute)\n")
    else:
        total = sum(row["scales"]["paper"]["core_seconds"] for row in rows.values()) / workers
        console().print(
            f"\ntime on {counted(workers, 'worker')} like one core of this machine; the paper's, all: {duration(total)}"
        )
        said = ", ".join(f"{domain} {rate:,.0f}" for domain, rate in speed.rates.items())
        console().print(f"steps a second of QRC on one core: {said}\n")
    console().print(pages.stages_table(staged()))


def _times(experiment: "Experiment", speed: "Speed | None", workers: int) -> dict[str, float]:
    from gpbe.experiments.cost import cost_of

    if speed is None:
        return {}
    found = cost_of(experiment, speed)
    return {**found._asdict(), "seconds": found.seconds(workers)}
