"""What an agent's file says about its networks, checked before anything is made of it."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from gpbe.algorithms.control import Agent, Hypers, Spec
from gpbe.checks import check_keys, is_whole
from gpbe.errors import InputError
from gpbe.nets import Style, is_image
from gpbe.nets.layers import ACTIVATIONS
from gpbe.shapes import Array

LAYERS = 64
"""The most layers in a network."""


class Header(NamedTuple):
    """All but the weights."""

    env: str
    algorithm: str
    own_algorithm: bool
    choices: dict[str, Any]
    observation: tuple[int, ...]
    actions: int
    hidden: tuple[int, ...]
    own_body: bool
    style: dict[str, Any]
    """What the layers are like, besides their sizes."""
    hyperparameters: dict[str, float]

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Header":
        """What a file says, if each entry is what it should be."""
        fields = {k: v for k, v in given.items() if k not in ("format", "version")}
        fields = {"own_algorithm": False, "style": {}} | fields  # the first files did not have them
        check_keys(fields, cls._fields, (), "the entry")
        h = cls(**fields)
        for what, right, should in (
            ("env", isinstance(h.env, str), "a name"),
            ("algorithm", isinstance(h.algorithm, str), "a name"),
            ("own_algorithm", isinstance(h.own_algorithm, bool), "true or false"),
            ("own_body", isinstance(h.own_body, bool), "true or false"),
            ("choices", _is_plain(h.choices), "a table of numbers, names, true and false"),
            ("observation", _are_sizes(h.observation) and len(h.observation) > 0, "a list of sizes"),
            ("actions", _are_sizes([h.actions]), "a size"),
            ("hidden", _are_sizes(h.hidden) and len(h.hidden) <= LAYERS, "a list of sizes"),
            (
                "style",
                _is_style(h.style, h.observation),
                f"a table of {', '.join(Style._fields)}, for these observations",
            ),
            ("hyperparameters", _are_numbers(h.hyperparameters), "a table of numbers"),
        ):
            if not right:
                raise InputError(f"the entry {what!r} is {_short(getattr(h, what))}; it should be {should}")
        return h._replace(observation=tuple(h.observation), hidden=tuple(h.hidden))


def check_weights(agent: Agent, spec: Spec, arrays: Mapping[str, Array]) -> Array:
    """The weights, if there are as many as the networks have. Nothing of the size that a file names is made before."""
    check_keys(arrays, ("weights",), ("scale",), "the array")
    weights = arrays["weights"]
    if weights.ndim != 1 or weights.dtype != np.float32:
        raise InputError(
            f"weights have shape {weights.shape} and type {weights.dtype}; they should be a row of float32"
        )
    if max(spec.layer_weights, spec.actions) > weights.size:
        raise InputError(f"there are {weights.size:,} weights; networks of that size have more")
    if count_weights(agent, spec) != weights.size:
        raise InputError(f"there are {weights.size:,} weights; its networks have {count_weights(agent, spec):,}")
    return weights


def check_scale(spec: Spec, scale: Array | None) -> Array | None:
    """Means and deviations by which observations are normalized, if they are."""
    if scale is None:
        return None
    shape = (2, math.prod(spec.observation))
    if scale.shape != shape or scale.dtype.kind != "f":
        raise InputError(f"scale has shape {scale.shape} and type {scale.dtype}; it should be {shape} floats")
    if not np.isfinite(scale).all() or not (scale[1] > 0).all():
        raise InputError("scale should have finite means, and deviations above 0")
    return scale


def count_weights(agent: Agent, spec: Spec) -> int:
    """How many weights an agent's networks have; none is drawn."""
    try:
        shapes = eqx.filter_eval_shape(agent.start, spec, jax.random.key(0))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise InputError(f"no networks can be made as it says ({error})") from None
    floats = [x for x in jax.tree.leaves(shapes) if hasattr(x, "dtype") and np.issubdtype(x.dtype, np.inexact)]
    return sum(math.prod(x.shape) for x in floats)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(is_whole(n) and 0 < n < 2**31 for n in values)


def _is_plain(table: Any) -> bool:
    return isinstance(table, dict) and all(isinstance(v, str | int | float | bool) for v in table.values())


def _is_style(table: Any, observation: Any) -> bool:
    if not isinstance(table, dict) or not set(table) <= set(Style._fields):
        return False
    s = Style(**table)
    filters = is_whole(s.filters) and 0 <= s.filters < 2**31 and (not s.filters or is_image(observation))
    number = isinstance(s.sparsity, int | float) and not isinstance(s.sparsity, bool) and 0 <= s.sparsity <= 1
    return filters and number and isinstance(s.layer_norm, bool) and s.activation in list(ACTIVATIONS)


def _are_numbers(table: Any) -> bool:
    known = isinstance(table, dict) and set(table) <= set(Hypers._fields)
    return known and all(isinstance(v, int | float) and not isinstance(v, bool) for v in table.values())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
