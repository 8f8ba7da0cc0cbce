"""The aliased example, learned by a network: H = F, an H in between, an H of every function (section 5.1)."""

from gpbe.experiments.aliased_learned.computation import pieces
from gpbe.experiments.study import DeclaredStudy, Shown

DECLARED = (
    DeclaredStudy(
        "aliased-learned",
        "the aliased states learned by a network, as H grows from F to everything",
        "runs",
        pieces,
        seconds=(5.0, 0.2),
        section="5.1",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
