"""What stored results judge claims about control by: the stages of the evidence, a replication, or whole sweeps."""

from gpbe.analysis.stored import Stored, StoredRuns
from gpbe.experiments.control import DECLARED
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.gathered import Gathered, from_replication, from_stages, from_sweeps
from gpbe.experiments.evidence.replication import RUNS

Looks = tuple[Gathered, ...]
"""Runs at the first look and, if there were more of them, at the second; nothing where nothing is stored."""

SWEEPS = tuple(sweep.name for sweep in DECLARED)
"""The paper's sweeps of control; those on MinAtar and by streams have other domains and settings."""


def sweeps_in(stored: Stored) -> StoredRuns:
    """The runs of the paper's sweeps of control."""
    return stored.only(SWEEPS).runs


def has_evidence(stored: Stored) -> bool:
    """Is any stage of the evidence stored?"""
    return any(name in stored.stages for name in names.STAGES)


def looks_of(stored: Stored) -> Looks:
    """The evidence, if any of it is stored; otherwise whole sweeps."""
    if has_evidence(stored):
        first = from_stages(stored.stages, stored.lacking)
        if names.SECOND not in stored.stages or names.SECOND in stored.lacking:
            return (first,)
        return first, from_stages(stored.stages, stored.lacking, look=2)
    sweeps = sweeps_in(stored)
    return (from_sweeps(sweeps),) if sweeps.runs else ()


def replicated_in(own: Stored, stored: Stored) -> Looks:
    """One's own replication of what the stored evidence chose; otherwise whole sweeps of one's own."""
    if names.REPLICATION in own.stages and names.REPLICATION not in own.lacking:
        evidence = from_stages(stored.stages, stored.lacking)
        return (from_replication(evidence, own.stages[names.REPLICATION], RUNS),)
    return looks_of(own)
