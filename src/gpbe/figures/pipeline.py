"""A figure is one pipeline: what it needs -> table -> drawing -> notes. It needs no matplotlib until it draws."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from gpbe.analysis.stored import Stored
from gpbe.errors import InputError
from gpbe.lazy import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Notes(NamedTuple):
    """What there is to say about a figure."""

    subtitle: tuple[str, ...] = ()
    """Lines below its title."""
    sentences: tuple[str, ...] = ()
    """Below its caption: which settings were chosen, what is missing."""


@dataclass(frozen=True)
class FigureSpec:
    """How a figure comes from stored results."""

    name: str
    describe: str
    needs: tuple[str, ...]
    """Experiments whose results it shows; it is drawn as soon as one of them has some that its table can use."""
    draw: str
    """`package.module:function`, from the table to the drawing."""
    table: Callable[[Stored], pl.DataFrame]
    """All that the drawing shows."""
    notes: Callable[[Stored], Notes] = lambda stored: Notes()
    group: str = "Fixed points and prediction"
    """Under which heading it stands in a report."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure, the table behind it, and what there is to say about it."""

    figure: "Figure"
    table: pl.DataFrame
    notes: tuple[str, ...] = ()


def draw(spec: FigureSpec, stored: Stored) -> Drawing:
    """Draw a figure from stored results.

    >>> from gpbe import experiments
    >>> stored = experiments.open_packed(Path("results"))  # in a clone of the repository
    >>> draw(experiments.find_figure("tde-bias"), stored).table.columns
    ['objective', 'state', 'value', 'true_value', 'td_error', 'bellman_error', 'variance', 'distance']
    """
    if not set(spec.needs) & {*stored.tables, *stored.stages}:
        first = spec.needs[-1]
        raise InputError(stored.lacking.get(first, f"there are no results of {first}; first: gpbe run {first}"))
    needed = stored.only(spec.needs)
    with _drawable(spec.name):
        table, notes = spec.table(needed), spec.notes(needed)
        figure = named(spec.draw)(table)
        if notes.subtitle:
            from gpbe.figures import style

            style.add_subtitle(figure, notes.subtitle)
    return Drawing(figure, table, notes.sentences)


@contextmanager
def _drawable(name: str) -> Iterator[None]:
    """Refuse results in which a figure does not find what it draws, such as those of another version of gpbe."""
    try:
        yield
    except InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        said = f"{type(error).__name__}: {error}"
        raise InputError(
            f"{name} cannot be drawn from these results ({said}); were they computed otherwise?"
        ) from error


def write(drawing: Drawing, name: str, out: Path) -> list[Path]:
    """Write a drawing (PNG and PDF) and its table (Parquet and CSV) into `out`. Returns what was written.

    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> drawing = Drawing(Figure(), pl.DataFrame({"x": [1.0]}))
    >>> [path.name for path in write(drawing, "mine", Path(tempfile.mkdtemp()))]
    ['mine.png', 'mine.pdf', 'mine.parquet', 'mine.csv']
    """
    from gpbe.figures import style

    with _drawable(name):
        return style.save_with_table(drawing.figure, drawing.table, out / name)


def make(spec: FigureSpec, stored: Stored, out: Path) -> list[Path]:
    """Draw a figure and write it into `out`. Returns what was written.

    >>> import tempfile
    >>> from gpbe import experiments
    >>> stored = experiments.open_packed(Path("results"))  # in a clone of the repository
    >>> [path.name for path in make(experiments.find_figure("tde-bias"), stored, Path(tempfile.mkdtemp()))]
    ['tde-bias.png', 'tde-bias.pdf', 'tde-bias.parquet', 'tde-bias.csv']
    """
    return write(draw(spec, stored), spec.name, out)
