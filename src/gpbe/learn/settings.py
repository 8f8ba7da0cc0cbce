"""Hyperparameters: what they may be, and how swept ones become settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.linear import Algorithm
from gpbe.algorithms.linear.hyperparameters import RANGES, defaults_for, names_for
from gpbe.algorithms.ranges import checked_numbers
from gpbe.errors import InputError
from gpbe.learn.linear.loop import Hypers
from gpbe.shapes import Array, Numbers


def grid(**values: Numbers) -> dict[str, Array]:
    """Every combination of the values, as arrays of one length to hand to `predict` or `train`.

    >>> grid(step_size=[0.1, 0.2], lam=[0.0, 0.5, 0.9])["lam"]
    array([0. , 0.5, 0.9, 0. , 0.5, 0.9])
    """
    columns = list(zip(*product(*(np.atleast_1d(v) for v in values.values())), strict=True))
    return {name: np.array(column) for name, column in zip(values, columns, strict=True)}


class Chunk(NamedTuple):
    hypers: Hypers
    indices: Array


@dataclass(frozen=True)
class Settings:
    """Checked hyperparameters: one number each, or arrays of one length where swept."""

    numbers: Mapping[str, Any]
    values: Mapping[str, Array]
    """The swept ones."""

    @property
    def swept(self) -> bool:
        return bool(self.values)

    @property
    def count(self) -> int:
        return len(next(iter(self.values.values()))) if self.swept else 1

    def of(self, index: int) -> dict[str, float]:
        """All hyperparameters of one setting."""
        return {k: float(v[index]) if k in self.values else float(v) for k, v in self.numbers.items()}

    def take(self, indices: Array) -> dict[str, Any]:
        """The numbers of some settings: arrays of what is swept, as JAX likes them."""
        taken = {k: v[indices] if k in self.values else v for k, v in self.numbers.items()}
        return {k: jnp.asarray(v, jnp.float32) for k, v in taken.items()}

    def chunks(self, size: int) -> Iterator[tuple[Chunk, int]]:
        """Settings in groups of one size, so that all share one compiled program; the last is padded."""
        size = min(size, self.count)
        for first in range(0, self.count, size):
            indices = np.minimum(np.arange(first, first + size), self.count - 1)
            yield Chunk(Hypers(**self.take(indices)), indices), min(size, self.count - first)


def read_settings(a: Algorithm, given: Mapping[str, Any], name: str = "this algorithm") -> Settings:
    """Check names and ranges against what a linear algorithm has."""
    numbers = defaults_for(a) | checked_numbers(given, RANGES, names_for(a), name)
    if a.bootstrapping == "v-trace" and a.second_weights and np.any(np.isfinite(numbers["rho_bar"])):
        raise InputError(
            "with rho_bar finite the ratios no longer average to 1, so there is no gradient to follow; use inf"
        )
    return as_settings(numbers)


def as_settings(numbers: Mapping[str, Any]) -> Settings:
    values = {k: v for k, v in numbers.items() if np.ndim(v)}
    lengths = {k: len(v) for k, v in values.items()}
    if len(set(lengths.values())) > 1:
        shown = " and ".join(f"{k} has {n}" for k, n in lengths.items())
        raise InputError(
            f"swept hyperparameters need one length, but {shown} values; gpbe.grid makes every combination"
        )
    return Settings(numbers, values)
