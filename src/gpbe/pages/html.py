"""Pages of HTML that need nothing else: no script, no fonts or pictures from elsewhere; and the tables in them."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources

import numpy as np
import polars as pl


def document(title: str, body: str, style: str = "") -> str:
    """A whole page in the look that all pages share, with a `style` of its own on top.

    >>> document("A & B", "<p>Text</p>").splitlines()[0]
    '<!DOCTYPE html>'
    """
    css = resources.files("gpbe.pages").joinpath("page.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{css}{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def slug(text: str) -> str:
    """What an anchor may be called.

    >>> slug("Fixed points & prediction")
    'fixed-points-prediction'
    """
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


class Html(str):
    """A text that is HTML already, for a cell of a table."""

    __slots__ = ()


def cell(value: object) -> str:
    """A value of a table, in a few letters.

    >>> cell(0.1234567), cell(None), cell([1, 2]), cell(12345.678)
    ('0.1235', '', '1, 2', '12346')
    """
    if value is None:
        return ""
    if isinstance(value, Html):
        return value
    if isinstance(value, bool | str):
        return escape(str(value))
    if isinstance(value, float):
        return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    if isinstance(value, Sequence | pl.Series | np.ndarray):
        return ", ".join(cell(each) for each in value)
    return escape(str(value))


def rows_of(columns: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[int] = ()) -> str:
    """A table; the columns whose numbers are in `right` hold numbers."""
    right = set(right)
    kind = [' class="number"' if k in right else "" for k in range(len(columns))]
    names = "".join(f"<th{k}>{cell(name)}</th>" for k, name in zip(kind, columns, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{k}>{cell(value)}</td>" for k, value in zip(kind, row, strict=True)) + "</tr>\n"
        for row in rows
    )
    table = f"<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
    return f'<div class="wide" tabindex="0">{table}</div>'


def pairs(values: Mapping[str, str]) -> str:
    """Names with what they stand for."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values.items())
    return f"<dl>{items}</dl>"
