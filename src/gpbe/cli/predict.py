"""`gpbe predict`: learn, and show what was learned as a table, JSON, a file of curves or a drawing."""

from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from gpbe.cli.terminal import check_writable, console, numbers, print_json, progress
from gpbe.errors import InputError

Values = Annotated[tuple[str, ...], arg(metavar="NUMBER ...", help_behavior_hint="")]


@dataclass(frozen=True)
class Hyperparameters:
    """As typed; what was left out is not passed on, so that an algorithm is asked only for what it has."""

    step_size: Values = ()
    """step size of w; 0.01 if left out"""
    ratio: Values = ()
    """step size of h over that of w; 1 if left out"""
    lam: Values = ()
    """trace parameter lambda (zeta for AB-Trace); 0 if left out"""
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

    def values(self) -> dict[str, list[float]]:
        """Those that were given, read."""
        return {k: numbers(v, f"--{k.replace('_', '-')}") for k, v in asdict(self).items() if v}


NONE_GIVEN = Hyperparameters()
NET_ONLY = ("net", "basis", "n", "batch", "buffer", "kernel")
"""Options that only values from a network have."""


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
    values = hyperparameters.values()
    if out is not None:
        check_out(out)

    import numpy as np

    import gpbe
    from gpbe.algorithms.linear import find
    from gpbe.algorithms.linear.hyperparameters import defaults_for, names_for
    from gpbe.cli import pages
    from gpbe.experiments.tables import curves_table, settings_table

    with_net = options.get("net") is not None
    if with_net:
        from gpbe.algorithms.value import RANGES, find_value_algorithm
        from gpbe.algorithms.value import names_for as names_for_net

        b = find_value_algorithm(algorithm)
        known, defaults = names_for_net(b), {k: r.default for k, r in RANGES.items()}
        del options["epochs"]
    else:
        only = [k for k in NET_ONLY if options.pop(k) is not None]
        if only:
            raise InputError(f"--{only[0]} is for values from a network; give its layers too, such as --net 32 32")
        a = find(algorithm)
        known, defaults = names_for(a), defaults_for(a)
    options = {k: v for k, v in options.items() if v is not None or k not in NET_ONLY}
    epochs = options.get("epochs", 1)
    several = {k: v for k, v in values.items() if len(v) > 1}
    single: dict[str, Any] = {k: v[0] for k, v in values.items() if len(v) == 1}
    grid: dict[str, Any] = gpbe.grid(**several) if several else {}
    count = len(next(iter(grid.values()))) if grid else 1
    with progress(f"{algorithm} on {name}", count, "settings") as advance, np.errstate(over="ignore"):
        result = gpbe.predict(problem, algorithm, average=True, advance=advance, **single, **grid, **options)
        settings = settings_table(result)
    if out is not None:
        _write(curves_table(result), out, f"{algorithm} on {name}")
    fixed = {k: single.get(k, defaults[k]) for k in known if k not in grid}
    heading = {
        "problem": name,
        "algorithm": algorithm,
        "steps": int(result.steps[-1]) // epochs,
        **({"epochs": epochs} if not with_net and find(algorithm).finite_sum else {}),
        **({"net": " ".join(map(str, options["net"]))} if with_net else {}),
        "runs": int(result.diverged_at.shape[-1]),
        "seed": options["seed"],
        **{k: v for k, v in fixed.items() if k not in ("power", "delay") or fixed["power"]},
    }
    if json:
        rows = [{k: _plain(v) for k, v in row.items()} for row in settings.iter_rows(named=True)]
        print_json({k: _plain(v) for k, v in heading.items()} | {"settings": rows, "file": out and str(out)})
        return
    said = (f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in list(heading.items())[2:])
    console().print(f"[bold]{algorithm} on {name}[/bold]: {', '.join(said)}")
    console().print(pages.prediction_table(settings))
    for line in [*pages.edges(settings), *([f"learning curves: {out}"] if out else [])]:
        console().print(line)


def check_out(out: Path) -> None:
    if out.suffix not in (".parquet", ".csv", ".png", ".pdf"):
        raise InputError(f"--out {out} should end in .parquet or .csv for a table, or in .png or .pdf for a drawing")
    check_writable(out.parent)


def _write(curves: Any, out: Path, title: str) -> None:
    if out.suffix == ".parquet":
        curves.write_parquet(out)
    elif out.suffix == ".csv":
        curves.write_csv(out)
    else:
        from gpbe.figures import learning, style

        style.save_as(learning.draw(curves, title), out)


def _plain(value: Any) -> Any:
    """JSON has no infinity; what has diverged is null there."""
    return value if not isinstance(value, float) or isfinite(value) else None
