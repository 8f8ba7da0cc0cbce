"""Numbers as people write them."""

from collections.abc import Sequence
from math import isfinite, log2, nan

import polars as pl


def as_written(values: list[float]) -> list[str]:
    """Small powers of 2 as powers, anything else as decimals; the same for a whole column.

    >>> as_written([0.5, 2**-9]), as_written([0.5, 0.25]), as_written([0.5, 0.001])
    (['2^-1', '2^-9'], ['0.5', '0.25'], ['0.5', '0.001'])
    """
    powers = [log2(v) if v > 0 else nan for v in values]
    if values and min(values) < 0.1 and all(isfinite(p) and p == round(p) for p in powers):
        return [f"2^{p:.0f}" for p in powers]
    return [f"{v:g}" for v in values]


def by_setting(table: pl.DataFrame, names: Sequence[str]) -> dict[str, dict[int, str]]:
    """For each hyperparameter, what to write for each setting; the table has a column for it and one `setting`."""
    rows = table.select("setting", *names).unique(maintain_order=True)
    return {name: dict(zip(rows["setting"], as_written(rows[name].to_list()), strict=True)) for name in names}


def duration(seconds: float | int) -> str:
    """A time as people say it.

    >>> duration(4.25), duration(250), duration(9000), duration(400000)
    ('4 s', '4 min 10 s', '2 h 30 min', '4 d 15 h')
    """
    units = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
    left, said = round(seconds), []
    for unit, size in units:
        if left >= size or (unit == "s" and not said):
            said.append(f"{left // size} {unit}")
            left %= size
    return " ".join(said[:2])
