"""What h is made of: a head of the shared network, a network of its own, or gradient features (paper, section 9.5)."""

from gpbe.figures.control import runs
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import Sweeps

ALGORITHMS = ("qrc", "qrc-sep", "qrc-grad")


def draw(sweeps: Sweeps) -> Drawing:
    title = "h shared (QRC), separate (QRC-Sep), of gradients (QRC-Grad): runs of the best settings (dashed: mean)"
    return runs.stacks(sweeps, ALGORITHMS, title)
