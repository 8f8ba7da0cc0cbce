"""The paper's control experiments (section 9), each at three scales.

Four sweeps share the paper's design: four domains, step sizes in powers of two, mellowmax with tau from 0 (the hard
max) to 1, and what else an algorithm has. Each holds algorithms that no other has; figures put them together.
"""

from collections.abc import Mapping

from gpbe.algorithms.control.table import ALGORITHMS
from gpbe.experiments.experiment import Scale
from gpbe.experiments.sweep import Sweep, Swept

DOMAINS = ("MountainCar-v0", "Acrobot-v1", "CartPole-v1", "LunarLander-v3")


DESCRIBE = {
    "bakeoff": "Q-learning, QRC, QC-LL and SBEED on four domains",
    "saddlepoint": "the saddlepoint form, with h on features and on gradients",
    "basis": "h as a network of its own, or linear in the gradient of q",
    "policies": "SBEED on action values, and TDRC with a policy",
}
MEMBERS = {
    "bakeoff": ("q-learning", "qrc", "qc-ll", "sbeed"),
    "saddlepoint": ("gq", "gq-grad"),
    "basis": ("qrc-sep", "qrc-grad"),
    "policies": ("sbeed-q", "tdrc-pg"),
}

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


def sweep(name: str, scale: Scale) -> Sweep:
    """One of the four, at a scale.

    >>> s = sweep("bakeoff", "paper")
    >>> s.settings, f"{s.work:.3g}"
    (972, '3.89e+10')
    """
    algorithms = tuple(_swept(algorithm, scale) for algorithm in MEMBERS[name])
    sizes = {
        "smoke": {"domains": ("MountainCar-v0", "CartPole-v1"), "runs": 2, "steps": 1000, "every": 100},
        "quick": {"domains": DOMAINS, "runs": 4, "steps": 10_000},
        "paper": {"domains": DOMAINS, "runs": 100, "steps": 100_000},
    }
    options = {"smoke": {"hidden": [8, 8]}}.get(scale, {})
    return Sweep(name, algorithms=algorithms, describe=DESCRIBE[name], options=options, **sizes[scale])


def _swept(name: str, scale: Scale) -> Swept:
    paper = ALGORITHMS[name].grid()
    grid = paper if scale == "paper" else {k: {"quick": QUICK, "smoke": SMOKE}[scale][k] for k in paper}
    return Swept(name, grid)
