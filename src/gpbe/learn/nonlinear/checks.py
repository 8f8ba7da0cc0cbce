"""What can be wrong with what is asked of a network, each said in one line."""

from typing import Any, NamedTuple, cast, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Float

from gpbe.algorithms.nonlinear import Hypers, Kernel, NonlinearAlgorithm
from gpbe.algorithms.nonlinear.model import Basis, Make
from gpbe.checks import as_floats, check_known, is_whole, unknown
from gpbe.errors import InputError
from gpbe.learn.control.learning import read_sizes
from gpbe.learn.nonlinear.data import Length
from gpbe.learn.prediction import Asked
from gpbe.learn.settings import Settings, read_settings
from gpbe.mdp import Log, PredictionProblem
from gpbe.shapes import Array, Numbers

BUFFER = 4000
"""Windows that a buffer holds unless another number is given."""
Sizes = tuple[int, ...]
"""The sizes of hidden layers."""


class NetOptions(NamedTuple):
    """What only values from a network are asked for; `gpbe.predict` says what each means."""

    net: int | Sizes | list[int] | Make = (32, 32)
    basis: str | Numbers | None = None
    ridge: Numbers | None = None
    projection: Numbers | None = None
    n: int | str = 1
    batch: int | None = None
    buffer: int | None = None
    kernel: str | None = None
    width: int | None = None


def read_hyperparameters(a: NonlinearAlgorithm, asked: Asked, n: Length) -> Settings:
    """Check names and ranges against what the algorithm has."""
    if "lam" in asked.hyperparameters and n == 1:
        raise InputError("lam mixes returns within a window of n transitions; give n more than 1 with it")
    return read_settings(a, asked.hyperparameters, Hypers._field_defaults, asked.name)


def read_net(net: Any) -> Sizes | Make:
    """Sizes of hidden layers as a tuple, or a function that makes a module."""
    if callable(net):
        return net
    try:
        sizes = (net,) if is_whole(net) else tuple(net)
        whole = all(int(size) == size and size > 0 for size in sizes)
    except (TypeError, ValueError, OverflowError):
        whole, sizes = False, ()
    if not whole:
        raise InputError(f"net is {net!r}; give the sizes of hidden layers such as (32, 32), or a function of a key")
    return read_sizes(tuple(int(size) for size in sizes), "net")


def read_basis(
    a: NonlinearAlgorithm,
    net: Sizes | Make,
    basis: str | Numbers | None,
    problem: PredictionProblem | Log,
    width: int | None,
) -> tuple[Basis, Array | None]:
    """What h is made of, and the features of H if they are given."""
    kind, phi = _basis(a, net, basis, problem)
    if width is not None and (kind != "network" or callable(net)):
        raise InputError('width is of a network for h that has layers; give basis "network" and sizes of layers too')
    return kind, phi


def _basis(
    a: NonlinearAlgorithm, net: Sizes | Make, basis: str | Numbers | None, problem: PredictionProblem | Log
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
    if basis not in ("head", "network", "gradient"):
        raise unknown("basis of h", basis, ("head", "network", "gradient", "features of H"))
    return basis, None


def read_rows(values: Numbers, name: str, problem: PredictionProblem | Log) -> Array:
    """Features of H: a row for each state of a problem, or for each row of a log."""
    phi, rows = as_floats(values, name), problem.features.shape[0]
    if phi.ndim != 2 or phi.shape[0] != rows or not phi.shape[1]:
        each = "transition" if isinstance(problem, Log) else "state"
        raise InputError(f"{name} has shape {phi.shape}; features of H should be ({rows}, features), a row a {each}")
    return phi


def read_ridge(ridge: Numbers | None, phi: Array | None) -> Float[jax.Array, " M"] | None:
    """A penalty for each given feature of H."""
    if ridge is None:
        return None
    if phi is None:
        raise InputError("ridge penalizes given features of H; give those as basis, or use beta")
    array = as_floats(ridge, "ridge")
    if array.shape not in ((), (phi.shape[1],)) or (array < 0).any():
        raise InputError(f"ridge should be {phi.shape[1]} numbers of 0 or more, one for each feature of H")
    return jnp.broadcast_to(jnp.asarray(array, jnp.float32), (phi.shape[1],))


def read_length(a: NonlinearAlgorithm, n: object, state_lam: Numbers | None) -> Length:
    """Transitions in a return."""
    length: Length = "episode" if isinstance(n, str) and n == "episode" else int(cast(int, n)) if is_whole(n) else 0
    if length != "episode" and length < 1:
        raise InputError(f'n is {n!r}; a return has 1 transition or more, or all to the end of its "episode"')
    if length != 1 and not a.long_returns:
        raise InputError(f"this algorithm is defined for single transitions; n is {n}, leave it out")
    if length == 1 and state_lam is not None:
        raise InputError("state_lam mixes returns within a window of n transitions; give n more than 1 with it")
    return length


def read_kernel(a: NonlinearAlgorithm, kernel: str | None) -> Kernel:
    """The kernel of the kernel loss; others do not look at it."""
    if kernel is None:
        return "gaussian"
    if a.h != "kernel":
        raise InputError("kernel is for kbe, the kernel loss; leave it out")
    check_known(kernel, get_args(Kernel), "kernel")
    return cast(Kernel, kernel)


def read_buffer(a: NonlinearAlgorithm, batch: int | None, buffer: int | None) -> int:
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


def check_filled(batch: int | None, steps: int) -> None:
    """A batch must be filled before the last step."""
    if batch is not None and batch > steps:
        raise InputError(f"batch is {batch}, but there are {steps} steps; learning begins when a batch can be filled")
