"""The numbers of the experiment `evidence`: what is run at each stage, and how much of it (docs/evidence.md)."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpbe.algorithms.control.table import ALGORITHMS
from gpbe.envs.domains import PAPER
from gpbe.experiments.evidence.grids import Grid, Part, stratified, whole

BENCHMARK = ("q-learning", "qrc", "qc-ll", "sbeed")
"""The algorithms that the domains vote on."""
ABLATIONS = ("qrc-grad", "tdrc-pg", "qrc-sep", "gq", "gq-grad", "sbeed-q")
LANDER = "LunarLander-v3"
STRATA: Mapping[str, Mapping[str, int]] = {
    "sbeed": {"step_size": 6, "tau": 6},
    "sbeed-q": {"step_size": 6, "eta": 4},
    "qrc-sep": {"step_size": 6, "width": 4},
    "gq": {"step_size": 6, "tau": 3},
    "gq-grad": {"step_size": 6, "tau": 3},
}
"""How the large grids are cut before settings are drawn from them; grids that are not named are screened whole."""
EACH = 2
"""Settings drawn from each stratum."""
SEED = 2022
"""The seed of the draw."""


@dataclass(frozen=True)
class Plan:
    """How much of everything: the design itself, or something smaller to try it with."""

    domains: tuple[str, ...] = PAPER
    algorithms: tuple[str, ...] = (*BENCHMARK, *ABLATIONS)
    steps: int = 100_000
    every: int = 500
    screen: int = 2
    """Runs of each stage."""
    race: int = 4
    final: int = 8
    verdict: Mapping[str, int] | None = None
    """The runs of each of the two verdict stages, by domain; `FRESH` in the domains that are not named."""
    best: int = 3
    """Settings of a domain that are raced."""
    contenders: int = 4
    """Settings that are raced for the vote of all domains; half as many for the vote without Lunar Lander."""
    hidden: tuple[int, ...] | None = None

    def runs_of(self, domain: str) -> int:
        """Runs of a verdict stage in a domain."""
        return (VERDICT if self.verdict is None else self.verdict).get(domain, FRESH)


FRESH = 32
"""Fresh runs of a setting, in whole groups of eight lanes: the lanes that fill up a group cost as much as others."""
VERDICT = {"MountainCar-v0": 48}
"""More where runs differ most: they find the goal there, or never."""
PLAN = Plan()
SMOKE = Plan(
    domains=("MountainCar-v0", "CartPole-v1"),
    algorithms=("q-learning", "qrc", "gq"),
    steps=400,
    every=100,
    race=2,
    final=2,
    verdict={"MountainCar-v0": 3, "CartPole-v1": 3},
    best=1,
    contenders=2,
    hidden=(4,),
)


def grid_of(algorithm: str) -> Grid:
    """The paper's whole grid of an algorithm."""
    return ALGORITHMS[algorithm].grid()


def part_of(algorithm: str) -> Part:
    """The settings of an algorithm that are screened.

    >>> {name: len(part_of(name).settings) for name in ("qrc", "sbeed", "sbeed-q", "gq")}
    {'qrc': 36, 'sbeed': 61, 'sbeed-q': 48, 'gq': 36}
    """
    grid = grid_of(algorithm)
    if algorithm not in STRATA:
        return whole(grid)
    part = stratified(grid, STRATA[algorithm], EACH, SEED)
    return _one_without_temperature(grid, part) if algorithm == "sbeed" else part


def _one_without_temperature(grid: Grid, part: Part) -> Part:
    """SBEED with tau = 0 never moves its policy: all of these settings are one, which counts for all of them."""
    names = list(grid)
    inner = 1
    for name in names[names.index("tau") + 1 :]:
        inner *= len(grid[name])
    tau = [(number // inner) % len(grid["tau"]) for number in part.settings]
    kept = [k for k, at in enumerate(tau) if grid["tau"][at] > 0]
    first = next(k for k, at in enumerate(tau) if grid["tau"][at] == 0)
    still = {part.strata[k] for k, at in enumerate(tau) if grid["tau"][at] == 0}
    relabel = {old: new for new, old in enumerate(sorted(set(part.strata) - still), start=1)}
    return Part(
        (part.settings[first], *(part.settings[k] for k in kept)),
        (0, *(relabel[part.strata[k]] for k in kept)),
        (sum(part.sizes[s] for s in still), *(part.sizes[s] for s in sorted(relabel))),
    )
