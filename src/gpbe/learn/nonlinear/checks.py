"""What can be wrong with the choices of `predict_net`, each said in one line."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.nonlinear import KERNELS, RANGES, Basis, ValueAlgorithm, names_for
from gpbe.algorithms.ranges import checked_numbers
from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.learn.nonlinear.data import Length
from gpbe.learn.settings import Settings, as_settings
from gpbe.mdp import Log, PredictionProblem
from gpbe.shapes import Array, Numbers

BUFFER = 4000
"""Windows that a buffer holds unless another number is given."""


def check_problem(problem: Any) -> None:
    if not isinstance(problem, PredictionProblem | Log):
        raise InputError(
            f"problem is of type {type(problem).__name__}; give a PredictionProblem, which is an MDP with policies "
            "and features, or a Log"
        )


def check_counts(**counts: Any) -> None:
    """Those that are given must be whole numbers, 1 or more."""
    for name, value in counts.items():
        if value is not None and not (_whole(value) and value >= 1):
            raise InputError(f"{name} is {value!r}; it should be a whole number, 1 or more")


def read_settings(a: ValueAlgorithm, given: Mapping[str, Any], n: Length, name: str) -> Settings:
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
    a: ValueAlgorithm, net: Any, basis: str | Numbers | None, problem: PredictionProblem | Log, width: int | None
) -> tuple[Basis, Array | None]:
    """What h is made of, and the features of H if they are given."""
    kind, phi = _basis(a, net, basis, problem)
    if width is not None and (kind != "network" or callable(net)):
        raise InputError('width is of a network for h that has layers; give basis "network" and sizes of layers too')
    return kind, phi


def _basis(
    a: ValueAlgorithm, net: Any, basis: str | Numbers | None, problem: PredictionProblem | Log
) -> tuple[Basis, Array | None]:
    if not a.learns_h:
        if basis is not None:
            raise InputError("this algorithm does not learn h; leave basis out")
        return "none", None
    if a.curvature and not (basis is None or (isinstance(basis, str) and basis == "gradient")):
        raise InputError('Maei\'s algorithms have h linear in the gradient of v; leave basis out, or give "gradient"')
    if basis is None:
        return ("gradient" if a.curvature or callable(net) else "head"), None
    if not isinstance(basis, str):
        return "features", read_rows(basis, "basis", problem)
    if basis == "head" and callable(net):
        raise InputError('a module has no last layer to put a head on; use "gradient", "network" or features of H')
    if basis == "head":
        return "head", None
    if basis == "network":
        return "network", None
    if basis == "gradient":
        return "gradient", None
    raise InputError(f"there is no basis {basis!r} of h; use head, network, gradient, or features of H")


def read_rows(values: Numbers, name: str, problem: PredictionProblem | Log) -> Array:
    """Features of H: a row for each state of a problem, or for each row of a log."""
    phi, rows = as_floats(values, name), problem.features.shape[0]
    if phi.ndim != 2 or phi.shape[0] != rows or not phi.shape[1]:
        each = "transition" if isinstance(problem, Log) else "state"
        raise InputError(f"{name} has shape {phi.shape}; features of H should be ({rows}, features), a row a {each}")
    return phi


def read_ridge(ridge: Numbers | None, phi: Array | None) -> Any:
    if ridge is None:
        return None
    if phi is None:
        raise InputError("ridge penalizes given features of H; give those as basis, or use beta")
    array = as_floats(ridge, "ridge")
    if array.shape not in ((), (phi.shape[1],)) or (array < 0).any():
        raise InputError(f"ridge should be {phi.shape[1]} numbers of 0 or more, one for each feature of H")
    return jnp.broadcast_to(jnp.asarray(array, jnp.float32), (phi.shape[1],))


def read_length(a: ValueAlgorithm, n: Any, state_lam: Numbers | None) -> Length:
    """Transitions in a return."""
    length: Length | None = "episode" if isinstance(n, str) and n == "episode" else int(n) if _whole(n) else None
    if length is None or (length != "episode" and length < 1):
        raise InputError(f'n is {n!r}; a return has 1 transition or more, or all to the end of its "episode"')
    if length != 1 and not a.long_returns:
        raise InputError(f"this algorithm is defined for single transitions; n is {n}, leave it out")
    if length == 1 and state_lam is not None:
        raise InputError("state_lam mixes returns within a window of n transitions; give n more than 1 with it")
    return length


def read_kernel(a: ValueAlgorithm, kernel: str | None) -> str:
    if kernel is not None and a.h != "kernel":
        raise InputError("kernel is for kbe, the kernel loss; leave it out")
    if kernel is not None and kernel not in KERNELS:
        raise InputError(f"there is no kernel {kernel!r}; the kernels are {', '.join(KERNELS)}")
    return kernel or "gaussian"


def read_buffer(a: ValueAlgorithm, batch: int | None, buffer: int | None) -> int:
    """Windows that the buffer holds; 0 for learning online."""
    if a.h == "kernel" and (batch is None or batch < 2):
        raise InputError("the kernel loss needs pairs of samples: give batch, 2 or more, to draw them from replay")
    if batch is None:
        if buffer is not None:
            raise InputError("buffer is for learning from replay; give batch, the windows drawn from it, too")
        return 0
    holds = BUFFER if buffer is None else buffer
    if batch > holds:
        raise InputError(f"batch is {batch}; it should be between 1 and the {holds} windows that the buffer holds")
    return holds


def check_steps(every: int, batch: int | None, count: int) -> None:
    if every < 1 or count % every:
        raise InputError(f"every is {every}; it should divide the {count} steps")
    if batch is not None and batch > count:
        raise InputError(f"batch is {batch}, but there are {count} steps; learning begins when a batch can be filled")


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
