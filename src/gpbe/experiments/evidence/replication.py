"""A replication of the evidence: the settings that it chose, fresh seeds, few runs; twenty minutes on two cores.

Whoever runs it has an independent experiment beside the stored one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from gpbe.analysis.performance import performance
from gpbe.experiments.evidence.choices import chosen
from gpbe.experiments.evidence.design import BENCHMARK, LANDER, PLAN, SMOKE, Plan, grid_of
from gpbe.experiments.evidence.names import CHOOSING, REPLICATION
from gpbe.experiments.evidence.sweeps import REPLICATES, sweep_of
from gpbe.experiments.experiment import Scale, Stage
from gpbe.experiments.sweep import Sweep, Swept
from gpbe.figures import FigureSpec

RUNS = {"MountainCar-v0": 10, "Acrobot-v1": 10, "CartPole-v1": 10, LANDER: 4}
"""How many runs each domain has. Lunar Lander runs on the host, where a run takes as long as six elsewhere."""
CHOICES = {LANDER: ("voted",)}
"""Ways to choose that are replicated in a domain; in others also what was tuned for it."""


@dataclass(frozen=True)
class Replication:
    """The settings that the evidence chose, voted and tuned, on seeds of their own."""

    name: str = REPLICATION
    describe: str = "the settings that the evidence chose, again on fresh seeds"
    section: str = "9"
    figures: tuple[FigureSpec, ...] = ()

    def stages(self, scale: Scale) -> tuple[Stage, ...]:
        """One stage, after those of the evidence that choose settings."""
        plan = SMOKE if scale == "smoke" else PLAN
        return (Stage(REPLICATION, CHOOSING, lambda tables: replication(tables, plan)),)


def replication(tables: Sequence[pl.LazyFrame], plan: Plan) -> Sweep:
    """The chosen settings of the benchmark's algorithms; the seed is that of no other stage."""
    picks = chosen(performance(pl.concat(tables, how="diagonal_relaxed")), plan)
    swept = []
    for domain in plan.domains:
        for name in (name for name in BENCHMARK if name in plan.algorithms):
            wanted = CHOICES.get(domain, ("voted", "tuned"))
            mine = picks.filter(pl.col("choice").is_in(wanted), domain=domain, algorithm=name)
            settings = tuple(mine["setting"].unique().sort().to_list())
            swept.append(Swept(name, grid_of(name), domains=(domain,), only=settings, runs=RUNS[domain]))
    return sweep_of(REPLICATION, "chosen settings, again", plan, tuple(swept), 1, 0, REPLICATES)
