"""The bias of the TD error: on a walk with a table its minimum is not v_pi (paper, appendix B)."""

from gpbe.experiments.study import DeclaredStudy, Shown, whole

DECLARED = (
    DeclaredStudy(
        "tde-bias",
        "the minimum of the TD error misses v_pi on the 5-state walk, even with a table",
        "states",
        whole(f"{__name__}.computation:run", smoke=5, quick=5, paper=5),
        section="B",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
