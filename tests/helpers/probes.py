"""Several probes as one environment, so that one training learns the values of all of them."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import block_diag

from gpbe.envs.probes import Probe


def side_by_side(makers: Sequence[Callable[[], Probe]]) -> Probe:
    """Episodes begin in any of the probes; each has its own part of the observation. The last action fills up.

    All of them end within two steps, or are cut off after three.
    """
    parts = [make() for make in makers]
    actions = max(part.actions for part in parts)
    first = np.cumsum([0, *(len(part.rewards) for part in parts)])

    def joined(tables) -> np.ndarray:
        widened = [np.pad(table, ((0, 0), (0, actions - table.shape[1])), mode="edge") for table in tables]
        return np.concatenate(widened)

    return Probe(
        name="side by side",
        observations=block_diag(*(part.observations for part in parts)),
        following=joined([part.following + k for part, k in zip(parts, first, strict=False)]),
        rewards=joined([part.rewards for part in parts]),
        ends=joined([part.ends for part in parts]),
        values=lambda gamma: joined([part.q(gamma) for part in parts]),
        starts=tuple(int(s + k) for part, k in zip(parts, first, strict=False) for s in part.starts),
        cutoff=3,
    )


def fixed_point(probe: Probe, gamma: float, value: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """q = R + gamma value(q(S', .)) where the episode goes on, by iteration; `value` is of the actions' axis."""
    q = np.zeros(probe.rewards.shape)
    for _ in range(500):
        q = probe.rewards + gamma * ~probe.ends * value(q)[probe.following]
    return q
