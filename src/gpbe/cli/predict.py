"""`gpbe predict`: learn, and show what was learned as a table, JSON, a file of curves or a drawing."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import polars as pl
from tyro.conf import OmitArgPrefixes, Positional, arg

from gpbe.algorithms import linear, nonlinear
from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.cli.options import (
    AlgorithmNames,
    Basis,
    File,
    Json,
    KernelName,
    Names,
    Number,
    ProblemName,
    Sizes,
    options_of,
)
from gpbe.cli.problems import read_problem
from gpbe.cli.sweeping import check_out, plain, read_typed, single_and_grid, write_out
from gpbe.cli.terminal import console, headed, print_json
from gpbe.cli.together import alike, labels, listed, stacked, told
from gpbe.exact.weightings import Name as Weighting
from gpbe.lazy import importing
from gpbe.mdp import is_log
from gpbe.process import with_cache
from gpbe.wording import as_text

if TYPE_CHECKING:
    from gpbe.learn.linear.recorded import Recording
    from gpbe.learn.prediction import Prediction
    from gpbe.mdp import Log, PredictionProblem

Length = Annotated[str | None, arg(metavar="INT|episode", help_behavior_hint="")]


def declared() -> dict[str, Hyperparameter]:
    """The hyperparameters of linear values and of networks; of those that differ, the help tells both."""
    ours, nets = linear.Hypers._field_defaults, nonlinear.Hypers._field_defaults
    differ = {
        name: replace(
            nets[name], meaning=f"{h.meaning}, {as_text(h.default)} if left out; with --net {nets[name].meaning}"
        )
        for name, h in ours.items()
        if nets.get(name, h) != h
    }
    return ours | {name: h for name, h in nets.items() if name not in ours} | differ


Hyperparameters = options_of(declared(), "Hyperparameters")
NONE_GIVEN = Hyperparameters()


def predict(
    problem: Positional[ProblemName],
    algorithm: Positional[AlgorithmNames],
    hyperparameters: OmitArgPrefixes[Hyperparameters] = NONE_GIVEN,  # pyright: ignore[reportInvalidTypeForm]
    steps: Number = None,
    runs: Number = None,
    seed: int = 0,
    metrics: Names = (),
    weighting: Weighting = "behavior",
    every: Number = None,
    optimizer: Literal["sgd", "adam"] = "sgd",
    epochs: int = 1,
    net: Sizes = None,
    basis: Basis = None,
    n: Length = None,
    batch: Number = None,
    buffer: Number = None,
    kernel: KernelName = None,
    index: Number = None,
    out: File = None,
    json: Json = False,
) -> None:
    """Learn values, linear ones or with a network; print how large the errors were over learning and at its end.

    Args:
        problem: a name from `gpbe list problems`, a .toml or .npz problem file, or a .parquet or .csv log
        algorithm: a name from `gpbe list algorithms`, or with --net from `gpbe list networks`; several to compare them
        hyperparameters: one number each, or several to try; of several hyperparameters all combinations. Numbers are
            written as 0.1, 1/3 or 2^-5, and 2^-8..2^0 stands for every power in between
        steps: transitions to learn from; 1000 if left out, or all of a log
        runs: independent runs; 10 if left out, and a log is one
        seed: of the behavior's data, which are the same for every algorithm and setting
        metrics: of rmsve, rmspbe, rmsbe, distance, and rhpbe and rhbe (Huber's errors, with a threshold as in
            rhpbe:0.5), with --net of rmsve, rmspbe, rmsbe, rmstde, rhpbe and rhbe; settings are compared by the first
        weighting: of the states in the metrics
        every: transitions between points of a learning curve; 1 if left out, or more for a log of more than 10,000 rows
        optimizer: plain steps along the algorithm's direction, or Adam's
        epochs: passes over the data, for SVRG and SAGA
        net: units in each hidden layer of a network that makes values of the features
        basis: with --net, what h is made of: a head on the network's features, a network of its own, or the gradient
        n: with --net, transitions in a return, or "episode" for all to the episode's end; 1 if left out
        batch: with --net, transitions drawn from a replay buffer for each update; online if left out
        buffer: with --net, how many of the latest transitions that buffer holds; 4000 if left out
        kernel: with --net, of the algorithm kbe
        index: which problem of a batch (`four-rooms` has eight)
        out: write the learning curves: a table if it ends in .parquet or .csv, a drawing if in .png or .pdf
        json: print JSON
    """
    each = told(algorithm, read_typed(hyperparameters), partial(hyperparameters_of, net))
    check_out(out)
    os.environ.update(with_cache(os.environ))
    data = read_data(problem, index, net)
    name = getattr(data, "name", Path(problem).stem)
    of_net = {"basis": basis, "n": read_length(n), "batch": batch, "buffer": buffer, "kernel": kernel}
    of_net = {option: value for option, value in of_net.items() if value is not None}
    options: dict[str, Any] = {
        "steps": steps,
        "runs": runs if runs is not None else 1 if is_log(problem) else 10,
        "seed": seed,
        "metrics": metrics or None,
        "weighting": weighting,
        "every": every,
        "optimizer": optimizer,
        "epochs": epochs,
        "net": net,
        **of_net,
    }
    layers = {} if net is None else {"net": " ".join(map(str, net)) or "linear"}
    results = [learn(data, own, typed, f"{own} on {name}", **options) for own, typed in each]
    show(results, [heading(result, name, seed, epochs, layers | of_net) for result in results], out, json)


def hyperparameters_of(net: object, algorithm: str) -> tuple[str, ...]:
    """What an algorithm can be told."""
    return (linear if net is None else nonlinear).find(algorithm).hyperparameters


def read_data(problem: str, index: int | None, net: object = None) -> "PredictionProblem | Recording | Log":
    """What to learn from: a problem by its name or in a file, or a log in files, read once for all algorithms."""
    from gpbe.mdp import scan_log

    if not is_log(problem):
        return read_problem(problem, index)
    with importing("gpbe.learn.predict"):  # while another process tries to read the files
        files = scan_log(problem)
    if net is not None:
        return files.read()
    from gpbe.learn.linear.recorded import Recording

    return Recording(files)


def read_length(n: str | None) -> int | str | None:
    """A number of transitions as a number; other words are left to `gpbe.predict`."""
    return int(n) if n is not None and re.fullmatch(r"-?[0-9]{1,18}", n) else n


def learn(
    data: "PredictionProblem | Recording | Log",
    algorithm: str,
    typed: Mapping[str, list[float]],
    title: str,
    **options: Any,
) -> "Prediction":
    """The learning itself, with its progress on the terminal."""
    import numpy as np

    import gpbe

    single, grid = single_and_grid(typed)
    with np.errstate(over="ignore"):
        return gpbe.predict(data, algorithm, average=True, progress=title, **single, **grid, **options)


def heading(result: "Prediction", name: str, seed: int, epochs: int, of_net: Mapping[str, Any]) -> dict[str, Any]:
    """What was learned, by what, and how."""
    stored = not of_net and linear.find(result.algorithm).finite_sum
    constant = result.held.get("power") == 0
    return {
        "problem": name,
        "algorithm": result.algorithm,
        "steps": int(result.steps[-1]) // epochs,
        **({"epochs": epochs} if stored else {}),
        **of_net,
        "runs": int(result.diverged_at.shape[-1]),
        "seed": seed,
        **{k: v for k, v in result.held.items() if not (constant and k in ("power", "delay"))},
    }


def show(results: Sequence["Prediction"], headings: Sequence[Mapping[str, Any]], out: Path | None, json: bool) -> None:
    """Write the curves if that was asked for, and print how good the settings are."""
    import numpy as np

    from gpbe.cli import pages
    from gpbe.learn.tables import curves_table, settings_table

    names, several = [result.algorithm for result in results], len(results) > 1
    title = f"{listed(names)} on {headings[0]['problem']}"
    with np.errstate(over="ignore"):  # what has diverged may square beyond the largest float
        tables = {result.algorithm: settings_table(result) for result in results}
    settings = stacked(tables, "metric") if several else tables[names[0]]
    if out is not None:
        by_name = {result.algorithm: curves_table(result) for result in results}
        curves = stacked(by_name, "metric") if several else by_name[names[0]]
        write_out(curves, out, lambda: draw_curves(curves, settings, title, several))
    said = dict(headings[0]) if not several else {"problem": headings[0]["problem"], **alike(headings)}
    if json:
        rows = [plain(row) for row in settings.iter_rows(named=True)]
        more = {"algorithms": [plain(heading) for heading in headings]} if several else {}
        print_json(plain(said) | more | {"settings": rows, "file": out and str(out)})
        return
    words = (f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in list(said.items())[1 if several else 2 :])
    console().print(headed(title, ", ".join(words)))
    console().print(pages.prediction_table(settings))
    edges = [f"{name}: {line}" if several else line for name, table in tables.items() for line in pages.edges(table)]
    for line in [*edges, *([f"learning curves: {out}"] if out else [])]:
        console().print(line)


def draw_curves(curves: pl.DataFrame, settings: pl.DataFrame, title: str, several: bool) -> Any:
    """All settings of one algorithm, or of several algorithms the best setting of each."""
    from gpbe.figures import learning

    if not several:
        return learning.draw(curves, title)
    first = settings.filter(metric=settings["metric"][0])
    best = first.sort("area", nulls_last=True).unique("algorithm", keep="first", maintain_order=True)["setting"]
    shown = curves.filter(pl.col("setting").is_in(best.implode()))
    return learning.draw(shown, title, labels(shown, "metric"))
