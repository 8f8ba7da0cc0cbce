"""Checks shared by the families of features."""

import numpy as np

from gpbe.errors import InputError


def check_at_least(value: int, minimum: int, name: str) -> None:
    if value < minimum:
        raise InputError(f"{name} is {value}; it should be at least {minimum}")


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or a new one from a seed: equal seeds give equal draws."""
    if isinstance(rng, int) and rng < 0:
        raise InputError(f"rng is {rng}; a seed should be 0 or more")
    return np.random.default_rng(rng)
