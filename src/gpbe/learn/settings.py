"""Hyperparameters as given become settings: one if all are single numbers, as many as the arrays are long if swept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.hyperparameters import Hyperparameter, checked_numbers
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers

MOST_SETTINGS = 10**6
"""Combinations that `grid` makes: nobody waits for as many to be learned."""


def grid(**values: Numbers) -> dict[str, Array]:
    """Every combination of the values, as arrays of one length to hand to `predict` or `train`.

    >>> grid(step_size=[0.1, 0.2], lam=[0.0, 0.5, 0.9])["lam"]
    array([0. , 0.5, 0.9, 0. , 0.5, 0.9])
    """
    lists = {name: np.atleast_1d(given) for name, given in values.items()}
    for name, each in lists.items():
        if each.ndim > 1 or not each.size:
            raise InputError(f"{name} has shape {each.shape}; give one number, or a list of numbers to sweep")
    if (count := prod(map(len, lists.values()))) > MOST_SETTINGS:
        raise InputError(f"there are {count:,} combinations of {', '.join(lists)}; take {MOST_SETTINGS:,} at most")
    columns = np.meshgrid(*lists.values(), indexing="ij")
    return {name: column.ravel() for name, column in zip(lists, columns, strict=True)}


@dataclass(frozen=True)
class Settings:
    """Checked hyperparameters: one number each, or arrays of one length where swept."""

    numbers: Mapping[str, float | Array]
    values: Mapping[str, Array]
    """The swept ones."""

    @property
    def swept(self) -> bool:
        """Is there an axis of settings?"""
        return bool(self.values)

    @property
    def count(self) -> int:
        """How many settings there are."""
        return len(next(iter(self.values.values()))) if self.swept else 1

    def of(self, index: int) -> dict[str, float]:
        """All hyperparameters of one setting."""
        return {k: float(self.values[k][index] if k in self.values else v) for k, v in self.numbers.items()}

    def held(self, names: Iterable[str]) -> dict[str, float]:
        """Those of `names` that are the same in all settings."""
        return {name: self.of(0)[name] for name in names if name not in self.values}

    def take(self, indices: Array) -> dict[str, jax.Array]:
        """The numbers of some settings: arrays of what is swept, as JAX likes them."""
        taken = {k: self.values[k][indices] if k in self.values else v for k, v in self.numbers.items()}
        return {k: jnp.asarray(v, jnp.float32) for k, v in taken.items()}


@runtime_checkable
class HasHyperparameters(Protocol):
    """What a record of an algorithm says about its hyperparameters."""

    @property
    def hyperparameters(self) -> tuple[str, ...]: ...
    def defaults(self) -> dict[str, float]: ...


def read_settings(
    algorithm: HasHyperparameters, given: Mapping[str, Any], declared: Mapping[str, Hyperparameter], name: str
) -> Settings:
    """The settings of an algorithm: what was given, checked against its family's declarations, and defaults."""
    return as_settings(algorithm.defaults() | checked_numbers(given, declared, algorithm.hyperparameters, name))


def as_settings(numbers: Mapping[str, float | Array]) -> Settings:
    """Numbers and arrays as settings, if the arrays have one length."""
    values = {k: np.asarray(v) for k, v in numbers.items() if np.ndim(v)}
    lengths = {k: len(v) for k, v in values.items()}
    if len(set(lengths.values())) > 1:
        shown = " and ".join(f"{k} has {n}" for k, n in lengths.items())
        raise InputError(
            f"swept hyperparameters need one length, but {shown} values; gpbe.grid makes every combination"
        )
    return Settings(numbers, values)
