"""Outliers in Bellman errors spoil squared losses and not robust ones (Patterson, Liao and White 2022)."""

from gpbe.experiments.robust.computation import pieces
from gpbe.experiments.study import DeclaredStudy, Shown

DECLARED = (
    DeclaredStudy(
        "robust",
        "values learned in spite of outliers, with squared, Huber and absolute Bellman errors",
        "draws and runs",
        pieces,
        seconds=(4.0, 0.5),
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
