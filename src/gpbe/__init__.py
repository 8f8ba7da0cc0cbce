"""Off-policy value estimation with the generalized projected Bellman error."""

from typing import TYPE_CHECKING

from gpbe import exact, features, mdp
from gpbe.errors import InputError
from gpbe.lazy import all_names, imported_when_used

if TYPE_CHECKING:
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
# Names that need JAX are imported when first used, so that the exact side starts at once.
__getattr__ = imported_when_used(__name__, _HOMES)
__dir__ = all_names(__name__)
