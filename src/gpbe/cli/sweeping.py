"""What `gpbe predict` and `gpbe train` share: hyperparameters as typed, and where results are written."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import isfinite, prod
from pathlib import Path
from typing import Any

from gpbe.cli.terminal import check_file, numbers
from gpbe.errors import InputError
from gpbe.files.atomic import write_table

MOST_SETTINGS = 10**6


def read_typed(hyperparameters: Any) -> dict[str, list[float]]:
    """Those that were given; what was left out is not passed on, so that an algorithm is asked only for what it has."""
    return {k: numbers(v, f"--{k.replace('_', '-')}") for k, v in asdict(hyperparameters).items() if v}


def single_and_grid(values: Mapping[str, list[float]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Hyperparameters with one value, and every combination of those with several."""
    import gpbe

    several = {k: v for k, v in values.items() if len(v) > 1}
    if (count := prod(map(len, several.values()))) > MOST_SETTINGS:
        raise InputError(f"these are {count:,} combinations; there should be {MOST_SETTINGS:,} at most")
    return {k: v[0] for k, v in values.items() if len(v) == 1}, gpbe.grid(**several) if several else {}


def check_out(out: Path | None) -> None:
    """Complain before anything is learned."""
    if out is None:
        return
    if out.suffix not in (".parquet", ".csv", ".png", ".pdf"):
        raise InputError(f"--out {out} should end in .parquet or .csv for a table, or in .png or .pdf for a drawing")
    check_file(out)


def write_out(table: Any, out: Path, draw: Callable[[], Any]) -> None:
    """A table, or its drawing, as the file's ending says."""
    if out.suffix in (".parquet", ".csv"):
        write_table(out, table)
    else:
        from gpbe.figures import style

        style.save_as(draw(), out)


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no infinity; what has diverged is null there."""
    return {k: None if isinstance(v, float) and not isfinite(v) else v for k, v in row.items()}
