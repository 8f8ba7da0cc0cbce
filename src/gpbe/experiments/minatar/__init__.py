"""MinAtar's five games with replay: the paper's action-value methods on images (Young & Tian 2019)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from gpbe.envs.domains import MINATAR
from gpbe.experiments.control.computation import tuned_curves, tuned_notes
from gpbe.experiments.control.design import DeclaredSweep, Grid
from gpbe.experiments.experiment import Scale
from gpbe.figures import FigureSpec

ALGORITHMS = ("q-learning", "qrc", "qc-ll")
STEP_SIZES = {"smoke": (2.0**-11,), "quick": (2.0**-12, 2.0**-10), "paper": (2.0**-12, 2.0**-10)}
SIZES: Mapping[Scale, Mapping[str, Any]] = {
    "smoke": {
        "domains": ("Breakout-MinAtar",),
        "runs": 2,
        "steps": 600,
        "every": 100,
        "options": {"hidden": [8]},
    },
    "quick": {"domains": MINATAR, "runs": 2, "steps": 4_000},
    "paper": {"domains": MINATAR, "runs": 2, "steps": 40_000},
}
"""The largest is what two cores do in about an hour, and far from the five million steps of the benchmark's authors: a
look at how learning begins, which no claim rests on (docs/traces.md)."""


def grid(algorithm: str, scale: Scale) -> Grid:
    """Step sizes; the maximum is hard."""
    return {"step_size": STEP_SIZES[scale]}


DECLARED = (
    DeclaredSweep(
        "minatar",
        "Q-learning, QRC and QC-LL with replay on MinAtar's five games",
        ALGORITHMS,
        "",
        (
            FigureSpec(
                "minatar",
                "learning curves on MinAtar's games with replay, with the best step size of each game",
                ("minatar",),
                f"{__name__}.drawing:draw_minatar",
                partial(tuned_curves, algorithms=ALGORITHMS),
                partial(tuned_notes, algorithms=ALGORITHMS, domains=MINATAR),
                "Control",
            ),
        ),
        grid,
        SIZES,
    ),
)
