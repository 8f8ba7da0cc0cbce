"""What the paper's control experiments share: domains, grids and sizes at three scales (section 9.1).

Four sweeps have this design: the paper's domains, step sizes in powers of two, mellowmax with tau from 0 (the hard max)
to 1, and what else an algorithm has. Each holds algorithms that no other has; figures put them together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpbe.algorithms.control.table import ALGORITHMS
from gpbe.envs.domains import PAPER
from gpbe.experiments.experiment import Scale
from gpbe.experiments.sweep import Sweep, Swept
from gpbe.figures import FigureSpec

LANDER = "LunarLander-v3"
"""The domain that has no vote in one of the figures, and whose runs another shows."""

Grid = Mapping[str, tuple[float, ...]]
QUICK: Grid = {
    "step_size": (2.0**-11, 2.0**-9, 2.0**-7),
    "tau": (0.0, 0.1),
    "beta": (0.0, 1.0),
    "eta": (0.1, 1.0),
    "nu": (1.0,),
    "width": (0.5, 2.0),
}
"""What the quick scale keeps of the paper's grid, if an algorithm sweeps it there."""
SMOKE: Grid = {"step_size": (2.0**-9, 2.0**-7)} | {k: QUICK[k][-1:] for k in QUICK if k != "step_size"}
SIZES: Mapping[Scale, Mapping[str, Any]] = {
    "smoke": {
        "domains": ("MountainCar-v0", "CartPole-v1"),
        "runs": 2,
        "steps": 1000,
        "every": 100,
        "options": {"hidden": [8, 8]},
    },
    "quick": {"domains": PAPER, "runs": 4, "steps": 10_000},
    "paper": {"domains": PAPER, "runs": 100, "steps": 100_000},
}


def papers_grid(algorithm: str, scale: Scale) -> Grid:
    """What is swept of an algorithm: the paper's grid, or what smaller scales keep of it."""
    paper = ALGORITHMS[algorithm].grid()
    return paper if scale == "paper" else {k: {"quick": QUICK, "smoke": SMOKE}[scale][k] for k in paper}


def everywhere(algorithm: str, grid: Grid, domains: tuple[str, ...]) -> tuple[Swept, ...]:
    """The whole grid in all domains."""
    return (Swept(algorithm, grid),)


@dataclass(frozen=True)
class DeclaredSweep:
    """A sweep at every scale, and the figures that show it; one of the paper's, if grids and sizes are left out."""

    name: str
    describe: str
    algorithms: tuple[str, ...]
    section: str
    """Where in the paper it belongs, which orders lists."""
    figures: tuple[FigureSpec, ...] = ()
    grid: Callable[[str, Scale], Grid] = papers_grid
    """What is swept of each algorithm at each scale."""
    sizes: Mapping[Scale, Mapping[str, Any]] = field(default_factory=lambda: SIZES)
    """Domains, runs, steps and options at each scale."""
    share: Callable[[str, Grid, tuple[str, ...]], tuple[Swept, ...]] = everywhere
    """Which part of an algorithm's grid is tried in which of the domains."""

    def at(self, scale: Scale) -> Sweep:
        """The experiment itself."""
        sizes = self.sizes[scale]
        swept = [self.share(name, self.grid(name, scale), sizes["domains"]) for name in self.algorithms]
        return Sweep(self.name, algorithms=tuple(sum(swept, ())), describe=self.describe, **sizes)
