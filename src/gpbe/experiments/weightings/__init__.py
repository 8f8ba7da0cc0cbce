"""Which states the weightings care about: the behavior's, the target's and the emphatic one, on two problems."""

from gpbe.experiments.study import DeclaredStudy, Shown, fixed

DECLARED = (
    DeclaredStudy(
        "weightings",
        "the behavior's, the target's and the emphatic weighting on the 5-state walk and Baird's star",
        "problems",
        fixed(f"{__name__}.computation:run", 2),
        section="3.4",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
