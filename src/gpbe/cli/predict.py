"""`gpbe predict`: learn, and show what was learned as a table, JSON, a file of curves or a drawing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import OmitArgPrefixes, Positional, arg

from gpbe.cli.options import (
    AlgorithmName,
    Basis,
    File,
    Json,
    Kernel,
    Names,
    Number,
    ProblemName,
    Sizes,
    Values,
    Weighting,
)
from gpbe.cli.problems import read_problem
from gpbe.cli.sweeping import check_out, plain, read_typed, single_and_grid, write_out
from gpbe.cli.terminal import console, print_json, progress
from gpbe.errors import InputError


@dataclass(frozen=True)
class Hyperparameters:
    """As typed."""

    step_size: Values = ()
    """step size of w; 0.01 if left out"""
    ratio: Values = ()
    """step size of h over that of w; 1 if left out"""
    lam: Values = ()
    """trace parameter lambda (zeta for AB-Trace); 0 if left out, and 1 within the returns of --n"""
    beta: Values = ()
    """regularization of h, for TDRC; 1 if left out"""
    c_bar: Values = ()
    """clip of the trace's ratio, for V-trace; 1 if left out"""
    rho_bar: Values = ()
    """clip of the TD error's ratio, for V-trace; 1 if left out, inf for none"""
    followon_decay: Values = ()
    """decay of the followon in place of the discount, for etd-beta; 0.9 if left out"""
    power: Values = ()
    """the step size falls as (1 + t / delay)^-power; 0 if left out"""
    delay: Values = ()
    """transitions after which the step size begins to fall; 1000 if left out"""
    bandwidth: Values = ()
    """width of the kernel, for kbe with --net; 1 if left out"""
    ridge: Values = ()
    """added to the diagonal of LSTD's sum over transitions; 0.001 if left out"""


NONE_GIVEN = Hyperparameters()
Length = Annotated[str | None, arg(metavar="INT|episode", help_behavior_hint="")]
NET_ONLY = ("net", "basis", "n", "batch", "buffer", "kernel")
"""Options that only values from a network have."""


def predict(
    problem: Positional[ProblemName],
    algorithm: Positional[AlgorithmName],
    hyperparameters: OmitArgPrefixes[Hyperparameters] = NONE_GIVEN,
    steps: Number = None,
    runs: Number = None,
    seed: int = 0,
    metrics: Names = (),
    weighting: Weighting = "behavior",
    every: int = 1,
    optimizer: Literal["sgd", "adam"] = "sgd",
    epochs: int = 1,
    net: Sizes = None,
    basis: Basis = None,
    n: Length = None,
    batch: Number = None,
    buffer: Number = None,
    kernel: Kernel = None,
    index: Number = None,
    out: File = None,
    json: Json = False,
) -> None:
    """Learn values, linear ones or with a network; print how large the errors were over learning and at its end.

    Args:
        problem: a name from `gpbe list problems`, a .toml or .npz problem file, or a .parquet log of transitions
        algorithm: a name from `gpbe list algorithms`, or with --net from `gpbe list networks`
        hyperparameters: one number each, or several to try; of several hyperparameters all combinations. Numbers are
            written as 0.1, 1/3 or 2^-5, and 2^-8..2^0 stands for every power in between
        steps: transitions to learn from; 1000 if left out, or all of a log
        runs: independent runs; 10 if left out, and a log is one
        seed: of the behavior's data, which are the same for every algorithm and setting
        metrics: of rmsve, rmspbe, rmsbe and distance, with --net of rmsve, rmspbe, rmsbe and rmstde; settings are
            compared by the first
        weighting: of the states in the metrics
        every: transitions between points of a learning curve
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
    from gpbe import mdp

    is_log = Path(problem).suffix == ".parquet"
    learn_and_show(
        mdp.Log.read(problem) if is_log else read_problem(problem, index),
        algorithm,
        hyperparameters,
        out,
        json,
        name=Path(problem).stem if Path(problem).suffix else problem,
        steps=steps,
        runs=runs if runs is not None else 1 if is_log else 10,
        seed=seed,
        metrics=metrics or None,
        weighting=weighting,
        every=every,
        optimizer=optimizer,
        epochs=epochs,
        net=net,
        basis=basis,
        n=int(n) if n is not None and n.lstrip("-").isdigit() else n,
        batch=batch,
        buffer=buffer,
        kernel=kernel,
    )


def learn_and_show(
    problem: Any,
    algorithm: str,
    hyperparameters: Hyperparameters,
    out: Path | None,
    json: bool,
    *,
    name: str,
    **options: Any,
) -> None:
    """Everything that can be wrong is found before the learning starts."""
    single, grid = single_and_grid(read_typed(hyperparameters))
    check_out(out)

    import numpy as np

    import gpbe
    from gpbe.algorithms.linear import find
    from gpbe.algorithms.linear.hyperparameters import defaults_for, names_for
    from gpbe.cli import pages
    from gpbe.experiments.tables import curves_table, settings_table
    from gpbe.figures import learning

    with_net = options.get("net") is not None
    if with_net:
        from gpbe.algorithms.nonlinear import RANGES, find_value_algorithm
        from gpbe.algorithms.nonlinear import names_for as names_for_net

        b = find_value_algorithm(algorithm)
        known, defaults = names_for_net(b), {k: r.default for k, r in RANGES.items()}
        if options["n"] in (None, 1):  # a single transition is not mixed with others
            known = [k for k in known if k != "lam"]
    else:
        only = [k for k in NET_ONLY if options.pop(k) is not None]
        if only:
            raise InputError(f"--{only[0]} is for values from a network; give its layers too, such as --net 32 32")
        a = find(algorithm)
        known, defaults = names_for(a), defaults_for(a)
    options = {k: v for k, v in options.items() if v is not None or k not in NET_ONLY}
    epochs = options.get("epochs", 1)
    count = len(next(iter(grid.values()))) if grid else 1
    with progress(f"{algorithm} on {name}", count, "settings") as advance, np.errstate(over="ignore"):
        result = gpbe.predict(problem, algorithm, average=True, advance=advance, **single, **grid, **options)
        settings = settings_table(result)
    if out is not None:
        curves = curves_table(result)
        write_out(curves, out, lambda: learning.draw(curves, f"{algorithm} on {name}"))
    fixed = {k: single.get(k, defaults[k]) for k in known if k not in grid}
    heading = {
        "problem": name,
        "algorithm": algorithm,
        "steps": int(result.steps[-1]) // epochs,
        **({"epochs": epochs} if not with_net and find(algorithm).finite_sum else {}),
        **({"net": " ".join(map(str, options["net"])) or "linear"} if with_net else {}),
        **{k: options[k] for k in NET_ONLY[1:] if k in options},
        "runs": int(result.diverged_at.shape[-1]),
        "seed": options["seed"],
        **{k: v for k, v in fixed.items() if k not in ("power", "delay") or fixed["power"]},
    }
    if json:
        rows = [plain(row) for row in settings.iter_rows(named=True)]
        print_json(plain(heading) | {"settings": rows, "file": out and str(out)})
        return
    said = (f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in list(heading.items())[2:])
    console().print(f"[bold]{algorithm} on {name}[/bold]: {', '.join(said)}")
    console().print(pages.prediction_table(settings))
    for line in [*pages.edges(settings), *([f"learning curves: {out}"] if out else [])]:
        console().print(line)
