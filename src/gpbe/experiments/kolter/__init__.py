"""Kolter's example: the value error of each solution over all behaviors, as H grows (paper, section 5.1)."""

from gpbe.experiments.study import DeclaredStudy, Shown, whole

DECLARED = (
    DeclaredStudy(
        "kolter",
        "value error over all behaviors of Kolter's example, as H grows from F to everything",
        "behaviors",
        whole(f"{__name__}.computation:run", smoke=200, quick=1000, paper=4000),
        section="5.1",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
