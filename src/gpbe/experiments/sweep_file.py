"""A sweep of one's own in a TOML file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gpbe.checks import check_keys, is_whole
from gpbe.errors import InputError
from gpbe.experiments.search import Range, Search, Space
from gpbe.experiments.sweep import Sweep, Swept
from gpbe.experiments.sweep_checks import check_number
from gpbe.files.reading import parse_toml, read_bytes

MOST = 2**20
"""Bytes of a file."""
REQUIRED = ("domains", "runs", "steps", "algorithms")
OPTIONAL = ("name", "every", "seed", "first_run", "options", "describe", "search")
SEARCH = ("trials", "fresh", "method", "rounds")


def read(path: str | Path, imports: bool = False) -> Sweep | Search:
    """A sweep of one's own from a TOML file, or a search.

    name, domains, runs and steps; `every`, `seed` and `first_run`; a table [options] of `gpbe.train`'s; and for each
    algorithm a table [algorithms.NAME] of lists to sweep over (an empty one sweeps nothing), or in its place
    [[algorithms.NAME.settings]] for every setting. With a table [search] (trials, fresh, method, rounds) it is a
    search, in which a hyperparameter may have a range: { low = 1e-4, high = 1e-1, log = true }.

    A name "module:NAME" imports the module. That is refused unless `imports` is true: a file of settings runs nothing.
    """
    path = Path(path)
    try:
        return _declared(parse_toml(read_bytes(path, MOST)), path.stem, imports)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _declared(data: dict[str, Any], name: str, imports: bool) -> Sweep | Search:
    check_keys(data, REQUIRED, OPTIONAL, "key")
    for key, value in data.items():
        right, should = _SHOULD.get(key, _WHOLE)
        if not right(value):
            raise InputError(f"{key} is {value!r}; it should be {should}")
    domains, algorithms = data["domains"], data["algorithms"]
    for each in () if imports else (*domains, *algorithms):
        if ":" in each:
            raise InputError(
                f"{each!r} is in a module, which a file does not import unless it may: "
                "gpbe run --imports; or leave it out"
            )
    given: dict[str, Any] = {"name": name} | {k: v for k, v in data.items() if k not in ("domains", "algorithms")}
    if "search" in given:
        return _searched(given, tuple(domains), algorithms)
    swept = tuple(_swept(each, table) for each, table in algorithms.items())
    return Sweep(**given, domains=tuple(domains), algorithms=swept)


def _searched(given: dict[str, Any], domains: tuple[str, ...], algorithms: Mapping[str, Any]) -> Search:
    about = given.pop("search")
    check_keys(about, ("trials", "fresh"), SEARCH, "key of [search]")
    if "first_run" in given:
        raise InputError("first_run is for sweeps; a search has fresh runs for what it chose")
    spaces = {name: {k: _space(v, f"{k} of {name}") for k, v in table.items()} for name, table in algorithms.items()}
    return Search(domains=domains, spaces=spaces, **given, **about)


def _space(value: Any, what: str) -> Space:
    if isinstance(value, dict):
        check_keys(value, ("low", "high"), ("log",), f"key of {what}")
        for end in ("low", "high"):
            check_number(value[end], f"{end} of {what}")
        if not isinstance(value.get("log", False), bool):
            raise InputError(f"log of {what} is {value['log']!r}; it should be true or false")
        return Range(float(value["low"]), float(value["high"]), value.get("log", False))
    return tuple(value) if isinstance(value, list) else (value,)


def _swept(name: str, table: Mapping[str, Any]) -> Swept:
    grid = {k: tuple(v) if isinstance(v, list) else (v,) for k, v in table.items() if k != "settings"}
    settings = table.get("settings", [])
    if not isinstance(settings, list) or not all(isinstance(setting, dict) for setting in settings):
        raise InputError(f"settings of {name} should be tables of numbers, such as [[algorithms.{name}.settings]]")
    for key, values in (*grid.items(), *((k, [v]) for setting in settings for k, v in setting.items())):
        for value in values:
            check_number(value, f"{key} of {name}")
    return Swept(name, grid, tuple(settings))


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_tables(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(table, dict) for table in value.values())


_WHOLE: tuple[Callable[[Any], bool], str] = (is_whole, "a whole number")
_SHOULD: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda value: isinstance(value, str), "a text that can name a folder"),
    "describe": (lambda value: isinstance(value, str), "a text"),
    "domains": (_are_names, "a list of names, even of one"),
    "algorithms": (_are_tables, "tables, such as [algorithms.qrc]"),
    "search": (lambda value: isinstance(value, dict), "a table, such as [search]"),
    "options": (lambda value: isinstance(value, dict), "a table, such as [options]"),
}
"""What each entry should be, and how to say so; others are whole numbers."""
