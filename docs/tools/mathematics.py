"""Formulas in a page as MathML."""

import re
from html import unescape

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


_PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>")
"""A prime as a superscript: where there is no font for mathematics it is too small to be seen."""


def rendered(html: str) -> str:
    r"""The page with MathML where Arithmatex left LaTeX.

    >>> rendered('<span class="arithmatex">\\(v_\\pi\\)</span>')[-61:]
    '<mrow><msub><mi>v</mi><mi>&#x003C0;</mi></msub></mrow></math>'
    """
    return _FORMULA.sub(_as_mathml, html)


def _as_mathml(found: re.Match[str]) -> str:
    element, latex = found.groups()
    inline = element == "span"
    mathml = convert(unescape(latex), display="inline" if inline else "block")
    mathml = _PRIME.sub(r"<mrow>\1<mo lspace='0' rspace='0'>&#x02032;</mo></mrow>", mathml)
    return mathml if inline else f'<div class="formula" tabindex="0">{mathml}</div>'
