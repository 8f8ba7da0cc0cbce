"""Baird's star, run by run: TD diverges from values that it could represent, gradient methods do not."""

from gpbe.experiments.baird.computation import pieces
from gpbe.experiments.study import DeclaredStudy, Shown

DECLARED = (
    DeclaredStudy(
        "baird",
        "runs on Baird's star: TD diverges, gradient methods do not",
        "runs",
        pieces,
        seconds=(1.5, 0.02),
        section="6.1",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
