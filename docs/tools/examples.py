"""An extension of Griffe: examples in docstrings become blocks of code, and records are told as tables.

The docstrings of gpbe have examples without a heading above them, as doctest reads them. Markdown would take `>>>` for
three quotations.
"""

import importlib
import re
from functools import reduce
from typing import Any

import griffe
import parts

LONG = 250
"""Letters of a value beyond which it is a table in the source, and no help in a reference."""
_BLOCK = re.compile(r"(?m)^(?P<indent> *)>>> .*(?:\n(?! *\n).+)*")


def fenced(text: str) -> str:
    r"""The text with a fence around every example.

    >>> fenced("Twice as much.\n\n>>> double(2)\n4\n\nThat is all.")
    'Twice as much.\n\n```pycon\n>>> double(2)\n4\n```\n\nThat is all.'
    """

    def fence(found: re.Match[str]) -> str:
        before = "" if text[: found.start()].endswith("\n\n") or found.start() == 0 else "\n"
        return f"{before}{found['indent']}```pycon\n{found[0]}\n{found['indent']}```"

    return _BLOCK.sub(fence, text)


def as_typed(text: str) -> str:
    r"""The text with the subscripts of its formulas as they are typed: Markdown would set some of them as emphasis.

    >>> as_typed("|| u ||_d^2 = max_{h in H} of `max_{h}` and step_size")
    '|| u ||\\_d^2 = max\\_\\{h in H} of `max_{h}` and step_size'
    """
    pieces = _CODE.split(text)
    pieces[::2] = [_SUBSCRIPT.sub(lambda found: re.sub(r"[_^{]", r"\\\g<0>", found[0]), each) for each in pieces[::2]]
    return "".join(pieces)


_CODE = re.compile(r"(?s)(```.*?```|`[^`]*`)")
_SUBSCRIPT = re.compile(r"(?<=[|)\]])_|[_^]\{")


_ATTRIBUTE = re.compile(r"[A-Z]\w*(\.\w+)+")


def as_number(default: str, module: str) -> str:
    """A default that is the attribute of a table of numbers, as the number that a reader wants to see.

    >>> as_number("DEFAULTS.buffer", "gpbe.learn.train"), as_number("0.5", "gpbe.learn.train")
    ('4000', '0.5')
    """
    if not _ATTRIBUTE.fullmatch(default):
        return default
    first, *rest = default.split(".")
    value = reduce(getattr, rest, getattr(importlib.import_module(module), first, None))
    return repr(value) if isinstance(value, bool | int | float | str) else default


class Examples(griffe.Extension):
    """Fences the examples of every object, tells hyperparameters and defaults, drops values that are long tables."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object that was just read."""
        if obj.docstring:
            obj.docstring.value = as_typed(fenced(obj.docstring.value))
        if obj.docstring and isinstance(obj, griffe.Class) and obj.name == "Hypers":
            obj.docstring.value += f"\n\n{parts.fields(obj.path)}"
        if isinstance(obj, griffe.Function):
            for parameter in obj.parameters:
                if parameter.default is not None:
                    told = as_number(str(parameter.default), obj.module.path)
                    parameter.default = parameter.default if told == str(parameter.default) else told
        if isinstance(obj, griffe.Attribute) and len(str(obj.value)) > LONG:
            obj.value = None
