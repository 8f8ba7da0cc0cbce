"""Two problems that no data can tell apart, learned from data (Sutton and Barto 2018, section 11.6; paper, 4.2)."""

from gpbe.experiments.identifiability_learned.computation import pieces
from gpbe.experiments.study import DeclaredStudy, Shown

DECLARED = (
    DeclaredStudy(
        "identifiability-learned",
        "two problems with the same data: what each method learns in them",
        "runs",
        pieces,
        seconds=(5.0, 0.15),
        section="4.2",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
