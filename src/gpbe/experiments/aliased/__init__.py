"""Two states that look alike: what the solution does to the states after them, as H tells them apart (section 5.1)."""

from gpbe.experiments.study import DeclaredStudy, Shown, whole

DECLARED = (
    DeclaredStudy(
        "aliased",
        "values of the 4-state aliased example, as H grows from F to everything",
        "sets H",
        whole(f"{__name__}.computation:run", smoke=21, quick=101, paper=101),
        section="5.1",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
