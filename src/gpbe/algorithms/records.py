"""What the records of all algorithms share: how figures show one, and how it is found by name."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gpbe.checks import unknown
from gpbe.errors import InputError

Record = TypeVar("Record")


@dataclass(frozen=True)
class Look:
    """How figures show an algorithm. It is declared with the algorithm and drawn elsewhere."""

    label: str
    """What people call it."""
    color: str = "grey"
    """A name in the palette of `gpbe.figures.style`. Algorithms that never meet in a figure may share one."""
    dashes: tuple[float, ...] = ()
    """Lengths of dashes and gaps along its line; none for a solid one."""
    marker: str = "o"
    """The shape of single points, as matplotlib names it."""


def find_record(algorithm: object, table: Mapping[str, Record], kind: type[Record], what: str) -> Record:
    """The record of that name in a table, or the record itself.

    >>> find_record("a", {"a": 1.5}, float, "number"), find_record(2.5, {}, float, "number")
    (1.5, 2.5)
    >>> find_record(3, {}, float, "number")
    Traceback (most recent call last):
    gpbe.errors.InputError: number is of type int; give a name, or an object float
    """
    if isinstance(algorithm, kind):
        return algorithm
    if not isinstance(algorithm, str):
        raise InputError(f"{what} is of type {type(algorithm).__name__}; give a name, or an object {kind.__name__}")
    if algorithm not in table:
        raise unknown(what, algorithm, table)
    return table[algorithm]


HUBER = "Patterson, Liao and White 2022"


def huber_family(table: Mapping[str, Any]) -> dict[str, Any]:
    """The gradient methods of a table of prediction with h bounded, which makes them those of the Huber PBE."""
    return {
        f"huber-{name}": replace(
            table[name],
            bounded=True,
            paper=HUBER,
            look=replace(table[name].look, label=f"Huber {table[name].look.label}", dashes=(2.0, 1.0)),
        )
        for name in ("tdc", "tdrc", "gtd2")
    }


def referred(reference: str) -> Any:
    """What "package.module:name" refers to."""
    module, _, name = reference.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"there is no {reference}: {error}") from None
