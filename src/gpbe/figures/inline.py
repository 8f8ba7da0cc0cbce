"""A figure as SVG that stands within a page and takes the page's colors, light or dark."""

import io
import re
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from gpbe.figures import style

NAMES = {code.lower(): name for name, code in style.PALETTE.items() if name not in ("black", "grey")}


def svg(fig: Figure, label: str) -> str:
    """The figure, called `label` by those who cannot see it. What is black takes the color of the text around it.

    Other colors are those of the page (`--blue` and so on), if it has any. Names within it differ from those of other
    figures with another label, so that several can stand on a page.
    """
    file = io.StringIO()
    options: dict[Any, Any] = {**style.RC, "svg.hashsalt": label}
    with mpl.rc_context(options):
        fig.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<g|<text) id="[^"]*"', r"\1", text)  # nothing refers to these, and others have the same
    text = text.replace("xlink:href", "href")
    text = re.sub(r"#[0-9a-f]{6}\b(?=[;\"])", _themed, text)
    text = re.sub(r"font-family: [^;\"]*;? ?", "", text)  # letters are those of the page
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)  # it would hold for the whole page
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)[0]
    look = "fill: currentColor; stroke-linejoin: round"
    head = f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {height}" style="{look}"'
    return f'{head} xmlns="http://www.w3.org/2000/svg">{text[text.index(">") + 1 :]}'.strip()


def _themed(code: re.Match[str]) -> str:
    found = code[0]
    if found == "#000000":
        return "currentColor"
    return f"var(--{NAMES[found]}, {found})" if found in NAMES else found
