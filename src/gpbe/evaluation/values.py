"""Values that estimators start from: what they are asked, and those that are linear in features."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from gpbe.evaluation.walk import Walk
from gpbe.mdp import Log
from gpbe.shapes import Array

FOLDS = 5


@runtime_checkable
class Values(Protocol):
    """Values for each fold: those of a fold were learned without its groups, so that no episode judges itself."""

    def of(self, walk: Walk) -> tuple[Array, Array, Array]:
        """Values of each row's state, of its state and action, and of its next state."""
        ...


def without_folds(groups: int) -> Float[Array, "folds G"]:
    """How often each group counts for the values of each fold; always once if there are too few to leave any out."""
    kept = np.arange(groups) % FOLDS != np.arange(FOLDS)[:, None]
    return (kept | (groups <= FOLDS)).astype(float)


class LinearValues(NamedTuple):
    """Weights of features for each fold."""

    weights: Float[Array, "folds D"]
    actions: bool
    """Whether these are action values: weights of the features for each action, one action after the other."""

    def of(self, walk: Walk) -> tuple[Array, Array, Array]:
        log, w = walk.log, self.weights[walk.group % len(self.weights)]
        if not self.actions:
            now = (log.features * w).sum(1)
            return now, now, (log.next_features * w).sum(1)
        now, chosen, following = action_features(log)
        return (now * w).sum(1), (chosen * w).sum(1), (np.nan_to_num(following) * w).sum(1)


def action_features(log: Log) -> tuple[Array, Array, Array]:
    """Features for action values: averaged over the target's actions, of the action taken, and averaged next."""
    assert log.policy is not None
    assert log.next_policy is not None
    assert log.action is not None
    taken = np.eye(log.policy.shape[1])[log.action]
    return tuple(
        (chances[:, :, None] * x[:, None, :]).reshape(len(log), -1)
        for chances, x in ((log.policy, log.features), (taken, log.features), (log.next_policy, log.next_features))
    )  # pyright: ignore[reportReturnType]
