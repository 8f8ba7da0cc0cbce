"""What Gymnasium's spaces mean for networks: shapes of observations, numbers of actions, and how to encode them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from gpbe.errors import InputError


def observation_shape(space: Any, name: str) -> tuple[int, ...]:
    """The shape that networks see; labels become one-hot vectors.

    >>> from gymnasium import spaces
    >>> observation_shape(spaces.Box(0, 1, (3, 2)), "mine"), observation_shape(spaces.Discrete(5), "mine")
    ((3, 2), (5,))
    """
    from gymnasium import spaces

    if isinstance(space, spaces.Box):
        return space.shape or (1,)
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        return (spaces.flatdim(space),)
    instead = "make them single arrays, for instance with gymnasium.wrappers.FlattenObservation"
    raise InputError(f"{name} has observations in a {type(space).__name__}; {instead}")


def encoder(space: Any) -> Callable[[Any], Any]:
    """A function from an observation of the space to numbers."""
    from gymnasium import spaces

    return as_observation if isinstance(space, spaces.Box) else partial(spaces.flatten, space)


def as_observation(observation: Any) -> Float[np.ndarray, "..."]:
    """An observation as networks take it: float32, and bytes (uint8, as of images) divided by 255.

    >>> as_observation(np.array([0, 51, 255], np.uint8))
    array([0. , 0.2, 1. ], dtype=float32)
    """
    given = np.asarray(observation)
    if given.dtype == np.float32:
        return given.copy()
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused elsewhere
        floats = given.astype(np.float32)
    return floats / np.float32(255) if given.dtype == np.uint8 else floats


def action_count(space: Any, name: str) -> int:
    """The number of actions of a Discrete space; any other space is refused.

    >>> from gymnasium import spaces
    >>> action_count(spaces.Discrete(3, start=1), "mine")
    3
    """
    from gymnasium import spaces

    if not isinstance(space, spaces.Discrete):
        raise InputError(f"{name} has {type(space).__name__} actions; gpbe learns the values of Discrete ones")
    return int(space.n)


def first_action(space: Any) -> int:
    """The environment's number for its first action; gpbe counts them from 0."""
    return int(space.start)
