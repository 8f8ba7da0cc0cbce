"""What makes steps of gradients; the step size is applied elsewhere."""

from collections.abc import Callable, Mapping
from typing import Any

import optax

from gpbe.errors import InputError
from gpbe.learn.control.learning import Learning

OPTIMIZERS: Mapping[str, Callable[[], optax.GradientTransformation]] = {
    "adam": lambda: optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8),
    "rmsprop": lambda: optax.scale_by_rms(decay=0.99, eps=1e-8),
    "sgd": optax.identity,
}


def optimizer_of(learning: Learning) -> optax.GradientTransformation:
    """The optimizer of that name, or what the user's own function makes."""
    make = learning.optimizer
    made: Any = OPTIMIZERS[make]() if isinstance(make, str) else make()
    if not (callable(getattr(made, "init", None)) and callable(getattr(made, "update", None))):
        raise InputError(f"optimizer makes a {type(made).__name__}; it should make an optax.GradientTransformation")
    return made
