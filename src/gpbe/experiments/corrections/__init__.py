"""Prior and posterior corrections, trace by trace (paper, appendix A)."""

from gpbe.experiments.study import DeclaredStudy, Shown, fixed

DECLARED = (
    DeclaredStudy(
        "corrections",
        "traces with posterior and with prior corrections, transition by transition",
        "transitions",
        fixed(f"{__name__}.computation:run", 5),
        section="A",
        shown=(Shown(f"{__name__}.drawing:draw"),),
    ),
)
