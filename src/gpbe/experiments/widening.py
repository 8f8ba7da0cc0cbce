"""Projection sets between H = F (the linear PBE) and H = F and one direction more.

Let e be orthogonal to F and of length 1, both under d. A ridge r on e alone leaves F free, and of the error along e
it counts the share 1 / (1 + r):

    PBE_r(v) = PBE_F(v) + <e, T v - v>_d^2 / (1 + r).

So an infinite ridge is H = F and a ridge of 0 is H = span(F, e). Where F and e together are everything the second
term is the whole projection penalty, and the ridge moves the objective from the PBE to the BE.
"""

import numpy as np

from gpbe import exact
from gpbe.exact.weightings import as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Features, Numbers, PerState


def widened(problem: PredictionProblem, direction: Numbers, d: Numbers) -> Features:
    """Features of span(F, e): those of F, then e, what `direction` has outside F, at length 1 under d.

    >>> from gpbe import mdp
    >>> widened(mdp.aliased(), [1, 0, 0, 0], [0.25] * 4)[:, 3].round(3)
    array([ 1.414, -1.414,  0.   ,  0.   ])
    """
    d = as_weighting(problem, d)
    direction = np.asarray(direction, dtype=float)
    outside = direction - (exact.projection_matrix(problem.features, d) @ direction[..., None])[..., 0]
    e = outside / np.asarray(exact.norm(outside, d))[..., None]
    batch = np.broadcast_shapes(problem.features.shape[:-1], e.shape)
    return np.concatenate(
        [np.broadcast_to(part, (*batch, part.shape[-1])) for part in (problem.features, e[..., None])], axis=-1
    )


def widened_solution(problem: PredictionProblem, features: Features, d: Numbers, ridge: float) -> PerState:
    """The values that minimize the PBE when the last of `features` carries a ridge."""
    penalty = np.zeros(features.shape[-1])
    penalty[-1] = ridge
    return exact.solution(problem, "pbe", d, projection=features, ridge=penalty).values
