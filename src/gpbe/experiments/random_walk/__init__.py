"""Fixed points on the 19-state random walk under random policies and representations (paper, section 5.1)."""

from gpbe.experiments.random_walk.computation import pieces, table
from gpbe.experiments.study import DeclaredStudy, Shown

DECLARED = (
    DeclaredStudy(
        "random-walk",
        "value error of the fixed points of PBE and BE under three weightings, 19-state random walk",
        "draws",
        pieces,
        seconds=(0.0, 2.5e-4),
        section="5.1",
        shown=(Shown(f"{__name__}.drawing:draw", table),),
    ),
)
