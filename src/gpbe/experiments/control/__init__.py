"""The paper's control experiments (section 9): four sweeps, and the figures that put them together."""

from collections.abc import Callable
from functools import partial

import polars as pl

from gpbe.analysis.stored import Stored
from gpbe.experiments.control.computation import (
    best_runs,
    example_notes,
    example_runs,
    notes,
    runs_by_step_size,
    settings,
    tuned_curves,
    tuned_notes,
    vote_notes,
    voted_curves,
)
from gpbe.experiments.control.design import LANDER, DeclaredSweep
from gpbe.experiments.experiment import Scale
from gpbe.experiments.sweep import Sweep
from gpbe.figures import FigureSpec, Notes

BAKEOFF = ("q-learning", "qrc", "qc-ll", "sbeed")
FORMS = ("qrc", "gq", "gq-grad")
BASES = ("qrc", "qrc-sep", "qrc-grad")
UPDATES = ("qrc", "sbeed-q", "tdrc-pg", "sbeed")
"""Action values first."""


def _figure(
    name: str,
    describe: str,
    draw: str,
    algorithms: tuple[str, ...],
    table: Callable[..., pl.DataFrame],
    said: Callable[..., Notes],
    needs: tuple[str, ...] = (),
    **options: object,
) -> FigureSpec:
    """A figure of some algorithms; `options` say how their settings are chosen."""

    def made(stored: Stored) -> pl.DataFrame:
        return table(stored, algorithms, **options)

    return FigureSpec(
        name,
        describe,
        ("bakeoff", *needs),
        f"{__name__}.drawing:{draw}",
        made,
        partial(said, algorithms=algorithms, **options),
        "Control",
    )


DECLARED = (
    DeclaredSweep(
        "bakeoff",
        "Q-learning, QRC, QC-LL and SBEED on four domains",
        BAKEOFF,
        "9.2",
        (
            _figure(
                "bakeoff",
                "learning curves in four domains, with the one setting an algorithm that wins a Condorcet vote",
                "draw_bakeoff",
                BAKEOFF,
                voted_curves,
                vote_notes,
            ),
            _figure(
                "hyperparameters",
                "how mean return is spread over hyperparameter settings, in each domain",
                "draw_hyperparameters",
                BAKEOFF,
                settings,
                notes,
            ),
            _figure(
                "runs",
                "how return is spread over runs in one domain (Lunar Lander if it ran), with the best settings",
                "draw_runs",
                BAKEOFF,
                example_runs,
                example_notes,
            ),
            _figure(
                "step-sizes",
                "how return is spread over runs for every step size, in each domain",
                "draw_step_sizes",
                BAKEOFF,
                runs_by_step_size,
                notes,
            ),
            _figure(
                "tuned",
                "learning curves in four domains, with the best setting of each domain",
                "draw_tuned",
                BAKEOFF,
                tuned_curves,
                tuned_notes,
            ),
            _figure(
                "without-lunar-lander",
                "learning curves with the setting that wins a Condorcet vote in which Lunar Lander has no say",
                "draw_without_lander",
                BAKEOFF,
                voted_curves,
                vote_notes,
                leave_out=(LANDER,),
            ),
            _figure(
                "runoff",
                "learning curves with the setting that wins an instant runoff of the domains",
                "draw_runoff",
                BAKEOFF,
                voted_curves,
                vote_notes,
                method="instant-runoff",
            ),
        ),
    ),
    DeclaredSweep(
        "saddlepoint",
        "the saddlepoint form, with h on features and on gradients",
        ("gq", "gq-grad"),
        "9.4",
        (
            _figure(
                "saddlepoint",
                "gradient correction against saddlepoint updates: returns of runs in each domain",
                "draw_saddlepoint",
                FORMS,
                best_runs,
                tuned_notes,
                ("saddlepoint",),
            ),
        ),
    ),
    DeclaredSweep(
        "basis",
        "h as a network of its own, or linear in the gradient of q",
        ("qrc-sep", "qrc-grad"),
        "9.5",
        (
            _figure(
                "basis",
                "a shared network, a separate one, or gradient features for h: returns of runs in each domain",
                "draw_basis",
                BASES,
                best_runs,
                tuned_notes,
                ("basis",),
            ),
        ),
    ),
    DeclaredSweep(
        "policies",
        "SBEED on action values, and TDRC with a policy",
        ("sbeed-q", "tdrc-pg"),
        "9.6",
        (
            _figure(
                "policies",
                "action values against parameterized policies: mean return over hyperparameter settings",
                "draw_policies",
                UPDATES,
                settings,
                notes,
                ("policies",),
            ),
        ),
    ),
)
MEMBERS = {declared.name: declared.algorithms for declared in DECLARED}
"""The sweeps, and the algorithms that each of them runs."""


def sweep(name: str, scale: Scale) -> Sweep:
    """One of the four, at a scale.

    >>> s = sweep("bakeoff", "paper")
    >>> s.settings, f"{s.work:.3g}"
    (972, '3.89e+10')
    """
    return next(declared for declared in DECLARED if declared.name == name).at(scale)
