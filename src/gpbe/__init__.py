"""Off-policy value estimation with the generalized projected Bellman error."""

from typing import TYPE_CHECKING

from gpbe.errors import InputError
from gpbe.lazy import all_names, imported_when_used

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

_HOMES = {
    **{module: f"gpbe.{module}" for module in ("callbacks", "exact", "features", "mdp")},
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
# Everything is imported when it is first used, so that nobody waits for what they do not use.
__getattr__ = imported_when_used(__name__, _HOMES)
__dir__ = all_names(__name__)
