"""The page that an evaluation prints as."""

import io
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from gpbe.evaluation.result import Evaluation
    from gpbe.evaluation.survey import Survey

WHOSE = {
    "start": "where episodes begin",
    "log": "over the log's states",
    "given states": "in the given states",
}
SHOWN = ((25, True), (25, False), (17, False), (0, False))
"""Characters of the drawing of an interval, and whether words say what each is: the first that there is room for."""


def as_text(evaluation: "Evaluation", width: int = 116) -> str:
    """The page as plain text."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False).print(as_page(evaluation))
    return out.getvalue().rstrip()


def as_page(evaluation: "Evaluation") -> Group:
    """The page as Rich prints it."""
    e, d = evaluation, evaluation.diagnostics
    low, high = e.interval
    percent = f"{100 * e.level:g} %"
    answer = Text.assemble(
        ("The target policy's value ", "bold"),
        f"{WHOSE[e.at]}: ",
        (f"{e.value:.5g}", "bold cyan"),
        f", with {percent} between {low:.5g} and {high:.5g}\n",
        ("Recommended: ", "bold"),
        (e.recommended, "bold cyan"),
        f"\n{e.reason[0].upper()}{e.reason[1:]}.",
    )
    warnings = [Text(f"{w[0].upper()}{w[1:]}.", style="yellow") for w in d.warnings]
    return Group(
        Rule(Text(f"{d.survey.rows:,} transitions, {_episodes(d.survey)}, {d.survey.features} features", style="bold")),
        *_block(None, answer),
        *(_block("Mind", *warnings) if warnings else []),
        *_block("Estimates", _estimates(e)),
        *_block("What the log holds", _log(e)),
    )


def _block(title: str | None, *content: RenderableType) -> list[RenderableType]:
    heading = [Text(f"\n{title}", style="bold")] if title else [Text()]
    return [*heading, *(Padding(c, (0, 0, 0, 2)) for c in content)]


def _episodes(survey: "Survey") -> str:
    if not survey.ended:
        return "no episode ends"
    mean = survey.rows / survey.episodes
    return f"{survey.episodes:,} episodes of {mean:.3g} on average, {survey.horizon:,} at most"


def _estimates(e: "Evaluation") -> Group:
    methods = sorted({x.method for x in e.estimates.values()})
    unit = "episodes" if e.diagnostics.block is None else f"blocks of {e.diagnostics.block:,} rows"
    notes = [Text(f"Intervals: {' and '.join(methods)}, from {e.diagnostics.units:,} groups of {unit}.")]
    notes += [Text(f"Left out: {name} {why}.") for name, why in e.left_out.items()]
    return Group(_Widest([_table(e, *shown) for shown in SHOWN]), *notes)


class _Widest:
    """The first of several tables that the terminal has room for: numbers are never cut."""

    def __init__(self, tables: list[Table]):
        self.tables = tables

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        *wider, narrow = self.tables
        yield next((t for t in wider if t.__rich_measure__(console, options).maximum <= options.max_width), narrow)


def _table(e: "Evaluation", drawing: int, words: bool) -> Table:
    """The estimates as numbers; as a drawing, and in words what they are, where there is room."""
    from gpbe.evaluation.asked import ESTIMATORS

    finite = [x for x in e.estimates.values() if x.finite]
    ends = [end for x in finite for end in x.interval]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("estimator", no_wrap=True)
    for column in ("value", "error", "low", "high"):
        table.add_column(column, justify="right", no_wrap=True)
    if drawing:
        table.add_column(f"{min(ends):.4g} to {max(ends):.4g}" if ends else "", no_wrap=True, min_width=drawing)
    if words:
        table.add_column("what it is", no_wrap=True)
    for x in e.estimates.values():
        row = [x.name, *(f"{v:.4g}" for v in (x.value, x.error, *x.interval))]
        if drawing:
            row.append(_drawn(x.value, *x.interval, min(ends), max(ends), drawing) if x.finite else "")
        if words:
            row.append(ESTIMATORS.get(x.name, "learned by gpbe.predict"))
        table.add_row(*row, style="bold" if x.name == e.recommended else None)
    return table


def _drawn(value: float, low: float, high: float, left: float, right: float, width: int) -> str:
    """An interval as a line, with its estimate on it."""
    scale = (width - 1) / (right - left) if right > left else 0.0
    a, b, v = (min(width - 1, max(0, round((x - left) * scale))) for x in (low, high, value))
    return "".join("o" if i == v else "-" if a <= i <= b else " " for i in range(width))


def _log(e: "Evaluation") -> Group:
    s, d = e.diagnostics.survey, e.diagnostics
    lines = []
    if s.ended:
        mean, error = s.behavior
        lines.append(
            f"the behavior's own returns: {mean:.4g} on average (standard error {error:.2g}), {s.returns[0]:.4g} to "
            f"{s.returns[1]:.4g}"
        )
        lines.append(
            f"effective sample size: {d.effective_episodes:,.4g} of {s.episodes:,} episodes for products of ratios, "
            f"{s.effective_rows:,.4g} of {s.rows:,} rows for single ratios"
        )
    else:
        lines.append(f"effective sample size: {s.effective_rows:,.4g} of {s.rows:,} rows for single ratios")
    lines.append(
        f"overlap: the target never takes the action of {s.never / s.rows:.1%} of the rows; the smallest probability "
        f"of the behavior is {s.least_behavior:.3g}"
    )
    files = s.parts > 1
    largest = ", ".join(f"{r:.4g} (row {row:,}{f' of {part}' * files})" for r, part, row in s.largest[:3])
    lines.append(f"largest ratios: {largest}")
    c = d.calibration
    verdict = "look wrong" if c.suspicious else "look right"
    lines.append(
        f"the behavior's probabilities {verdict}: the mean ratio is {s.ratio_sum / s.rows:.4g} ({c.ratio_score:+.1f} "
        f"standard errors from 1), and the farthest test {c.worst_score:+.1f}"
    )
    return Group(*(Text(line) for line in lines))
