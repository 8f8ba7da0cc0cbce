"""`gpbe train`: learn to act, and show how well, as a table, JSON, a file of curves, a drawing or a saved agent."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
from tyro.conf import OmitArgPrefixes, Positional, arg

from gpbe import process
from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.table import ALGORITHMS, find_algorithm
from gpbe.cli.options import AlgorithmName, EnvName, File, Json, Number, Sizes, options_of
from gpbe.cli.sweeping import check_out, plain, read_typed, single_and_grid, write_out
from gpbe.cli.terminal import Stopped, check_writable, console, headed, print_json
from gpbe.interrupts import number_of
from gpbe.learn.control.learning import DEFAULTS, STREAMING, Optimizer

if TYPE_CHECKING:
    from gpbe.learn.train import Training

SHAPING = {name: h for record in ALGORITHMS.values() for name, h in record.shaping.items()}
ControlHyperparameters = options_of(Hypers._field_defaults | SHAPING, "ControlHyperparameters")
NONE_GIVEN = ControlHyperparameters()


def train(
    env: Positional[EnvName],
    algorithm: Positional[AlgorithmName] = "qrc",
    hyperparameters: OmitArgPrefixes[ControlHyperparameters] = NONE_GIVEN,  # pyright: ignore[reportInvalidTypeForm]
    steps: int = 100_000,
    runs: int = 1,
    seed: int = 0,
    hidden: Sizes = None,
    batch: int = DEFAULTS.batch,
    buffer: int = DEFAULTS.buffer,
    optimizer: Annotated[Optimizer | None, arg(help_behavior_hint="")] = None,
    target_every: int = DEFAULTS.target_every,
    ratios: bool = False,
    streaming: bool = False,
    every: Number = None,
    checkpoint: File = None,
    out: File = None,
    save: File = None,
    json: Json = False,
) -> None:
    """Learn to act with neural networks; print the mean return over the last quarter of the steps.

    Args:
        env: an environment that gymnax or Gymnasium knows, such as CartPole-v1 or LunarLander-v3
        algorithm: a name from `gpbe list control`
        hyperparameters: one number each, or several to try; of several hyperparameters all combinations. Numbers are
            written as 0.1, 1/3 or 2^-5, and 2^-12..2^-7 stands for every power in between
        steps: environment steps of each run, each followed by one update
        runs: independent runs
        seed: of everything; run k of every setting starts from the same weights
        hidden: units in each layer; the paper's for its domains, otherwise 64 64; for images, 16 filters and 128 units
        batch: transitions in a mini-batch
        buffer: how many of the last transitions are kept
        optimizer: what makes steps of gradients; adam if left out, sgd for algorithms with traces
        target_every: updates between copies to a target network; 0 for none
        ratios: for TDRC-PG, weigh replayed actions by importance sampling ratios
        streaming: networks and scales with which traces learn well: layer normalization, leaky ReLU, sparse weights,
            normalized observations and rewards
        every: steps between recorded returns; 500 if left out
        checkpoint: keep the state in this file; if it is there, go on from it
        out: write the returns: a table if it ends in .parquet or .csv, a drawing if in .png or .pdf
        save: write the agent of the best run into this file
        json: print JSON
    """
    process.prepare()
    typed = read_typed(hyperparameters)
    find_algorithm(algorithm)
    check_out(out)
    if save is not None:
        check_writable(save.parent)
    learning = {"batch": batch, "buffer": buffer, "optimizer": optimizer, "target_every": target_every, "every": every}
    size = {"steps": steps, "runs": runs, "seed": seed}
    axes = ({"ratios": True} if ratios else {}) | (dict(STREAMING) if streaming else {})
    result = learn(env, algorithm, typed, checkpoint, **size, **learning, hidden=hidden, **axes)
    show(result, size, out, save, json)


def learn(
    env: str, algorithm: str, typed: Mapping[str, list[float]], checkpoint: Path | None, **options: Any
) -> "Training":
    """The training itself, with its progress on the terminal."""
    import gpbe

    single, grid = single_and_grid(typed)
    try:
        return gpbe.train(env, algorithm, checkpoint=checkpoint, progress=True, **options, **single, **grid)
    except KeyboardInterrupt as interruption:
        if checkpoint is None:
            raise
        number = number_of(interruption)
        goes_on = f"goes on from {checkpoint}" if checkpoint.exists() else f"begins anew, without {checkpoint}"
        raise Stopped(f"interrupted; the same command {goes_on}", number) from None


def show(result: "Training", size: Mapping[str, int], out: Path | None, save: Path | None, json: bool) -> None:
    """Write the files that were asked for, and print how good the settings are."""
    from gpbe.experiments.training import returns_table, training_table
    from gpbe.figures import returns

    table = training_table(result)
    saved = None if save is None else save_best(result, table, save)
    if out is not None:
        curves = returns_table(result)
        write_out(curves, out, lambda: returns.draw(curves, f"{result.algorithm} on {result.env}"))
    heading = {"env": result.env, "algorithm": result.algorithm, **size, **result.choices, **held(result)}
    if json:
        rows = [plain(row) for row in table.iter_rows(named=True)]
        print_json(heading | {"settings": rows, "file": out and str(out), "agent": saved})
        return
    from gpbe.cli import pages

    said = (f"{k} {v:g}" if isinstance(v, float) else f"{k} {v:,}" for k, v in list(heading.items())[2:])
    console().print(headed(f"{result.algorithm} on {result.env}", ", ".join(said)))
    console().print(pages.training_page(table, tuple(result.settings)))
    if out:
        console().print(f"learning curves: {out}")
    if saved:
        which = "".join(f", {k} {v:g}" for k, v in saved.items() if k in result.settings)
        console().print(f"agent of run {saved['run']}{which}, the best: {save} (gpbe.load reads it)")


def held(result: "Training") -> dict[str, float]:
    """The hyperparameters that the algorithm has and that were not swept; of epsilon only where it begins."""
    known = [k for k in result.record.hyperparameters if k not in ("epsilon_final", "epsilon_steps")]
    return {k: v for k, v in result.hyperparameters.of(0).items() if k in known and k not in result.settings}


def save_best(result: "Training", table: pl.DataFrame, path: Path) -> dict[str, Any]:
    """Write the agent of the best run of the best setting; which that is."""
    best = table.sort("final", descending=True, nulls_last=True).row(0, named=True)
    run = int(best["best_run"])
    result.agent(run, int(best["setting"]) if result.settings else None).save(path)
    return {"file": str(path), "run": run} | {k: best[k] for k in result.settings}
