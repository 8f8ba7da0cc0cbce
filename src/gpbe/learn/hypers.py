"""Hyperparameters: which an algorithm has, what they may be, and how swept ones become chunks of settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.linear import Algorithm
from gpbe.algorithms.linear.hyperparameters import RANGES, defaults_for, names_for
from gpbe.errors import InputError
from gpbe.learn.linear import Hypers
from gpbe.mdp.checks import as_floats
from gpbe.types import Array, Numbers


def grid(**values: Numbers) -> dict[str, Array]:
    """Every combination of the values, as arrays of one length to hand to `predict`.

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

    @property
    def scheduled(self) -> bool:
        return bool(np.any(self.numbers["power"]))

    def of(self, index: int) -> dict[str, float]:
        """All hyperparameters of one setting."""
        return {k: float(v[index]) if k in self.values else float(v) for k, v in self.numbers.items()}

    def chunks(self, size: int) -> Iterator[tuple[Chunk, int]]:
        """Settings in groups of one size, so that all share one compiled program; the last is padded."""
        size = min(size, self.count)
        for first in range(0, self.count, size):
            indices = np.minimum(np.arange(first, first + size), self.count - 1)
            hypers = {k: v[indices] if k in self.values else v for k, v in self.numbers.items()}
            as_jax = {k: jnp.asarray(v, jnp.float32) for k, v in hypers.items()}
            yield Chunk(Hypers(**as_jax), indices), min(size, self.count - first)


def read_settings(a: Algorithm, given: Mapping[str, Any], name: str = "this algorithm") -> Settings:
    """Check names and ranges against what the algorithm has."""
    known = names_for(a)
    for given_name in given:
        if given_name not in RANGES:
            raise InputError(f"there is no hyperparameter {given_name!r}; {name} has {', '.join(known)}")
        if given_name not in known:
            raise InputError(f"{name} does not use {given_name!r}; it has {', '.join(known)}")
    numbers: dict[str, Any] = defaults_for(a) | {n: _checked(n, value) for n, value in given.items()}
    if a.bootstrapping == "v-trace" and a.second_weights and np.any(np.isfinite(numbers["rho_bar"])):
        raise InputError(
            "with rho_bar finite the ratios no longer average to 1, so there is no gradient to follow; use inf"
        )
    values = {k: v for k, v in numbers.items() if np.ndim(v)}
    lengths = {k: len(v) for k, v in values.items()}
    if len(set(lengths.values())) > 1:
        shown = " and ".join(f"{k} has {n}" for k, n in lengths.items())
        raise InputError(
            f"swept hyperparameters need one length, but {shown} values; gpbe.grid makes every combination"
        )
    return Settings(numbers, values)


def _checked(name: str, value: Any) -> Any:
    r = RANGES[name]
    endless = name in ("c_bar", "rho_bar") and np.asarray(value).dtype.kind in "fi"  # a clip may be infinite
    array = np.asarray(value, dtype=float) if endless else as_floats(value, name)
    if array.ndim > 1 or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give one number, or a list of numbers to sweep")
    wrong = ~((array > r.low) if r.open else (array >= r.low)) | ~(array <= r.high)
    if wrong.any():
        bounds = (
            f"above {r.low:g}" if np.isinf(r.high) and r.open else f"in {'(' if r.open else '['}{r.low:g}, {r.high:g}]"
        )
        raise InputError(f"{name} is {array[wrong].flat[0] if array.ndim else array:g}; it should be {bounds}")
    return array if array.ndim else float(array)
