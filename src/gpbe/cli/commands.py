"""All commands by name. Only the one that is asked for is imported: help on all of them needs their docstrings only."""

import ast
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gpbe.lazy import named

HOMES: dict[str, str] = {
    "list": "gpbe.cli.listing:list_",
    "diagnose": "gpbe.cli.problems:diagnose",
    "explore": "gpbe.cli.explore:explore",
    "predict": "gpbe.cli.predict:predict",
    "train": "gpbe.cli.train:train",
    "evaluate": "gpbe.cli.evaluate:evaluate",
    "run": "gpbe.cli.run:run",
    "status": "gpbe.cli.run:status",
    "pack": "gpbe.cli.run:pack",
    "bench": "gpbe.cli.bench:bench",
    "figure": "gpbe.cli.figure:figure",
    "report": "gpbe.cli.figure:report",
    "claims": "gpbe.cli.claims:claims",
}
"""Where the function of each command is."""


class Commands(Mapping[str, Callable[..., None]]):
    """The functions of all commands, each imported when it is looked up.

    >>> "train" in Commands(), len(Commands()) == len(HOMES)
    (True, True)
    """

    def __getitem__(self, name: str) -> Callable[..., None]:
        return named(HOMES[name])

    def __contains__(self, name: object) -> bool:
        return name in HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


def told_only(name: str) -> Callable[[], None]:
    """A command as far as a list of commands tells of it: a function without arguments, with the docstring's summary.

    >>> told_only("status").__doc__
    'Tell how far experiments are: chunks done, missing, failed, and runs that diverged.'
    """

    def stub() -> None:
        """Replaced below."""

    stub.__doc__ = _docstring(HOMES[name]).partition("\n\n")[0]
    return stub


def _docstring(reference: str) -> str:
    """Read from the file, which is not imported."""
    module, _, function = reference.partition(":")
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found = next(each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == function)
    return ast.get_docstring(found) or ""
