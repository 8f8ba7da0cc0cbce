"""Tsitsiklis and Van Roy's spiral (1997, section X): on-policy TD diverges with a nonlinear value function."""

from gpbe.experiments.spiral.computation import pieces
from gpbe.experiments.study import DeclaredStudy, Shown

DECLARED = (
    DeclaredStudy(
        "spiral",
        "Tsitsiklis and Van Roy's spiral: which updates diverge with a nonlinear value function",
        "runs",
        pieces,
        seconds=(4.0, 0.15),
        section="4.4",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
