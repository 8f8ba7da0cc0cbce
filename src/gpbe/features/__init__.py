"""Features: arrays with one row a state, ready for `PredictionProblem(..., features=X)`.

Random families take `rng` (a seed or a generator) and `batch`, the leading axes of the answer.
"""

from gpbe.features.aggregate import aggregation, equal_bins
from gpbe.features.binary import random_binary
from gpbe.features.classic import dependent, inverted, tabular
from gpbe.features.network import random_network
from gpbe.features.plane import interpolation
from gpbe.features.tiles import tile_coding

__all__ = [
    "aggregation",
    "dependent",
    "equal_bins",
    "interpolation",
    "inverted",
    "random_binary",
    "random_network",
    "tabular",
    "tile_coding",
]
