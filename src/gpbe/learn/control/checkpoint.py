"""Keeping a training's state in a file, so that it can be stopped at any moment and continued to the same result."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.checks import is_whole
from gpbe.errors import InputError
from gpbe.files import arrays as arrays_file
from gpbe.shapes import Array

KIND, VERSION = "gpbe-checkpoint", 2
SECONDS = 20.0
"""The time between two writings of the file."""


class Checkpoint:
    """The states of groups of lanes that are trained one after the other, as far as they are, and their records."""

    def __init__(self, path: str | Path | None, about: Mapping[str, Any]):
        if not isinstance(path, str | Path | None):
            raise InputError(f"checkpoint is of type {type(path).__name__}; it should be the name of a file")
        self.path = None if path is None else Path(path)
        self._about = dict(about)
        self._groups: dict[int, dict[str, Any]] = {}
        self._written = -SECONDS  # so that there is a file to go on from as soon as something is learned
        if self.path is not None and self.path.exists():
            header, arrays = arrays_file.read(self.path, KIND, VERSION, "a checkpoint")
            self._groups = self._read(header, arrays)

    def _read(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[int, dict[str, Any]]:
        about, done = header.get("about"), header.get("done")
        if not isinstance(about, dict) or not isinstance(done, dict):
            raise self._unfit("does not say what it is of")
        for key, mine in self._about.items():
            if mine != about.get(key):
                raise InputError(
                    f"{self.path} is of a training with {key} {about.get(key)}, not {mine}; "
                    "name another file, or train as before"
                )
        if not all(text.isdecimal() and is_whole(n) and n > 0 for text, n in done.items()):
            raise self._unfit("does not say how far it is")
        groups: dict[int, dict[str, Any]] = {int(text): {"done": n, "parts": {}} for text, n in done.items()}
        for name, array in arrays.items():
            number, _, part = name.partition("/")
            if number not in done:
                raise self._unfit(f"has {name!r}, which belongs to nothing")
            groups[int(number)]["parts"][part] = array
        return groups

    def _unfit(self, what: str) -> InputError:
        return InputError(f"{self.path} {what}; name another file, and it begins anew")

    def begin(self, number: int, fresh: Callable[[], Any], members: Array, records: Any) -> tuple[Any, int]:
        """The state to go on from, and how many stretches it has behind it; fills in what they recorded."""
        state = fresh()
        if number not in self._groups:
            return state, 0
        kept = self._groups[number]
        points = records[0].shape[1]
        if kept["done"] > points:
            raise InputError(f"{self.path} is {kept['done']} records long already; steps should be no fewer")
        leaves, tree = jax.tree.flatten(state)
        recorded = {name: whole[members, : kept["done"]] for name, whole in zip(records._fields, records, strict=True)}
        fresh_parts = {f"leaf{i}": _plain(leaf) for i, leaf in enumerate(leaves)} | recorded
        stored = kept["parts"]
        if set(stored) != set(fresh_parts):
            raise self._unfit("has other parts than this version of gpbe keeps")
        for name, mine in fresh_parts.items():
            if not _fits(mine, stored[name], free=name.startswith("leaf")):
                shape = f"{stored[name].dtype} {stored[name].shape}"
                raise self._unfit(f"has {name!r} as {shape}, not {mine.dtype} {mine.shape}")
        for name, whole in zip(records._fields, records, strict=True):
            whole[members, : kept["done"]] = stored[name]
        restored = [_as_was(leaf, stored[f"leaf{i}"]) for i, leaf in enumerate(leaves)]
        return jax.tree.unflatten(tree, restored), kept["done"]

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


def _fits(mine: Array, stored: Array, free: bool) -> bool:
    """Same type and shape. What the host has done in its present episodes is as long as these are, its second axis."""
    same = stored.dtype == mine.dtype and stored.ndim == mine.ndim
    grows = free and mine.ndim == 2 and mine.shape[1] == 0  # a fresh one is empty
    return same and (stored.shape == mine.shape or (grows and stored.shape[0] == mine.shape[0]))


def _plain(leaf: Any) -> Array:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _as_was(fresh: Any, stored: Array) -> Any:
    if isinstance(fresh, np.ndarray):
        return stored
    return jax.random.wrap_key_data(jnp.asarray(stored)) if _is_key(fresh) else jnp.asarray(stored)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
