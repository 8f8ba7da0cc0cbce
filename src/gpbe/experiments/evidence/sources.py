"""What stored results judge claims about control by: the stages of the evidence, a replication, or whole sweeps."""

from gpbe.analysis.stored import Stored
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.gathered import Gathered, from_replication, from_stages, from_sweeps
from gpbe.experiments.evidence.replication import RUNS

Looks = tuple[Gathered, ...]
"""Runs at the first look and, if there were more of them, at the second; nothing where nothing is stored."""


def looks_of(stored: Stored) -> Looks:
    """The evidence, if any of it is stored; otherwise whole sweeps."""
    if any(name in stored.stages for name in names.STAGES):
        first = from_stages(stored.stages, stored.lacking)
        if names.SECOND not in stored.stages or names.SECOND in stored.lacking:
            return (first,)
        return first, from_stages(stored.stages, stored.lacking, look=2)
    return (from_sweeps(stored.runs),) if stored.runs.runs else ()


def replicated_in(own: Stored, stored: Stored) -> Looks:
    """One's own replication of what the stored evidence chose; otherwise whole sweeps of one's own."""
    if names.REPLICATION in own.stages and names.REPLICATION not in own.lacking:
        evidence = from_stages(stored.stages, stored.lacking)
        return (from_replication(evidence, own.stages[names.REPLICATION], RUNS),)
    return looks_of(own)
