"""The command line: `gpbe list`, `gpbe figure`, `gpbe diagnose`."""

import contextlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional, arg

from gpbe.errors import InputError

What = Literal["all", "problems", "figures", "objectives", "weightings", "bounds"]
Json = Annotated[bool, arg(help="print JSON for a program instead of text for a person")]


def list_(what: Positional[What] = "all", json: Json = False) -> None:
    """Show what there is: problems, figures, objectives, weightings, bounds.

    Args:
        what: which kind to show
        json: print JSON
    """
    from gpbe.catalogue import catalogue

    kinds = {k: v for k, v in catalogue().items() if what in ("all", k)}
    if json:
        _print_json(kinds)
        return
    from rich.table import Table

    for kind, entries in kinds.items():
        table = Table(box=None, title=kind, title_justify="left", title_style="bold", show_header=False, pad_edge=False)
        table.add_column(style="cyan", no_wrap=True)
        for name, line in entries.items():
            table.add_row(name, line)
        _console().print(table, "")


def figure(
    name: Positional[str],
    scale: Literal["smoke", "quick", "paper"] = "quick",
    out: Path = Path("out"),
    json: Json = False,
) -> None:
    """Compute and draw a figure of the paper, or all of them; writes PNG, PDF and the table behind it.

    Args:
        name: a name from `gpbe list figures`, or `all`
        scale: smoke takes seconds, quick a minute or so on two cores, paper is as large as in the paper
        out: the folder to write into
        json: print JSON
    """
    from gpbe import figures

    names = list(figures.FIGURES) if name == "all" else [name]
    for each in names:
        figures.find(each)
    _check_writable(out)
    written = []
    for each in names:
        started = time.perf_counter()
        with _progress(each, figures.FIGURES[each].work[scale], figures.FIGURES[each].unit) as advance:
            paths = figures.make(each, scale, out, advance)
        seconds = time.perf_counter() - started
        written.append({"figure": each, "scale": scale, "seconds": round(seconds, 2), "files": [str(p) for p in paths]})
    if json:
        _print_json(written)
        return
    from rich.table import Table

    table = Table("figure", "size", "seconds", "files", box=None, pad_edge=False)
    for row in written:
        spec = figures.FIGURES[row["figure"]]
        size = f"{spec.work[scale]:,} {spec.unit}"
        stem = row["files"][0].removesuffix(".png")
        kinds = ",".join(Path(f).suffix.lstrip(".") for f in row["files"])
        table.add_row(row["figure"], size, f"{row['seconds']:.1f}", f"{stem}.{{{kinds}}}")
    _console().print(table)


def diagnose(
    problem: Positional[str],
    lam: float = 0.0,
    index: int | None = None,
    json: Json = False,
) -> None:
    """Tell what TD and its relatives do on a problem: convergence, solutions, errors, bounds, and what to use.

    Args:
        problem: a name from `gpbe list problems`, or a .toml or .npz file with a problem of your own
        lam: trace parameter lambda, in [0, 1]
        index: which problem of a batch (`four-rooms` has eight)
        json: print JSON
    """
    from gpbe import exact, mdp

    is_file = Path(problem).suffix or os.sep in problem
    found = mdp.load(problem) if is_file else mdp.problem(problem)
    if index is not None:
        found = found[index]
    elif found.batch_shape:
        raise InputError(f"{problem} is a batch of {found.batch_shape[0]} problems; pick one with --index 0 and so on")
    diagnosis = exact.diagnose(found, lam)
    if json:
        _print_json(diagnosis.as_dict())
    else:
        _console().print(diagnosis)


COMMANDS: dict[str, Callable[..., None]] = {"list": list_, "figure": figure, "diagnose": diagnose}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Errors that a user can make end in one line on standard error and exit code 2."""
    arguments = sys.argv[1:] if arguments is None else arguments
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            command = tyro.extras.subcommand_cli_from_dict(
                {name: _later(run) for name, run in COMMANDS.items()},
                prog="gpbe",
                description="Off-policy value estimation with the generalized projected Bellman error.",
                args=arguments or ["--help"],
            )
    except SystemExit as stop:
        if stop.code not in (0, None):
            _fail(_one_line(complaint.getvalue()))
        raise
    try:
        command()
    except InputError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        print("gpbe: interrupted; files written so far are whole", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader (head, say) has gone: not an error


def _later(run: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """The same command line as `run`, but parsing only; so that errors of parsing and of running stay apart."""
    import functools

    @functools.wraps(run)
    def parsed(*args, **kwargs):
        return functools.partial(run, *args, **kwargs)

    parsed.__annotations__ = {**run.__annotations__, "return": Callable[[], None]}
    return parsed


def _fail(message: str) -> None:
    print(f"gpbe: {message}", file=sys.stderr)
    sys.exit(2)


def _one_line(complaint: str) -> str:
    """What the parser says in a box, as one line."""
    words = re.sub(r"[─-╿]", " ", complaint)
    return re.sub(r"\s+", " ", words).strip() or "the arguments could not be read; see gpbe --help"


def _console():
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2, allow_nan=False))


@contextlib.contextmanager
def _progress(name: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """A bar with rate and time left, on a terminal; nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} " + unit),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    started = time.perf_counter()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(name, total=total, rate="")
        done = 0

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            bar.update(task, advance=amount, rate=f"{done / (time.perf_counter() - started):,.0f}/s")

        yield advance


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}; name another folder with --out") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write into {folder}: permission denied; name another folder with --out")
