"""The evidence: the paper's claims about control, decided by an experiment in stages (docs/evidence.md).

`design` has its numbers, `choices` says which settings go on, `stages` makes sweeps of both.
"""

from gpbe.experiments.evidence.stages import Evidence

STAGED = (Evidence(),)
