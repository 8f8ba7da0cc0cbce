"""Runs tables with a known truth: returns of invented runs, as a sweep would store them."""

import itertools
import zlib

import numpy as np
import polars as pl

DOMAINS = {
    "MountainCar-v0": (-1000, -120),
    "Acrobot-v1": (-500, -85),
    "CartPole-v1": (20, 480),
    "LunarLander-v3": (-200, 180),
}
"""The return of a hopeless and of a good agent."""
GRIDS = {
    "q-learning": {"step_size": 6, "tau": 6},
    "qrc": {"step_size": 6, "tau": 6},
    "qc-ll": {"step_size": 6, "tau": 6},
    "sbeed": {"step_size": 6, "tau": 6, "eta": 4, "nu": 6},
    "gq": {"step_size": 6, "tau": 6, "beta": 4},
    "gq-grad": {"step_size": 6, "tau": 6, "beta": 4},
    "qrc-sep": {"step_size": 6, "tau": 6, "width": 4},
    "qrc-grad": {"step_size": 6, "tau": 6},
    "sbeed-q": {"step_size": 6, "tau": 6, "eta": 4},
    "tdrc-pg": {"step_size": 6, "nu": 6},
}
VALUES = {
    "step_size": [2.0**k for k in range(-12, -6)],
    "tau": [0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
    "beta": [0.0, 0.5, 1.0, 1.5],
    "eta": [1e-3, 1e-2, 1e-1, 1.0],
    "nu": [2.0**k for k in range(-4, 2)],
    "width": [8.0, 16.0, 32.0, 64.0],
}
SKILL = {
    "q-learning": (0.85, 0.1, 0.5),
    "qrc": (0.97, 0.03, 0.15),
    "qc-ll": (0.75, 0.12, 0.5),
    "sbeed": (0.5, 0.2, 0.9),
    "gq": (0.4, 0.2, 0.6),
    "gq-grad": (0.5, 0.18, 0.6),
    "qrc-sep": (0.93, 0.05, 0.2),
    "qrc-grad": (0.99, 0.03, 0.15),
    "sbeed-q": (0.7, 0.1, 0.6),
    "tdrc-pg": (0.85, 0.15, 0.6),
}
"""How well the best setting does, from 0 (hopeless) to 1 (good); its spread over runs; what a poor setting loses."""


def runs(algorithms, domains=tuple(DOMAINS), *, n=3, points=30, every=500, step_sizes=6, others=1, skill=None):
    """A runs table. The best setting is the one in the middle of every hyperparameter that is swept.

    `step_sizes` and `others` say how many values of the step size, and of each other hyperparameter, are tried.
    """
    frames = []
    for algorithm, domain in itertools.product(algorithms, domains):
        low, high = DOMAINS[domain]
        best, spread, loss = {**SKILL, **(skill or {})}[algorithm]
        axes = {k: VALUES[k][: step_sizes if k == "step_size" else others] for k in GRIDS[algorithm]}
        rng = np.random.default_rng(zlib.crc32(f"{algorithm} {domain}".encode()))
        for setting, values in enumerate(itertools.product(*axes.values())):
            off = sum(
                abs(axes[k].index(v) - len(axes[k]) // 2) / max(1, len(axes[k]))
                for k, v in zip(axes, values, strict=True)
            )
            level = np.clip(rng.normal(best - loss * off, spread, (n, 1)), 0.0, 1.05)
            t = np.linspace(0, 1, points)
            rise = level * (1 - np.exp(-6 * t)) + rng.normal(0, 0.02, (n, points))
            frames.append(
                pl.DataFrame(
                    {
                        "domain": domain,
                        "algorithm": algorithm,
                        "setting": setting,
                        **{k: None for k in VALUES},
                        **dict(zip(axes, values, strict=True)),
                        "run": np.arange(n),
                        "every": every,
                        "returns": (low + (high - low) * rise).astype(np.float32).tolist(),
                        "diverged_at": -1,
                    },
                    schema_overrides={**{k: pl.Float64 for k in VALUES}, "returns": pl.List(pl.Float32)},
                )
            )
    return pl.concat(frames)


def sweeps(**options):
    """Runs tables of all four experiments."""
    from gpbe.experiments.control import MEMBERS

    return {name: runs(algorithms, **options) for name, algorithms in MEMBERS.items()}
