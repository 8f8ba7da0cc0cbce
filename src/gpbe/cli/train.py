"""`gpbe train`: learn to act, and show how well, as a table, JSON, a file of curves, a drawing or a saved agent."""

from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from gpbe import workers
from gpbe.cli.predict import Values, check_out
from gpbe.cli.terminal import check_writable, console, numbers, print_json, training_progress
from gpbe.errors import InputError


@dataclass(frozen=True)
class ControlHyperparameters:
    """As typed; what was left out is not passed on, so that an algorithm is asked only for what it has."""

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

    def values(self) -> dict[str, list[float]]:
        return {k: numbers(v, f"--{k.replace('_', '-')}") for k, v in asdict(self).items() if v}


NONE_GIVEN = ControlHyperparameters()


def train_and_show(
    env: str,
    algorithm: str,
    hyperparameters: ControlHyperparameters,
    out: Path | None,
    save: Path | None,
    json: bool,
    **options: Any,
) -> None:
    """Everything that can be wrong is found before the learning starts."""
    values = hyperparameters.values()
    for path in (out, save):
        if path is not None:
            check_writable(path.parent)
    if out is not None:
        check_out(out)
    workers.prepare()

    import gpbe
    from gpbe.algorithms.control import find_algorithm
    from gpbe.experiments.training import returns_table, training_table

    find_algorithm(algorithm)
    several = {k: v for k, v in values.items() if len(v) > 1}
    single: dict[str, Any] = {k: v[0] for k, v in values.items() if len(v) == 1}
    grid: dict[str, Any] = gpbe.grid(**several) if several else {}
    lanes = options["runs"] * (len(next(iter(grid.values()))) if grid else 1)
    try:
        with training_progress(f"{algorithm} on {env}", lanes * options["steps"]) as advance:
            result = gpbe.train(env, algorithm, advance=advance, **options, **single, **grid)
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
        write(returns_table(result), out, f"{algorithm} on {env}")
    heading = {"env": result.env, "algorithm": algorithm} | {
        k: options[k] for k in ("steps", "runs", "seed") if options[k] is not None
    }
    used = {k: v for k, v in result.hyperparameters.of(0).items() if k not in grid}
    known = find_algorithm(algorithm).hyperparameters
    heading |= {k: v for k, v in used.items() if k in known and k not in ("epsilon_final", "epsilon_steps")}
    if json:
        rows = [{k: _plain(v) for k, v in row.items()} for row in table.iter_rows(named=True)]
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


def write(returns: Any, out: Path, title: str) -> None:
    if out.suffix == ".parquet":
        returns.write_parquet(out)
    elif out.suffix == ".csv":
        returns.write_csv(out)
    else:
        from gpbe.figures import returns as drawing
        from gpbe.figures import style

        style.save_as(drawing.draw(returns, title), out)


def _plain(value: Any) -> Any:
    return value if not isinstance(value, float) or isfinite(value) else None
