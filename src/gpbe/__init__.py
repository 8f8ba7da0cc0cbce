"""Off-policy value estimation with the generalized projected Bellman error."""

from typing import TYPE_CHECKING, Any

from gpbe.errors import InputError

if TYPE_CHECKING:
    from gpbe import callbacks, exact, features, mdp
    from gpbe.evaluation import Evaluation, evaluate
    from gpbe.learn.control.trained import TrainedAgent, load
    from gpbe.learn.predict import predict
    from gpbe.learn.prediction import Prediction
    from gpbe.learn.settings import grid
    from gpbe.learn.train import Training, train

__version__ = "0.1.0.dev0"
__all__ = [
    "Evaluation",
    "InputError",
    "Prediction",
    "TrainedAgent",
    "Training",
    "callbacks",
    "evaluate",
    "exact",
    "features",
    "grid",
    "load",
    "mdp",
    "predict",
    "train",
]

_MODULES = ("callbacks", "exact", "features", "mdp")
_HOMES = {
    "predict": "gpbe.learn.predict",
    "Prediction": "gpbe.learn.prediction",
    "evaluate": "gpbe.evaluation",
    "Evaluation": "gpbe.evaluation",
    "grid": "gpbe.learn.settings",
    "train": "gpbe.learn.train",
    "Training": "gpbe.learn.train",
    "load": "gpbe.learn.control.trained",
    "TrainedAgent": "gpbe.learn.control.trained",
}


def __getattr__(name: str) -> Any:
    """Everything is imported when it is first used, so that nobody waits for what they do not use."""
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"gpbe.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'gpbe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
