"""What can be wrong with the choices of `predict_net`, each said in one line."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.ranges import checked_numbers
from gpbe.algorithms.value import RANGES, Basis, ValueAlgorithm, names_for
from gpbe.errors import InputError
from gpbe.learn.hypers import Settings, as_settings
from gpbe.mdp.checks import as_floats
from gpbe.types import Array, Numbers


def read_settings(a: ValueAlgorithm, given: Mapping[str, Any], n: int, name: str) -> Settings:
    """Check names and ranges against what the algorithm has."""
    if "lam" in given and n == 1:
        raise InputError("lam mixes returns within a window of n transitions; give n more than 1 with it")
    defaults: dict[str, Any] = {k: r.default for k, r in RANGES.items()}
    return as_settings(defaults | checked_numbers(given, RANGES, names_for(a), name))


def read_net(net: Any) -> Any:
    """Sizes of hidden layers as a tuple, or a function that makes a module."""
    if callable(net):
        return net
    try:
        sizes = tuple(net) if not isinstance(net, (int, np.integer)) else (net,)
        whole = all(int(size) == size and size > 0 for size in sizes)
    except (TypeError, ValueError):
        whole, sizes = False, ()
    if not whole:
        raise InputError(f"net is {net!r}; give the sizes of hidden layers such as (32, 32), or a function of a key")
    return tuple(int(size) for size in sizes)


def read_basis(
    a: ValueAlgorithm, net: Any, basis: str | Numbers | None, states: int, logged: bool
) -> tuple[Basis, Array | None]:
    """What h is made of, and the features of H if they are given."""
    if not a.learns_h:
        if basis is not None:
            raise InputError("this algorithm does not learn h; leave basis out")
        return "none", None
    if a.curvature and basis not in (None, "gradient"):
        raise InputError('Maei\'s algorithms have h linear in the gradient of v; leave basis out, or give "gradient"')
    if basis is None:
        return ("gradient" if a.curvature or callable(net) else "head"), None
    if not isinstance(basis, str):
        phi = as_floats(basis, "basis")
        if logged:
            raise InputError("features of H are given for the states of a problem, which a log does not have")
        if phi.ndim != 2 or phi.shape[0] != states:
            raise InputError(
                f"basis has shape {phi.shape}; features of H should be ({states}, features), a row a state"
            )
        return "features", phi
    if basis == "head" and callable(net):
        raise InputError('a module has no last layer to put a head on; use "gradient", "network" or features of H')
    if basis == "head":
        return "head", None
    if basis == "network":
        return "network", None
    if basis == "gradient":
        return "gradient", None
    raise InputError(f"there is no basis {basis!r} of h; use head, network, gradient, or features of H")


def read_ridge(ridge: Numbers | None, phi: Array | None) -> Any:
    if ridge is None:
        return None
    if phi is None:
        raise InputError("ridge penalises given features of H; give those as basis, or use beta")
    array = as_floats(ridge, "ridge")
    if array.shape not in ((), (phi.shape[1],)) or (array < 0).any():
        raise InputError(f"ridge should be {phi.shape[1]} numbers of 0 or more, one for each feature of H")
    return jnp.broadcast_to(jnp.asarray(array, jnp.float32), (phi.shape[1],))


def check_replay(a: ValueAlgorithm, n: int, batch: int | None, buffer: int) -> None:
    if n < 1:
        raise InputError(f"n is {n}; a return has 1 transition or more")
    if n > 1 and not a.long_returns:
        raise InputError(f"this algorithm is defined for single transitions; n is {n}, leave it out")
    if a.h == "kernel" and (batch is None or batch < 2):
        raise InputError("the kernel loss needs pairs of samples: give batch, 2 or more, to draw them from replay")
    if batch is not None and not 1 <= batch <= buffer:
        raise InputError(f"batch is {batch}; it should be between 1 and the {buffer} windows that the buffer holds")


def check_every(every: int, updates: int) -> None:
    if every < 1 or updates % every:
        raise InputError(f"every is {every}; it should divide the {updates} steps")
