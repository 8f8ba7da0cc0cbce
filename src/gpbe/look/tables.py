"""Blocks of a diagnosis, bounds and frames as tables of HTML."""

import re
from collections.abc import Mapping
from html import escape

import numpy as np

from gpbe.exact.bounds.bound import Bound
from gpbe.exact.bounds.table import Entry
from gpbe.pages.diagnosis import COLOR, Block
from gpbe.pages.html import Html, rows_of

SYMBOLS = {"d_b": "d<sub>b</sub>", "d_pi": "d<sub>π</sub>", "v_pi": "v<sub>π</sub>", "kappa": "κ", "lambda": "λ"}


def symbols(text: str) -> Html:
    """A text as HTML, with the symbols as the paper has them.

    >>> symbols("d_b < d_pi")
    'd<sub>b</sub> &lt; d<sub>π</sub>'
    """
    return Html(re.sub(rf"\b({'|'.join(SYMBOLS)})\b", lambda found: SYMBOLS[found[0]], escape(text, quote=False)))


def block(each: Block) -> str:
    """A block as a table with its notes; a name of a state stays as it is."""
    named = each.columns[0] == "state"
    rows = [[_cell(cell, plain=named and k == 0) for k, cell in enumerate(row)] for row in each.rows]
    table = rows_of([symbols(c) for c in each.columns], rows, range(each.words, len(each.columns)))
    return table + "".join(f"\n<p>{symbols(note)}</p>" for note in each.notes)


def _cell(text: str, plain: bool) -> str:
    if plain:
        return text
    return Html(f'<span class="verdict {text}">{text}</span>') if text in COLOR else symbols(text)


def bounds_table(found: Mapping[str, Bound], about: Mapping[str, Entry]) -> str:
    """Both sides of each bound, and whether it is assured here."""
    rows = []
    for name, bound in found.items():
        broken = [what for what, true in bound.assumptions.items() if not np.all(true)]
        assured = f"no: it is not so that {', '.join(broken)}" if broken else "yes"
        both = (f"{bound.left:.4g}", bound.relation, f"{bound.right:.4g}")
        rows.append([about[name].description, about[name].reference, *both, assured])
    return rows_of(["of what", "from", "left", "", "right", "assured here"], rows, (2, 4))
