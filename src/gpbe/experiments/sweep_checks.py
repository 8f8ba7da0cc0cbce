"""Everything that can be wrong with the declaration of a sweep, found before anything is run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.table import find_algorithm
from gpbe.algorithms.hyperparameters import checked_numbers
from gpbe.checks import check_at_least, check_divides, check_keys, check_names, check_seed, is_whole
from gpbe.errors import InputError
from gpbe.learn.control.learning import LONGEST_RUN, OPTIONS
from gpbe.learn.control.learning import check_options as check_options_of_train

if TYPE_CHECKING:
    from gpbe.experiments.sweep import Sweep, Swept

SETTINGS = 10**6
"""The most settings of one algorithm."""
LANES = 10**8
"""Runs of all settings."""


def check_swept(swept: "Swept") -> None:
    """One algorithm and its settings."""
    name = swept.algorithm
    check_names([name], "algorithm")
    algorithm = find_algorithm(name)
    _check_tables(swept)
    if swept.grid and swept.settings:
        raise InputError(f"{name} has a grid and a list of settings; give one of them")
    for names in (swept.names, *swept.settings):
        check_keys(names, (), tuple(algorithm.declared), f"hyperparameter of {name}")
        if set(names) != set(swept.names):
            raise InputError(
                f"settings of {name} have {', '.join(swept.names)} or {', '.join(names)}; all need the same"
            )
    columns = {k: [x[k] for x in swept.settings] for k in swept.names} if swept.settings else swept.grid
    for key, values in columns.items():
        if not values:
            raise InputError(f"the grid of {name} has no values for {key}; give at least one")
        for value in values:
            check_number(value, f"{key} of {name}")
        algorithm.declared[key].checked(list(values), key)
    if swept.total > SETTINGS:
        raise InputError(f"{name} has {swept.total:,} settings; it should have {SETTINGS:,} at most")
    once = set()
    for number in swept.only:
        if not is_whole(number) or not 0 <= number < swept.total or number in once:
            raise InputError(f"{name} has settings 0 to {swept.total - 1}; only has {number!r}, or has it twice")
        once.add(number)
    check_at_least(1, **{f"runs of {name}": swept.runs})
    check_at_least(0, **{f"first_run of {name}": swept.first_run})


def _check_tables(swept: "Swept") -> None:
    name = swept.algorithm
    if not isinstance(swept.settings, tuple | list) or not all(isinstance(x, dict) for x in swept.settings):
        raise InputError(f"settings of {name} should be tables of numbers, such as [[algorithms.{name}.settings]]")
    if not all(isinstance(values, tuple | list) for values in swept.grid.values()):
        raise InputError(f"the grid of {name} should have a list of numbers for each hyperparameter")


def check_number(value: Any, name: str) -> None:
    """A single number, as a hyperparameter is in a setting."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; it should be a number")


def check_sweep(s: "Sweep") -> None:
    """The whole declaration."""
    check_names([s.name], "sweep")
    check_at_least(1, runs=s.runs, steps=s.steps)
    check_at_least(0, first_run=s.first_run)
    check_seed(s.seed)
    check_divides(s.every, s.steps)
    for key in ("domains", "algorithms"):
        given = getattr(s, key)
        if not isinstance(given, tuple | list):
            raise InputError(f"{key} is {given!r}; it should be a list of names, even of one")
        if not given:
            raise InputError(f"{key} is empty; name at least one")
    check_names(s.domains, "domain")
    check_options(s)
    tried: dict[tuple[str, str], set[int]] = {}
    for domain, swept in s.parts():
        numbers, others = set(swept.only or range(swept.total)), tried.setdefault((domain, swept.algorithm), set())
        if numbers & others:
            raise InputError(f"{swept.algorithm} is there twice for {domain}; its settings would have the same numbers")
        others |= numbers
    for swept in s.algorithms:
        check_keys(swept.domains, (), s.domains, f"domain of {swept.algorithm}")
    lanes = s.work // s.steps
    if lanes > LANES or s.steps > LONGEST_RUN or s.first_run + max(map(s.runs_of, s.algorithms)) > 2**32:
        raise InputError(
            f"there are {lanes:,} runs of {s.steps:,} steps; there should be {LANES:,} of {LONGEST_RUN:,} at most"
        )


def check_options(s: "Sweep") -> None:
    """What is the same in all runs."""
    if not isinstance(s.options, dict):
        raise InputError(f"options is {s.options!r}; it should be a table, such as [options]")
    check_keys(s.options, (), (*OPTIONS, *Hypers._fields), "option")
    given = {k: v for k, v in s.options.items() if k in OPTIONS}
    if callable(given.get("optimizer")):
        raise InputError("optimizer is a function, which no file can keep; a sweep should have the name of one")
    check_options_of_train(given | {"every": s.every}, s.steps)
    _check_together(s, given)
    numbers = {k: v for k, v in s.options.items() if k in Hypers._fields}
    for name, value in numbers.items():
        check_number(value, name)
    for swept in s.algorithms:
        algorithm = find_algorithm(swept.algorithm)
        checked_numbers(numbers, Hypers._field_defaults, algorithm.hyperparameters, swept.algorithm)


def _check_together(s: "Sweep", given: Mapping[str, Any]) -> None:
    """Options that only some algorithms or environments have; nothing is imported for those that all have."""
    if not {"replay", "length", "target_every", "filters"} & set(given):
        return
    from gpbe.envs import find
    from gpbe.learn.control.reading import Asked, read_learning, read_spec

    asked = Asked(**given, every=s.every)
    for swept in s.algorithms:
        read_learning(find_algorithm(swept.algorithm).make(), s.steps, asked)
    for domain in s.domains if given.get("filters") else ():
        read_spec(find(domain), asked)
