"""The paper's experiments but for those of control, by name."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gpbe.experiments import aliased_learned, baird, identifiability_learned, prediction, random_walk, spiral
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece, Study, fixed, whole


class Entry(NamedTuple):
    describe: str
    unit: str
    pieces: Callable[[Scale], Iterable[Piece]]
    seconds: tuple[float, float] = (0.1, 0.0)
    """What a call costs, compiling included, and what a unit of work adds, on one core; for estimates."""


STUDIES: dict[str, Entry] = {
    "random-walk": Entry(
        "value error of the fixed points of PBE and BE under three weightings, 19-state random walk",
        "draws",
        random_walk.pieces,
        seconds=(0.0, 2.5e-4),
    ),
    "kolter": Entry(
        "value error over all behaviors of Kolter's example, as H grows from F to everything",
        "behaviors",
        whole("kolter:run", smoke=200, quick=1000, paper=4000),
    ),
    "aliased": Entry(
        "values of the 4-state aliased example, as H grows from F to everything",
        "sets H",
        whole("aliased:run", smoke=21, quick=101, paper=101),
    ),
    "tde-bias": Entry(
        "the minimum of the TD error misses v_pi on the 5-state walk, even with a table",
        "states",
        whole("tde_bias:run", smoke=5, quick=5, paper=5),
    ),
    "geometry-projection": Entry(
        "the Bellman operator and the projection, repeated, as points of a three-state problem",
        "iterations",
        whole("geometry:projection", smoke=6, quick=6, paper=6),
    ),
    "geometry-objectives": Entry(
        "the solutions of PBE and BE and their projection penalties, as points of a three-state problem",
        "solutions",
        fixed("geometry:objectives", 3),
    ),
    "geometry-sets": Entry(
        "the sets F and H: one a part of the other, or crossing, in a three-state problem",
        "cases",
        fixed("geometry:sets", 2),
    ),
    "weightings": Entry(
        "the behavior's, the target's and the emphatic weighting on the 5-state walk and Baird's star",
        "problems",
        fixed("weightings:run", 2),
    ),
    "corrections": Entry(
        "traces with posterior and with prior corrections, transition by transition",
        "transitions",
        fixed("corrections:run", 5),
    ),
    "baird": Entry("runs on Baird's star: TD diverges, gradient methods do not", "runs", baird.pieces, (1.5, 0.02)),
    "prediction": Entry(
        "linear prediction on six problems: seven algorithms over step sizes and ratios",
        "runs",
        prediction.pieces,
        (1.2, 4.6e-4),
    ),
    "spiral": Entry(
        "Tsitsiklis and Van Roy's spiral: which updates diverge with a nonlinear value function",
        "runs",
        spiral.pieces,
        (4.0, 0.15),
    ),
    "identifiability-learned": Entry(
        "two problems with the same data: what each method learns in them",
        "runs",
        identifiability_learned.pieces,
        (5.0, 0.15),
    ),
    "aliased-learned": Entry(
        "the aliased states learned by a network, as H grows from F to everything",
        "runs",
        aliased_learned.pieces,
        (5.0, 0.2),
    ),
}


def study(name: str, scale: Scale) -> Study:
    """One of them, at a scale."""
    entry = STUDIES[name]
    return Study(name, entry.describe, entry.unit, scale, tuple(entry.pieces(scale)))
