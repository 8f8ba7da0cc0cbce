"""Numbers, times and lists as people write them."""

from collections.abc import Iterable, Sequence
from math import frexp

import polars as pl


def power_of_two(value: float) -> int | None:
    """The exponent of a small power of 2, which is better written as one; None for other numbers.

    >>> power_of_two(2**-9), power_of_two(0.5), power_of_two(0.3)
    (-9, None, None)
    """
    mantissa, exponent = frexp(value)
    return exponent - 1 if mantissa == 0.5 and value < 0.5 else None


def as_text(value: float) -> str:
    """A number in plain text, small powers of 2 as powers.

    >>> as_text(2**-10), as_text(0.5), as_text(1e-4)
    ('2^-10', '0.5', '0.0001')
    """
    exponent = power_of_two(value)
    return f"{value:g}" if exponent is None else f"2^{exponent}"


def as_math(value: float) -> str:
    """The same as mathematics that matplotlib sets.

    >>> as_math(2**-10), as_math(0.3)
    ('$2^{-10}$', '0.3')
    """
    exponent = power_of_two(value)
    return f"{value:g}" if exponent is None else f"$2^{{{exponent}}}$"


def as_written(values: Sequence[float]) -> list[str]:
    """The numbers of a column: as powers of 2 if all of them are and some are small, otherwise as decimals.

    >>> as_written([0.5, 2**-9]), as_written([0.5, 0.25]), as_written([0.5, 0.001])
    (['2^-1', '2^-9'], ['0.5', '0.25'], ['0.5', '0.001'])
    """
    if len(values) and min(values) < 0.1 and all(frexp(v)[0] == 0.5 for v in values):
        return [f"2^{frexp(v)[1] - 1}" for v in values]
    return [f"{v:g}" for v in values]


def listed(words: Iterable[str]) -> str:
    """Words in a row.

    >>> listed(["QRC"]), listed(["QRC", "GQ", "SBEED"])
    ('QRC', 'QRC, GQ and SBEED')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, what: str) -> str:
    """How many there are of something.

    >>> counted(1, "feature"), counted(1200, "state")
    ('1 feature', '1,200 states')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def by_setting(table: pl.DataFrame, names: Sequence[str]) -> dict[str, dict[int, str]]:
    """What to write for each hyperparameter and setting; the table has a column for it and one `setting`."""
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
