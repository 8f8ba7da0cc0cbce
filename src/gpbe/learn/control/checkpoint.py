"""Keeping a training's state in a file, so that it can be stopped at any moment and continued to the same result."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.errors import InputError
from gpbe.files import arrays as arrays_file
from gpbe.shapes import Array

KIND, VERSION = "gpbe-checkpoint", 1
SECONDS = 20.0
"""Between two writings of the file."""


class Checkpoint:
    """Of groups of lanes that are trained one after the other: the state of each that has begun, and the records."""

    def __init__(self, path: str | Path | None, about: Mapping[str, Any]):
        self.path = None if path is None else Path(path)
        self._about = dict(about)
        self._groups: dict[int, dict[str, Any]] = {}
        self._written = -SECONDS  # so that there is a file to go on from as soon as something is learned
        if self.path is not None and self.path.exists():
            header, arrays = arrays_file.read(self.path, KIND, VERSION, "a checkpoint")
            self._check(header["about"])
            for text, done in header["done"].items():
                prefix = f"{text}/"
                parts = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
                self._groups[int(text)] = {"done": done, "parts": parts}

    def _check(self, about: Mapping[str, Any]) -> None:
        for key in self._about:
            if self._about[key] != about.get(key):
                raise InputError(
                    f"{self.path} is of a training with {key} {about.get(key)}, not {self._about[key]}; "
                    "name another file, or train as before"
                )

    def begin(self, number: int, fresh: Callable[[], Any], members: Array, records: Any) -> tuple[Any, int]:
        """The state to go on from, and how many stretches it has behind it; fills in what they recorded."""
        state = fresh()
        if number not in self._groups:
            return state, 0
        kept = self._groups[number]
        points = records[0].shape[1]
        if kept["done"] > points:
            raise InputError(f"{self.path} is {kept['done']} records long already; steps should be no fewer")
        for name, whole in zip(records._fields, records, strict=True):
            whole[members, : kept["done"]] = kept["parts"][name]
        leaves, tree = jax.tree.flatten(state)
        stored = [kept["parts"][f"leaf{i}"] for i in range(len(leaves))]
        return jax.tree.unflatten(tree, [_as_was(a, b) for a, b in zip(leaves, stored, strict=True)]), kept["done"]

    def keep(self, number: int, done: int, members: Array, records: Any, state: Any, finished: bool = False) -> None:
        """Remember the state; write the file if that was long ago, or if the group has finished."""
        if self.path is None or not (finished or time.monotonic() - self._written > SECONDS):
            return
        leaves = {f"leaf{i}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}
        recorded = {name: whole[members, :done] for name, whole in zip(records._fields, records, strict=True)}
        self._groups[number] = {"done": done, "parts": leaves | recorded}
        header = {"about": self._about, "done": {str(n): kept["done"] for n, kept in self._groups.items()}}
        arrays = {f"{n}/{k}": v for n, kept in self._groups.items() for k, v in kept["parts"].items()}
        arrays_file.write(self.path, KIND, VERSION, header, arrays)
        self._written = time.monotonic()


def _plain(leaf: Any) -> Array:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _as_was(fresh: Any, stored: Array) -> Any:
    if isinstance(fresh, np.ndarray):
        return stored
    return jax.random.wrap_key_data(jnp.asarray(stored)) if _is_key(fresh) else jnp.asarray(stored)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
