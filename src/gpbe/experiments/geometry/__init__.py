"""Values as points of space: the projections, operators and solutions of one problem with three states."""

from gpbe.experiments.study import DeclaredStudy, Shown, fixed, whole

DECLARED = (
    DeclaredStudy(
        "geometry-projection",
        "the Bellman operator and the projection, repeated, as points of a three-state problem",
        "iterations",
        whole(f"{__name__}.computation:projection", smoke=6, quick=6, paper=6),
        section="4.1",
        shown=(Shown(f"{__name__}.drawing:draw_projection"),),
    ),
    DeclaredStudy(
        "geometry-objectives",
        "the solutions of PBE and BE and their projection penalties, as points of a three-state problem",
        "solutions",
        fixed(f"{__name__}.computation:objectives", 3),
        section="4.1",
        shown=(Shown(f"{__name__}.drawing:draw_objectives"),),
    ),
    DeclaredStudy(
        "geometry-sets",
        "the sets F and H: one a part of the other, or crossing, in a three-state problem",
        "cases",
        fixed(f"{__name__}.computation:sets", 2),
        section="4.4",
        shown=(Shown(f"{__name__}.drawing:draw_sets"),),
    ),
)
