"""`gpbe train`: learn to act, and show how well, as a table, JSON, a file of curves, a drawing or a saved agent."""

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
from tyro.conf import OmitArgPrefixes, Positional, arg

from gpbe import process
from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.table import ALGORITHMS, find_algorithm
from gpbe.cli.options import AlgorithmNames, EnvName, File, Json, Number, Sizes, choices, options_of
from gpbe.cli.sweeping import check_out, plain, read_typed, single_and_grid, write_out
from gpbe.cli.terminal import Stopped, check_file, console, environment_errors, headed, print_json
from gpbe.cli.together import alike, labels, listed, stacked, told
from gpbe.cli.watching import NOTHING, Watching, callbacks_of, check_watching, seen
from gpbe.errors import InputError
from gpbe.interrupts import number_of
from gpbe.learn.control.learning import DEFAULTS, STREAMING, Optimizer
from gpbe.wording import as_text

if TYPE_CHECKING:
    from gpbe.callbacks import Evaluate
    from gpbe.learn.control.trained import TrainedAgent
    from gpbe.learn.train import Training

SHAPING = {name: h for record in ALGORITHMS.values() for name, h in record.shaping.items()}
ControlHyperparameters = options_of(Hypers._field_defaults | SHAPING, "ControlHyperparameters")
NONE_GIVEN = ControlHyperparameters()


def train(
    env: Positional[EnvName],
    algorithm: Positional[AlgorithmNames] = ("qrc",),
    hyperparameters: OmitArgPrefixes[ControlHyperparameters] = NONE_GIVEN,  # pyright: ignore[reportInvalidTypeForm]
    steps: int = 100_000,
    runs: int = 1,
    seed: int = 0,
    hidden: Sizes = None,
    batch: int = DEFAULTS.batch,
    buffer: int = DEFAULTS.buffer,
    optimizer: Annotated[Optimizer | None, arg(metavar=choices(Optimizer), help_behavior_hint="")] = None,
    target_every: int = DEFAULTS.target_every,
    ratios: bool = False,
    streaming: bool = False,
    every: Number = None,
    checkpoint: File = None,
    watching: OmitArgPrefixes[Watching] = NOTHING,
    out: File = None,
    save: File = None,
    json: Json = False,
) -> None:
    """Learn to act with neural networks; print the mean return over the last quarter of the steps.

    Args:
        env: an environment that gymnax or Gymnasium knows, such as CartPole-v1 or LunarLander-v3
        algorithm: a name from `gpbe list control`; several to compare them
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
        watching: files that tell of every 500 steps (or --every), greedy episodes meanwhile, and stopping early; of
            several algorithms each has a file or folder of its own name
        out: write the returns: a table if it ends in .parquet or .csv, a drawing if in .png or .pdf
        save: write the agent of the best run into this file; with --evaluate-every, the one that played best meanwhile
        json: print JSON
    """
    process.prepare()
    each = told(algorithm, read_typed(hyperparameters), hyperparameters_of)
    for name in algorithm:
        find_algorithm(name)
    if checkpoint is not None and len(each) > 1:
        raise InputError("--checkpoint is for one algorithm; train them one by one, each with a file of its own")
    check_out(out)
    check_watching(watching, algorithm)
    if save is not None:
        check_file(save)
    learning = {"batch": batch, "buffer": buffer, "optimizer": optimizer, "target_every": target_every, "every": every}
    size = {"steps": steps, "runs": runs, "seed": seed}
    axes = ({"ratios": True} if ratios else {}) | (dict(STREAMING) if streaming else {})
    options = {**size, **learning, "hidden": hidden, "measure": watching.measure, **axes}
    goes_on = checkpoint is not None and checkpoint.exists()
    watchers = {name: callbacks_of(watching, name, algorithm, goes_on) for name in algorithm}
    results = [learn(env, name, typed, checkpoint, callbacks=watchers[name][0], **options) for name, typed in each]
    show(results, size, {name: greedy for name, (_, greedy) in watchers.items()}, out, save, json)


def hyperparameters_of(algorithm: str) -> tuple[str, ...]:
    """What an algorithm can be told, the sizes of its networks included."""
    record = find_algorithm(algorithm)
    return (*record.hyperparameters, *record.shaping)


def learn(
    env: str, algorithm: str, typed: Mapping[str, list[float]], checkpoint: Path | None, **options: Any
) -> "Training":
    """The training itself, with its progress on the terminal."""
    import gpbe

    single, grid = single_and_grid(typed)
    try:
        with environment_errors(env):
            return gpbe.train(env, algorithm, checkpoint=checkpoint, progress=True, **options, **single, **grid)
    except KeyboardInterrupt as interruption:
        if checkpoint is None:
            raise
        number = number_of(interruption)
        goes_on = f"goes on from {checkpoint}" if checkpoint.exists() else f"begins anew, without {checkpoint}"
        raise Stopped(f"interrupted; the same command {goes_on}", number) from None


def show(
    results: Sequence["Training"],
    size: Mapping[str, int],
    greedy: Mapping[str, "Evaluate | None"],
    out: Path | None,
    save: Path | None,
    json: bool,
) -> None:
    """Write the files that were asked for, and print how good the settings are."""
    from gpbe.experiments.training import training_table

    names, several = [result.algorithm for result in results], len(results) > 1
    tables = {result.algorithm: training_table(result) for result in results}
    table = stacked(tables, "mean") if several else tables[names[0]]
    saved = None if save is None else save_best(results, tables, greedy, save)
    title = f"{listed(names)} on {results[0].env}"
    if out is not None:
        by_name = {result.algorithm: result.table() for result in results}
        curves = stacked(by_name, "run") if several else by_name[names[0]]
        write_out(curves, out, lambda: draw_returns(curves, table, title, several))
    headings = [{"env": r.env, "algorithm": r.algorithm, **size, **r.choices, **held(r)} for r in results]
    heading = {"env": results[0].env, **alike(headings)} if several else headings[0]
    if json:
        rows = [plain(row) for row in table.iter_rows(named=True)]
        more: dict[str, Any] = {"algorithms": headings} if several else {}
        if played := [{"algorithm": name, **plain(row)} for name, each in greedy.items() if each for row in each.rows]:
            more["evaluations"] = played
        print_json(heading | more | {"settings": rows, "file": out and str(out), "agent": saved})
        return
    from gpbe.cli import pages

    words = list(heading.items())[1 if several else 2 :]
    said = (_named(k, v) for k, v in words)
    console().print(headed(title, ", ".join(said)))
    swept = tuple(table.columns[1 : table.columns.index("mean")])
    console().print(pages.training_page(table, swept))
    for result in results:
        for line in seen(result, greedy[result.algorithm], best_of(tables[result.algorithm])["setting"]):
            console().print(f"{result.algorithm}: {line}" if several else line)
    if out:
        console().print(f"learning curves: {out}")
    if saved:
        console().print(f"{in_words(saved)}: {save} (gpbe.load reads it)")


def draw_returns(curves: pl.DataFrame, table: pl.DataFrame, title: str, several: bool) -> Any:
    """All settings of one algorithm, or of several algorithms the best setting of each."""
    from gpbe.figures import returns

    if not several:
        return returns.draw(curves, title)
    best = table.sort("final", descending=True, nulls_last=True).unique("algorithm", keep="first", maintain_order=True)
    shown = curves.filter(pl.col("setting").is_in(best["setting"].implode()))
    return returns.draw(shown, title, labels(shown, "run"))


def held(result: "Training") -> dict[str, float]:
    """The hyperparameters that the algorithm has and that were not swept; of epsilon only where it begins."""
    known = [k for k in result.record.hyperparameters if k not in ("epsilon_final", "epsilon_steps")]
    return {k: v for k, v in result.hyperparameters.of(0).items() if k in known and k not in result.settings}


def best_of(table: pl.DataFrame) -> dict[str, Any]:
    """The row of the setting with the highest return over the last quarter."""
    return table.sort("final", descending=True, nulls_last=True).row(0, named=True)


def save_best(
    results: Sequence["Training"],
    tables: Mapping[str, pl.DataFrame],
    greedy: Mapping[str, "Evaluate | None"],
    path: Path,
) -> dict[str, Any]:
    """Write the agent that played best; or, if none played, that of the best run of the best setting. Which that is."""
    if played := [each.best for each in greedy.values() if each is not None and each.best is not None]:
        agent, row = max(played, key=lambda best: best.row["mean"])
        about = {"run": row["run"], "steps": row["steps"], "evaluation": row["mean"]}
        swept = next(result.settings for result in results if result.algorithm == agent.algorithm)
        settings = {name: float(values[row["setting"]]) for name, values in swept.items()}
    else:
        agent, about, settings = best_at_the_end(results, tables)
    agent.save(path)
    which = {"algorithm": agent.algorithm} if len(results) > 1 else {}
    return {"file": str(path)} | which | about | settings


def in_words(saved: Mapping[str, Any]) -> str:
    """Which agent was saved.

    >>> in_words({"file": "a.npz", "algorithm": "qrc", "run": 3, "step_size": 2**-8, "tau": 0.1})
    'agent of qrc, run 3, step_size 2^-8, tau 0.1, the best'
    >>> in_words({"file": "a.npz", "run": 3, "steps": 2000, "evaluation": 475.0})
    'agent of run 3, which played best after 2,000 steps (475)'
    """
    played = ("steps", "evaluation")
    names = [v if k == "algorithm" else _named(k, v) for k, v in saved.items() if k not in ("file", *played)]
    steps, evaluation = (saved.get(name) for name in played)
    best = "the best" if steps is None else f"which played best after {steps:,} steps ({evaluation:.4g})"
    return f"agent of {', '.join(names)}, {best}"


def best_at_the_end(
    results: Sequence["Training"], tables: Mapping[str, pl.DataFrame]
) -> tuple["TrainedAgent", dict[str, Any], dict[str, Any]]:
    """The agent of the best run of the best setting; which run and setting that is."""
    top = {name: best_of(table) for name, table in tables.items()}
    result = max(
        results, key=lambda each: -inf if top[each.algorithm]["final"] is None else top[each.algorithm]["final"]
    )
    best = top[result.algorithm]
    run = int(best["best_run"])
    agent = result.agent(run, int(best["setting"]) if result.settings else None)
    return agent, {"run": run}, {k: best[k] for k in result.settings}


def _named(name: str, number: float) -> str:
    return f"{name} {as_text(number) if isinstance(number, float) else f'{number:,}'}"
