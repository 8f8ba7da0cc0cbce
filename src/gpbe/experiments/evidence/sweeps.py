"""How a stage becomes a sweep: the plan's domains, steps and records, and one seed for each purpose."""

from typing import Any

from gpbe.experiments.evidence.design import Plan
from gpbe.experiments.sweep import Sweep, Swept

CHOOSES, JUDGES, CHOOSES_ASIDE, JUDGES_ASIDE, REPLICATES = range(5)
"""Seeds: the runs that choose settings are never those that judge them, nor those of side sweeps."""


def sweep_of(
    name: str,
    describe: str,
    plan: Plan,
    swept: tuple[Swept, ...],
    runs: int,
    first_run: int,
    seed: int,
    **options: Any,
) -> Sweep:
    """A sweep of these settings; `options` are those of `gpbe.train`, where they are not the paper's."""
    return Sweep(
        name,
        plan.domains,
        swept,
        runs=runs,
        steps=plan.steps,
        every=plan.every,
        seed=seed,
        describe=describe,
        options=({} if plan.hidden is None else {"hidden": list(plan.hidden)}) | options,
        first_run=first_run,
    )
