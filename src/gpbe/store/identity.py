"""What a thing is called by its content: canonical JSON, digests, and the versions that made a result."""

import functools
import hashlib
import json
import platform
from importlib import metadata
from typing import Any

from gpbe.errors import InputError

LIBRARIES = ("gpbe", "jax", "jaxlib", "numpy", "polars", "gymnax", "gymnasium", "Box2D")


def canonical(value: Any, what: str = "the value") -> str:
    """JSON with one spelling for equal content: sorted keys, no spaces, ASCII, no NaN.

    >>> canonical({"b": (1, 2), "a": 0.1})
    '{"a":0.1,"b":[1,2]}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{what} cannot be written as JSON ({error}); it should hold only texts, finite numbers, true, false, "
            "null, lists and dicts"
        ) from None


def digest(value: Any, what: str = "the value") -> str:
    """The SHA-256 of a value's canonical JSON, in hexadecimal digits.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical(value, what).encode()).hexdigest()


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that a result's bits depend on; nothing is imported to find them.

    >>> {"python", "numpy", "jax"} <= set(versions())
    True
    """
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
