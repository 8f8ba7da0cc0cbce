"""Gradient correction (QRC) against saddlepoint updates (paper, section 9.4)."""

from gpbe.figures.control import runs
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import Sweeps

ALGORITHMS = ("qrc", "gq", "gq-grad")


def draw(sweeps: Sweeps) -> Drawing:
    title = "Gradient correction (QRC) and saddlepoint (GQ, GQ-Grad): runs of the best settings (dashed: mean)"
    return runs.stacks(sweeps, ALGORITHMS, title)
