"""What makes steps of gradients; the step size is applied elsewhere."""

from collections.abc import Callable, Mapping

import optax

from gpbe.learn.control.learning import Learning

OPTIMIZERS: Mapping[str, Callable[[], optax.GradientTransformation]] = {
    "adam": lambda: optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8),
    "rmsprop": lambda: optax.scale_by_rms(decay=0.99, eps=1e-8),
    "sgd": optax.identity,
}


def optimizer_of(learning: Learning) -> optax.GradientTransformation:
    """The one of that name, or the user's own."""
    make = learning.optimizer
    return OPTIMIZERS[make]() if isinstance(make, str) else make()
