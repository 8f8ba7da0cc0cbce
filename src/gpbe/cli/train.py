"""`gpbe train`: learn to act, and show how well, as a table, JSON, a file of curves, a drawing or a saved agent."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tyro.conf import OmitArgPrefixes, Positional

from gpbe import process
from gpbe.cli.options import AlgorithmName, EnvName, File, Json, Number, Real, Sizes, Values
from gpbe.cli.sweeping import check_out, plain, read_typed, single_and_grid, write_out
from gpbe.cli.terminal import check_writable, console, print_json, training_progress
from gpbe.errors import InputError


@dataclass(frozen=True)
class ControlHyperparameters:
    """As typed."""

    step_size: Values = ()
    """of the optimizer; 2^-10 if left out"""
    beta: Values = ()
    """penalty on the weights of h; 1 if left out"""
    tau: Values = ()
    """of mellowmax, or of the entropy of SBEED's policy; 0, the hard max, if left out"""
    eta: Values = ()
    """for SBEED: 0 is the residual gradient, 1 (if left out) the gradient correction"""
    nu: Values = ()
    """step size of a policy over that of its critic; 1 if left out"""
    epsilon: Values = ()
    """probability of a random action, at the start; 0.1 if left out"""
    epsilon_final: Values = ()
    """and after epsilon-steps; the same if left out"""
    epsilon_steps: Values = ()
    """steps over which epsilon changes along a line"""
    gamma: Values = ()
    """discount; 0.99 if left out"""


NONE_GIVEN = ControlHyperparameters()


def train(
    env: Positional[EnvName],
    algorithm: Positional[AlgorithmName] = "qrc",
    hyperparameters: OmitArgPrefixes[ControlHyperparameters] = NONE_GIVEN,
    steps: int = 100_000,
    runs: int = 1,
    seed: int = 0,
    hidden: Sizes = None,
    batch: int = 32,
    buffer: int = 4000,
    optimizer: Literal["adam", "rmsprop", "sgd"] = "adam",
    target_every: int = 0,
    width: Real = None,
    ratios: bool = False,
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
        hidden: units in each layer; the paper's for its domains, otherwise 64 64
        batch: transitions in a mini-batch
        buffer: how many of the last transitions are kept
        optimizer: what makes steps of gradients
        target_every: updates between copies to a target network; 0 for none
        width: for QRC-Sep, of the layers that make h over those that make q; 1 if left out
        ratios: for TDRC-PG, weigh replayed actions by importance sampling ratios
        every: steps between recorded returns; 500 if left out
        checkpoint: keep the state in this file; if it is there, go on from it
        out: write the returns: a table if it ends in .parquet or .csv, a drawing if in .png or .pdf
        save: write the agent of the best run into this file
        json: print JSON
    """
    train_and_show(
        env,
        algorithm,
        hyperparameters,
        out,
        save,
        json,
        steps=steps,
        runs=runs,
        seed=seed,
        hidden=hidden,
        batch=batch,
        buffer=buffer,
        optimizer=optimizer,
        target_every=target_every,
        every=every,
        checkpoint=checkpoint,
        axes=({} if width is None else {"width": width}) | ({"ratios": True} if ratios else {}),
    )


def train_and_show(
    env: str,
    algorithm: str,
    hyperparameters: ControlHyperparameters,
    out: Path | None,
    save: Path | None,
    json: bool,
    axes: dict[str, Any],
    **options: Any,
) -> None:
    """Everything that can be wrong is found before the learning starts."""
    single, grid = single_and_grid(read_typed(hyperparameters))
    check_out(out)
    if save is not None:
        check_writable(save.parent)
    process.prepare()

    import gpbe
    from gpbe.algorithms.control import find_algorithm
    from gpbe.experiments.training import returns_table, training_table
    from gpbe.figures import returns

    find_algorithm(algorithm)
    lanes = options["runs"] * (len(next(iter(grid.values()))) if grid else 1)
    try:
        with training_progress(f"{algorithm} on {env}", lanes * options["steps"]) as advance:
            result = gpbe.train(env, algorithm, advance=advance, **options, **axes, **single, **grid)
    except KeyboardInterrupt:
        where = options["checkpoint"]
        if where is None:
            raise
        raise InputError(f"interrupted; the same command goes on from {where}") from None
    table = training_table(result)
    best = table.sort("final", descending=True, nulls_last=True).row(0, named=True)
    saved = None
    if save is not None:
        run = int(best["best_run"])
        result.agent(run, int(best["setting"]) if grid else None).save(save)
        saved = {"file": str(save), "run": run} | {k: best[k] for k in grid}
    if out is not None:
        curves = returns_table(result)
        write_out(curves, out, lambda: returns.draw(curves, f"{algorithm} on {env}"))
    heading = {"env": result.env, "algorithm": algorithm} | {
        k: options[k] for k in ("steps", "runs", "seed") if options[k] is not None
    }
    heading |= axes
    used = {k: v for k, v in result.hyperparameters.of(0).items() if k not in grid}
    known = find_algorithm(algorithm).hyperparameters
    heading |= {k: v for k, v in used.items() if k in known and k not in ("epsilon_final", "epsilon_steps")}
    if json:
        rows = [plain(row) for row in table.iter_rows(named=True)]
        print_json(heading | {"settings": rows, "file": out and str(out), "agent": saved})
        return
    from gpbe.cli import pages

    said = (f"{k} {v:g}" if isinstance(v, float) else f"{k} {v:,}" for k, v in list(heading.items())[2:])
    console().print(f"[bold]{algorithm} on {result.env}[/bold]: {', '.join(said)}")
    console().print(pages.training_page(table, tuple(grid)))
    if out:
        console().print(f"learning curves: {out}")
    if saved:
        which = "".join(f", {k} {v:g}" for k, v in saved.items() if k in grid)
        console().print(f"agent of run {saved['run']}{which}, the best: {save} (gpbe.load reads it)")
