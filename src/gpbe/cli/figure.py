"""`gpbe figure` and `gpbe report`: drawings of stored results, and the page that tells what they show."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from gpbe.checks import alike
from gpbe.cli.options import FigureName, Into, Json, Packed, Scale
from gpbe.cli.terminal import check_writable, console, print_json
from gpbe.errors import InputError

if TYPE_CHECKING:
    from gpbe.analysis.stored import Stored
    from gpbe.figures import FigureSpec


def figure(
    name: Positional[FigureName],
    scale: Scale = "quick",
    out: Into = Path("out"),
    source: Packed = None,
    json: Json = False,
) -> None:
    """Draw figures of the paper, or of a sweep of your own, from what `gpbe run` has stored: PNG, PDF and tables.

    Args:
        name: a name from `gpbe list figures`, or `all`; or the name of your own sweep, for all of its figures, of one
            of these (such as mine-step-size), or the file that declares it
        scale: which results
        out: the folder to write into, and in which `results` are looked for
        source: draw from packed results in this folder (see `gpbe pack`) instead
        json: print JSON
    """
    from gpbe import experiments
    from gpbe.report import draw_all

    mine = None if name == "all" or name in experiments.FIGURES else find_own(name, out, source)
    stored, specs = papers(name, scale, out, source) if mine is None else mine
    if stored.tables or stored.stages:
        check_writable(out)
    drawn, skipped = draw_all(stored, specs, out)
    if not drawn:
        raise InputError(skipped.get(name, f"no results at the {scale} scale in {out}; first: gpbe run all"))
    rows: list[dict[str, Any]] = [
        {
            "figure": each.name,
            "from": "; ".join(filter(None, map(stored.amounts.get, each.spec.needs))),
            "scale": "as run" if mine is not None else scale if source is None else "as packed",
            "seconds": round(each.seconds, 2),
            "files": [str(path) for path in each.files],
        }
        for each in drawn
    ]
    if json:
        print_json(rows)
    else:
        show(rows, skipped)


def papers(name: str, scale: str, out: Path, source: Path | None) -> "tuple[Stored, Iterable[FigureSpec]]":
    """The results of the paper's experiments, and the figures of them that are asked for."""
    from gpbe import experiments

    if name not in ("all", *experiments.FIGURES) and not alike(name, experiments.FIGURES):
        place = source or out / "results"
        raise InputError(
            f"there is no figure {name!r} (see gpbe list figures), and no sweep of that name in {place}; "
            "first: gpbe run FILE.toml"
        )
    specs = experiments.FIGURES.values() if name == "all" else (experiments.find_figure(name),)
    return experiments.open_results(scale, out) if source is None else experiments.open_packed(source), specs


def show(rows: Sequence[Mapping[str, Any]], skipped: Mapping[str, str]) -> None:
    """Print which figures were drawn into which files, and why others were not."""
    from rich.table import Table

    table = Table("figure", "from", "seconds", "files", box=None, pad_edge=False)
    for row in rows:
        stem = row["files"][0].removesuffix(".png")
        kinds = ",".join(Path(f).suffix.lstrip(".") for f in row["files"])
        table.add_row(row["figure"], row["from"], f"{row['seconds']:.1f}", f"{stem}.{{{kinds}}}")
    console().print(table)
    for each, why in skipped.items():
        console().print(f"{each}: not drawn; {why}")


def find_own(name: str, out: Path, source: Path | None) -> "tuple[Stored, Sequence[FigureSpec]] | None":
    """The results of a sweep of one's own and its figures, or one of them; None if there is no such sweep."""
    from gpbe import experiments, store
    from gpbe.experiments import own

    known = {f"{path.name}": path for path in (out / "results").glob("*/")} if source is None else {}
    known |= {} if source is None else {path.stem: path for path in source.glob("*.parquet")}
    sweeps = sorted((each for each in known if name == each or name.startswith(f"{each}-")), key=len, reverse=True)
    if Path(name).suffix in (".toml", ".py") or name in sweeps:
        found, place = own.find_results(name, out, source)
        return own.open_own(found, place), tuple(own.figures_of(found, store.spec(place)).values())
    for sweep in sweeps:
        if sweep not in experiments.NAMES and (spec := own.figures_of(sweep, store.spec(known[sweep])).get(name)):
            return own.open_own(sweep, known[sweep]), (spec,)
    return None


def report(
    name: Annotated[Positional[str | None], arg(metavar="[NAME]", help_behavior_hint="")] = None,
    scale: Scale = "quick",
    out: Into = Path("out"),
    source: Packed = None,
    json: Json = False,
) -> None:
    """Draw every figure, and write one HTML page with all of them and which claims of the paper the results support.

    Args:
        name: your own sweep, or the file that declares it: a page of its figures, choices and tables instead
        scale: which results
        out: the folder with `results`, into which figures, their tables and report.html are written
        source: judge by packed results in this folder (the evidence), and show what `out` has as a replication
        json: print JSON: where it is, and the claims with their verdicts
    """
    from gpbe import experiments
    from gpbe import report as page

    made = datetime.now(UTC).isoformat(timespec="minutes")
    if name is not None:
        report_own(name, out, source, made, json)
        return
    own = experiments.open_results(scale, out)
    if source is None and not (own.tables or own.stages):
        raise InputError(f"there is nothing to report: no results at the {scale} scale in {out}; first: gpbe run all")
    check_writable(out)
    folders, commands = experiments.folders(scale, out), [f"gpbe run all --scale {scale}"] * bool(own.tables)
    if source is None:
        whole = page.gather(own, out, folders, (*commands, f"gpbe report --scale {scale}"), made)
    else:
        folders = {**experiments.packed_files(source), **folders}
        said = (*commands, f"gpbe report --from {source}")
        mine = own if own.tables or own.stages else None
        whole = page.gather(experiments.open_packed(source), out, folders, said, made, mine)
    path = page.write(out / "report.html", whole)
    if json:
        print_json({"report": str(path), "claims": page.records(whole.claims)})
    else:
        console().print(f"report: {path.resolve()}")


def report_own(name: str, out: Path, source: Path | None, made: str, json: bool) -> None:
    """A page on a sweep of one's own."""
    from gpbe import report as page
    from gpbe.experiments import own

    found, place = own.find_results(name, out, source)
    check_writable(out)
    whole = page.gather_own(found, place, out, (f"gpbe run {found}.toml", f"gpbe report {found}"), made)
    path = page.write(out / f"{found}.html", whole)
    if json:
        print_json({"report": str(path), "figures": [each.name for each in whole.figures]})
    else:
        console().print(f"report: {path.resolve()}")
