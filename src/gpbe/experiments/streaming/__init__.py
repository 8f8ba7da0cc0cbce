"""Learning by streams: traces without replay, on the paper's domains and on MinAtar (Elelimy et al. 2025).

A sweep of step sizes and lambdas, and after it fresh runs of what it chose on MinAtar, which judge (`verdict`).
The sweep has all lambdas only where runs cost little; elsewhere it has what a choice is made from.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import polars as pl

from gpbe.algorithms.control.table import ALGORITHMS as TABLE
from gpbe.analysis.stored import Stored
from gpbe.envs.domains import PAPER, domain_of
from gpbe.experiments.control.computation import Names, notes, sensitivities, tuned_curves, tuned_notes
from gpbe.experiments.control.design import DeclaredSweep, Grid
from gpbe.experiments.experiment import Scale
from gpbe.experiments.streaming.verdict import GAMES, LAM, WITHOUT_TRACES, Verdict
from gpbe.experiments.sweep import Swept
from gpbe.figures import FigureSpec, Notes
from gpbe.learn.control.learning import STREAMING

ALGORITHMS = ("q-lambda", "qc-lambda", "qrc-lambda", "gq-lambda", "stream-q")
DOMAINS = (*PAPER, *GAMES)
CHEAP = tuple(name for name in PAPER if not domain_of(name).host)
"""Domains with all lambdas: small networks, and no environment on the host."""
STEP_SIZES = {"smoke": (1e-4, 1e-3), "quick": (1e-4, 1e-3), "paper": (1e-5, 1e-4, 1e-3)}
OVERSHOOTING = {"smoke": (1.0,), "quick": (1.0,), "paper": (0.1, 1.0, 10.0)}
"""Step sizes of Stream Q, which shortens its steps itself."""
LAMBDAS = {"smoke": (0.8,), "quick": (0.8,), "paper": (0.0, 0.8, 0.95)}
RATIO = 0.1
"""h learns at a tenth of q's step size, as in the 2025 paper."""


def _explored(steps: int) -> dict[str, float]:
    """Exploration that falls to 0.01 over the first fifth of the steps, as in both papers on streams."""
    return {"epsilon": 1.0, "epsilon_final": 0.01, "epsilon_steps": steps / 5}


SIZES: Mapping[Scale, Mapping[str, Any]] = {
    "smoke": {
        "domains": ("CartPole-v1", "Breakout-MinAtar"),
        "runs": 2,
        "steps": 600,
        "every": 100,
        "options": {"hidden": [8], **STREAMING, **_explored(600)},
    },
    "quick": {"domains": DOMAINS, "runs": 2, "steps": 20_000, "options": {**STREAMING, **_explored(20_000)}},
    "paper": {"domains": DOMAINS, "runs": 2, "steps": 80_000, "options": {**STREAMING, **_explored(80_000)}},
}


def grid(algorithm: str, scale: Scale) -> Grid:
    """Step sizes and lambdas; those with h have it learn more slowly."""
    sizes = OVERSHOOTING if algorithm == "stream-q" else STEP_SIZES
    more = {"ratio": (RATIO,)} if "ratio" in TABLE[algorithm].hyperparameters else {}
    return {"step_size": sizes[scale], "lam": LAMBDAS[scale]} | more


def share(algorithm: str, grid: Grid, domains: tuple[str, ...]) -> tuple[Swept, ...]:
    """The whole grid in cheap domains; in the others lambda 0.8, and 0 where that is judged too."""
    cheap = tuple(name for name in domains if name in CHEAP)
    others = tuple(name for name in domains if name not in CHEAP)
    lambdas = (LAM, 0.0) if algorithm in WITHOUT_TRACES else (LAM,)
    only = tuple(k for k, setting in Swept(algorithm, grid).numbered().items() if setting["lam"] in lambdas)
    parts = (Swept(algorithm, grid, domains=cheap), Swept(algorithm, grid, domains=others, only=only))
    return tuple(part for part in parts if part.domains)


def lambdas_where_swept(stored: Stored, algorithms: Names) -> pl.DataFrame:
    """How return depends on lambda in the domains that have all of them."""
    return sensitivities(stored, algorithms, "lam").filter(pl.col("domain").is_in(CHEAP))


def _figure(
    name: str,
    describe: str,
    draw: str,
    table: Callable[..., pl.DataFrame],
    said: Callable[..., Notes],
    domains: Names = DOMAINS,
) -> FigureSpec:
    made = partial(table, algorithms=ALGORITHMS)
    about = partial(said, algorithms=ALGORITHMS, domains=domains)
    return FigureSpec(name, describe, ("streaming",), f"{__name__}.drawing:{draw}", made, about, "Control")


DECLARED = (
    DeclaredSweep(
        "streaming",
        "traces without replay: Q, QC, QRC, GQ and Stream Q on eight domains",
        ALGORITHMS,
        "",
        (
            _figure(
                "streaming",
                "learning curves of methods with traces and without replay, with the best setting of each domain",
                "draw_streaming",
                tuned_curves,
                tuned_notes,
            ),
            _figure(
                "streaming-step-sizes",
                "how return depends on the step size, with the best lambda for each",
                "draw_step_sizes",
                partial(sensitivities, hyperparameter="step_size"),
                notes,
            ),
            _figure(
                "streaming-lambdas",
                "how return depends on lambda in three of the paper's domains, with the best step size for each",
                "draw_lambdas",
                lambdas_where_swept,
                notes,
                CHEAP,
            ),
        ),
        grid,
        SIZES,
        share,
    ),
)
STAGED = (Verdict(DECLARED[0]),)
