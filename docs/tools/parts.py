"""The generated parts of pages: tables that are made from the records of the code, so that nothing is typed twice."""

import argparse
import importlib
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isinf, isnan
from typing import Any

from gpbe.algorithms import control, linear, nonlinear
from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.wording import as_text

ADOPTED = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
"""Pages of the site whose text stands beside docs/, where people look for it in a repository."""
FAMILIES: dict[str, tuple[Mapping[str, Any], Any]] = {
    "linear": (linear.ALGORITHMS, linear.Hypers),
    "nonlinear": (nonlinear.ALGORITHMS, nonlinear.Hypers),
    "control": (control.ALGORITHMS, control.Hypers),
}
"""The algorithms of each family, and the declarations of their hyperparameters."""
_MARK = re.compile(r"(?m)^<!-- gpbe: (\S+)(.*?) -->$")


def filled(markdown: str) -> str:
    """The page with its generated parts in place of their marks."""
    return _MARK.sub(lambda found: PARTS[found[1]](*found[2].split()), markdown)


def with_findable_names(markdown: str) -> str:
    """The page with names as mkdocstrings finds them."""
    return re.sub(r"(?m)^::: (\S+)$", lambda found: f"::: {findable(found[1])}", markdown)


def findable(name: str) -> str:
    """Where a public name is defined, if its module has the same name, which would be shown instead.

    >>> findable("gpbe.evaluate"), findable("gpbe.exact.solution")
    ('gpbe.evaluation.evaluate.evaluate', 'gpbe.exact.solution')
    """
    package, _, last = name.rpartition(".")
    what = getattr(importlib.import_module(package), last)
    same = getattr(what, "__module__", "").endswith(f".{last}")
    return f"{what.__module__}.{what.__qualname__}" if same else name


def marks(markdown: str) -> list[tuple[str, ...]]:
    r"""The parts that a page asks for, each with its words.

    >>> marks("text\n\n<!-- gpbe: algorithms linear td tdc -->\n")
    [('algorithms', 'linear', 'td', 'tdc')]
    """
    return [(found[1], *found[2].split()) for found in _MARK.finditer(markdown)]


def with_long_cells(html: str, long: int = 60) -> str:
    """The page with a class for cells of tables that hold phrases or paragraphs, which a phone would make a word wide.

    >>> with_long_cells("<td>one</td><td>few words</td><td>many words</td>", long=9)
    '<td>one</td><td class="phrase">few words</td><td class="long">many words</td>'
    """

    def marked(cell: re.Match[str]) -> str:
        letters = _letters(cell[1])
        kind = "long" if letters > long else "phrase" if letters > long / 3 else ""
        return f'<td class="{kind}">{cell[1]}</td>' if kind else cell[0]

    return re.sub(r"(?s)<td>(.*?)</td>", marked, html)


def with_whole_words(html: str) -> str:
    """The page with options, small numbers and, in code, short names marked: a browser would break them after a hyphen.

    >>> with_whole_words("<code>qrc-sep</code>")
    '<code><span class="whole">qrc-sep</span></code>'
    >>> with_whole_words("<p>with --save, 1e-4 or 2^-5</p>")
    '<p>with <span class="whole">--save</span>, <span class="whole">1e-4</span> or <span class="whole">2^-5</span></p>'
    """
    pieces = _TAGS.split(html)  # text, tag, text and so on
    for k in range(0, len(pieces), 2):
        in_code = pieces[k - 1].startswith("<code") if k else False
        pieces[k] = (_NAMES if in_code else _BREAKABLE).sub(r'<span class="whole">\g<0></span>', pieces[k])
    return "".join(pieces)


_TAGS = re.compile(r"(?s)(<pre.*?</pre>|<math.*?</math>|<!--.*?-->|<[^>]*>)")
_BREAKABLE = re.compile(r"(?<![\w-])(?:--[a-z][\w-]*|\d[\d.]*e-\d+|\d+\^-\d+|[✓✗?] (?:holds|does|undecided)\b)")
_NAMES = re.compile(_BREAKABLE.pattern + r"|(?<![\w/.-])(?=[\w-]{3,16}(?![\w/.-]))[a-z]\w*(?:-\w+)+")


def with_whole_formulas(html: str) -> str:
    """The page with the comma or bracket after a formula held on the formula's line.

    >>> with_whole_formulas("<p>(<math><mi>x</mi></math>), then</p>")
    '<p>(<span class="whole"><math><mi>x</mi></math>),</span> then</p>'
    """
    return re.sub(r"(?s)(<math(?:(?!</math>).)*</math>)([.,;:)]+)", r'<span class="whole">\1\2</span>', html)


def with_pictures_that_open(html: str) -> str:
    """The page with a link from every picture to itself: on a phone it is opened, and made larger, by a touch.

    >>> with_pictures_that_open('<p><img alt="" src="a.png" /></p>')
    '<p><a class="picture" href="a.png"><img alt="" src="a.png" /></a></p>'
    """
    return re.sub(r'<img [^>]*src="([^"]+)"[^>]*>', r'<a class="picture" href="\1">\g<0></a>', html)


def _letters(html: str) -> int:
    """The length of a text, without its tags; mathematics does not wrap anyway."""
    return len(re.sub(r"(?s)<math.*?</math>|<[^>]*>", "", html))


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    r"""A table in Markdown.

    >>> print(table(["a", "b"], [["1", "x | y"]]))
    | a | b |
    | --- | --- |
    | 1 | x \| y |
    """
    lines = [list(heads), ["---"] * len(list(heads))]
    lines += [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def algorithms(family: str, *names: str) -> str:
    """The named algorithms of a family with their choices on the axes, hyperparameters and papers."""
    told = {"linear": _told_of_linear, "nonlinear": _told_of_nonlinear, "control": _told_of_control}[family]
    table_of, _ = FAMILIES[family]
    rows = [{"name": f"`{name}`"} | told(table_of[name]) | {"paper": table_of[name].paper} for name in names]
    return table(rows[0], [row.values() for row in rows])


def hyperparameters(family: str, *names: str) -> str:
    """The hyperparameters of the named algorithms, or of all of a family, and which of them has which."""
    table_of, hypers = FAMILIES[family]
    names = names or tuple(table_of)
    declared = {name: _declared(table_of[name], hypers) for name in names}
    everything = {h: record for each in declared.values() for h, record in each.items()}
    rows = []
    for name in sorted(everything, key=[*hypers._fields, *everything].index):
        h, who = everything[name], [each for each in names if name in declared[each]]
        sweeps = any(name in table_of[each].grid() for each in who if hasattr(table_of[each], "grid"))
        paper = ", ".join(map(_number, h.paper)) if sweeps else ""
        usual = {each: getattr(table_of[each], "usual", {}).get(name, h.default) for each in who}
        rows.append([f"`{name}`", h.meaning, _default(h, usual), h.bounds, paper, _who(who, names)])
    heads = ["name", "meaning", "default", "range", "the paper sweeps", "which have it"]
    keep = [k for k in range(len(heads)) if k < 4 or any(row[k] for row in rows)]
    return table([heads[k] for k in keep], [[row[k] for k in keep] for row in rows])


def fields(name: str) -> str:
    """The hyperparameters that a family's class declares, which is found at `name`."""
    package, _, last = name.rpartition(".")
    declared: Mapping[str, Hyperparameter] = getattr(importlib.import_module(package), last)._field_defaults
    rows = [[f"`{each}`", h.meaning, _default(h, {}), h.bounds] for each, h in declared.items()]
    return table(["field", "meaning", "default", "range"], rows)


def commands() -> str:
    """Every command with its arguments and options, from the parser itself."""
    from gpbe.cli import COMMANDS

    return "\n\n".join(_command(name, parser(name)) for name in COMMANDS)


def parser(command: str) -> argparse.ArgumentParser:
    """The parser of a command, as the standard library knows parsers."""
    import tyro

    from gpbe.cli import COMMANDS

    with warnings.catch_warnings():  # it says that it will be gone some day; then `--help` is to be read instead
        warnings.simplefilter("ignore")
        return tyro.extras.get_parser(COMMANDS[command], prog=f"gpbe {command}")


def problems() -> str:
    """The problems of the zoo."""
    from gpbe import mdp

    return table(["name", "what it is"], [[f"`{name}`", entry.description] for name, entry in mdp.ZOO.items()])


def _told_of_linear(a: Any) -> dict[str, str]:
    more = [name for name in ("mirror_prox", "regularized", "bounded", "decayed_followon") if getattr(a, name)]
    sound = "converges" if a.sound else "can diverge"
    return {
        "update": ", ".join([a.update, *more]).replace("_", " "),
        "bootstrapping": a.bootstrapping,
        "states weighted by": a.weighting,
        "off-policy": f"{sound}, if {a.needs}" if a.sound and a.needs else sound,
    }


def _told_of_nonlinear(a: Any) -> dict[str, str]:
    more = [name for name in ("curvature", "regularized", "bounded") if getattr(a, name)]
    return {"form": ", ".join([a.form, *more]), "h": a.h, "states weighted by": a.weighting}


def _told_of_control(a: Any) -> dict[str, str]:
    return {"what it is": a.describe, "speed, of QRC's": f"{a.speed:g}"}


def _declared(record: Any, hypers: Any) -> dict[str, Hyperparameter]:
    """The hyperparameters of an algorithm by name."""
    return {name: hypers._field_defaults[name] for name in record.hyperparameters} | dict(
        getattr(record, "shaping", {})
    )


def _default(h: Hyperparameter, usual: Mapping[str, float]) -> str:
    if isnan(h.default):
        return ""
    differing = [f"{_number(value)} for `{each}`" for each, value in usual.items() if value != h.default]
    return ", ".join([_number(h.default), *differing])


def _number(value: float) -> str:
    return "infinite" if isinf(value) else as_text(value)


def _who(who: Sequence[str], everyone: Sequence[str]) -> str:
    """Name those that have a hyperparameter, or those that do not if these are fewer."""
    others = [each for each in everyone if each not in who]
    if not others:
        return "all"
    fewer, before = (who, "") if len(who) <= len(others) else (others, "all but ")
    return before + ", ".join(f"`{each}`" for each in fewer)


def _command(name: str, made: argparse.ArgumentParser) -> str:
    actions = [each for each in made._actions if "--help" not in each.option_strings]
    heading = f"## gpbe {name} {{ #{name} }}"
    if not actions:
        return f"{heading}\n\n{made.description}"
    rows = [[_written(each), _about(each), _otherwise(each)] for each in actions]
    return f"{heading}\n\n{made.description}\n\n{table(['argument', 'meaning', 'if left out'], rows)}"


def _shown(action: argparse.Action) -> str:
    """What stands for the value of an argument; that nothing may be said is what "if left out" is about."""
    return action.metavar.strip("[]") if isinstance(action.metavar, str) else ""


def _is_long(shown: str) -> bool:
    return len(shown) > 30


def _written(action: argparse.Action) -> str:
    shown = "NAME" if _is_long(_shown(action)) else _shown(action).replace("|", " or ")  # a bar would end the cell
    return f"`{' '.join([*action.option_strings[:1], shown]).strip() or action.dest.upper()}`"


_TRAILING = re.compile(r"\s*\((?:default: (?P<default>.*)|required|optional)\)\s*$")


_LEFT_OUT = re.compile(r"^((?:(?!if left out).)*); ([^;,]+) if left out$", re.DOTALL)
"""Help that says itself, once and at its end, what holds for an option that is left out; here this has a column."""


def _about(action: argparse.Action) -> str:
    choices = f": {_shown(action).strip('{}').replace(',', ', ')}" if _is_long(_shown(action)) else ""
    return _LEFT_OUT.sub(r"\1", _TRAILING.sub("", action.help or "").strip()) + choices


def _otherwise(action: argparse.Action) -> str:
    found = _TRAILING.search(action.help or "")
    if not found:
        said = _LEFT_OUT.search((action.help or "").strip())
        return said[2] if said else ""
    default = {"True": "on", "False": "off"}.get(found["default"], found["default"])
    return default if default else found[0].strip(" ()")


PARTS: dict[str, Callable[..., str]] = {
    "algorithms": algorithms,
    "hyperparameters": hyperparameters,
    "commands": commands,
    "problems": problems,
}
