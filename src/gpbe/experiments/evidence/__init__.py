"""The evidence: the paper's claims about control, decided by an experiment in stages (docs/evidence.md).

`design` has its numbers, `choices` says which settings go on, `stages` and `sides` make sweeps of both; `gathered` is
what these have stored, `case` what can be asked of it, and `claims` asks. `replication` runs the chosen settings again.
"""

from gpbe.experiments.evidence.replication import Replication
from gpbe.experiments.evidence.stages import Evidence

STAGED = (Evidence(), Replication())
