"""The control algorithms, one record each. Does not need JAX to be listed.

What `gpbe.train`, sweeps, the command line, figures and estimates of cost know of an algorithm, they read here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpbe.algorithms.control.hyperparameters import WIDTH
from gpbe.algorithms.control.record import ControlAlgorithm
from gpbe.algorithms.records import HUBER, Look, find_record, referred

_VALUES = "gpbe.algorithms.control.action_values:ActionValues"
_TRACES = "gpbe.algorithms.control.traces:TracedValues"
_GREEDY = ("step_size", "tau", "epsilon", "epsilon_final", "epsilon_steps", "gamma")
_POLICY = ("step_size", "nu", "gamma")
_SWEPT = ("step_size", "tau")
_PAPER = "Patterson et al. 2022"


def _traced(
    name: str,
    choices: Mapping[str, Any],
    more: tuple[str, ...],
    look: Look,
    what: str,
    paper: str = "Elelimy et al. 2025",
    **others: Any,
) -> ControlAlgorithm:
    """An algorithm with traces, one transition at a time."""
    describe = f"traces without replay: {what}"
    return ControlAlgorithm(
        name, _TRACES, choices, (*_GREEDY, *more), describe=describe, paper=paper, look=look, speed=3.5, **others
    )


_SBEED = ControlAlgorithm(
    "sbeed",
    "gpbe.algorithms.control.sbeed:SBEED",
    hyperparameters=(*_POLICY, "tau", "eta"),
    fixed={"beta": 0.0},
    swept=(*_SWEPT, "eta", "nu"),
    describe="state values and a policy; tau = 0 leaves the policy as it began",
    paper="Dai et al. 2018",
    look=Look("SBEED", "red", (1.2, 0.8)),
    speed=0.6,
)
_RECORDS = (
    ControlAlgorithm(
        "q-learning",
        _VALUES,
        {"form": "none"},
        _GREEDY,
        swept=_SWEPT,
        describe="no correction",
        paper="Watkins 1989; Mnih et al. 2015",
        look=Look("Q-learning", "orange", (5.0, 1.2)),
    ),
    ControlAlgorithm(
        "expected-sarsa",
        "gpbe.algorithms.control.expected_sarsa:ExpectedSarsa",
        {"form": "none"},
        ("step_size", "epsilon", "epsilon_final", "epsilon_steps", "gamma"),
        describe="no correction, the value of the epsilon-greedy policy at S'",
        paper="van Seijen et al. 2009",
        look=Look("Expected SARSA", "yellow", (1.2, 0.8)),
    ),
    ControlAlgorithm(
        "qc",
        _VALUES,
        {"form": "correction"},
        _GREEDY,
        fixed={"beta": 0.0},
        swept=_SWEPT,
        describe="gradient correction, h unpenalized",
        paper=_PAPER,
        look=Look("QC", "sky"),
    ),
    ControlAlgorithm(
        "qrc",
        _VALUES,
        {"form": "correction"},
        (*_GREEDY, "beta"),
        swept=_SWEPT,
        describe="gradient correction, regularized by beta = 1",
        paper=_PAPER,
        look=Look("QRC", "blue"),
    ),
    ControlAlgorithm(
        "qrc-huber",
        "gpbe.algorithms.control.robust:RobustActionValues",
        {"form": "correction"},
        (*_GREEDY, "beta", "huber"),
        swept=_SWEPT,
        describe="QRC on the Huber error: h is clipped",
        paper=HUBER,
        look=Look("QRC-Huber", "blue", (2.0, 1.0)),
    ),
    ControlAlgorithm(
        "qrc-sep",
        _VALUES,
        {"form": "correction", "basis": "network"},
        (*_GREEDY, "beta"),
        shaping={"width": WIDTH},
        swept=_SWEPT,
        describe="QRC, h a network of its own",
        paper=_PAPER,
        look=Look("QRC-Sep", "sky"),
        speed=0.6,
    ),
    ControlAlgorithm(
        "qrc-grad",
        _VALUES,
        {"form": "correction", "basis": "gradient"},
        (*_GREEDY, "beta"),
        swept=_SWEPT,
        describe="QRC, h linear in the gradient of q",
        paper=_PAPER,
        look=Look("QRC-Grad", "black"),
        speed=0.6,
    ),
    ControlAlgorithm(
        "qc-ll",
        _VALUES,
        {"form": "correction", "basis": "gradient", "curvature": True},
        _GREEDY,
        fixed={"beta": 0.0},
        swept=_SWEPT,
        describe="nonlinear TDC for control: locally linear projection, with the term of the curvature",
        paper="Maei et al. 2009",
        look=Look("QC-LL", "green", (4.0, 1.0, 1.0, 1.0)),
        speed=0.44,
    ),
    ControlAlgorithm(
        "gq",
        _VALUES,
        {"form": "saddlepoint"},
        (*_GREEDY, "beta"),
        swept=(*_SWEPT, "beta"),
        describe="saddlepoint form",
        paper=f"Maei et al. 2010; {_PAPER}",
        look=Look("GQ", "purple"),
    ),
    ControlAlgorithm(
        "gq-grad",
        _VALUES,
        {"form": "saddlepoint", "basis": "gradient"},
        (*_GREEDY, "beta"),
        swept=(*_SWEPT, "beta"),
        describe="saddlepoint form, h linear in the gradient of q",
        paper=_PAPER,
        look=Look("GQ-Grad", "black"),
        speed=0.55,
    ),
    _SBEED,
    replace(
        _SBEED,
        name="sbeed-dai",
        choices={"rho": "entropy"},
        describe="SBEED whose rho estimates the entropy's term too, so that eta is in the policy's gradient",
        look=Look("SBEED (Dai)", "grey", (1.2, 0.8)),
    ),
    ControlAlgorithm(
        "sbeed-q",
        "gpbe.algorithms.control.sbeed:SBEEDQ",
        hyperparameters=(*_GREEDY, "eta"),
        fixed={"beta": 0.0},
        swept=(*_SWEPT, "eta"),
        describe="SBEED's objective on action values",
        paper=_PAPER,
        look=Look("SBEED-Q", "purple"),
    ),
    ControlAlgorithm(
        "tdrc-pg",
        "gpbe.algorithms.control.actor_critic:PolicyGradient",
        {"ratios": False},
        (*_POLICY, "beta"),
        swept=("step_size", "nu"),
        describe="actor-critic with TDRC as the critic",
        paper=_PAPER,
        look=Look("TDRC-PG", "sky"),
        speed=0.67,
    ),
    _traced(
        "q-lambda", {"form": "none"}, ("lam",), Look("Q(λ)", "orange", (5.0, 1.2)), "Watkins' Q(lambda)", "Watkins 1989"
    ),
    _traced(
        "qc-lambda",
        {"form": "correction"},
        ("lam", "ratio"),
        Look("QC(λ)", "sky"),
        "gradient correction, h unpenalized",
        fixed={"beta": 0.0},
    ),
    _traced(
        "qrc-lambda",
        {"form": "correction"},
        ("beta", "lam", "ratio"),
        Look("QRC(λ)", "blue"),
        "gradient correction, regularized by beta = 1",
    ),
    _traced(
        "gq-lambda", {"form": "saddlepoint"}, ("beta", "lam", "ratio"), Look("GQ(λ)", "purple"), "saddlepoint form"
    ),
    _traced(
        "stream-q",
        {"form": "none", "bounded": True},
        ("lam", "kappa"),
        Look("StreamQ", "green", (4.0, 1.0, 1.0, 1.0)),
        "Q(lambda), steps shortened where they could overshoot",
        "Elsayed et al. 2024",
        usual={"step_size": 1.0},
    ),
)
ALGORITHMS = {record.name: record for record in _RECORDS}
"""The algorithms that have a name."""


def find_algorithm(algorithm: str | ControlAlgorithm) -> ControlAlgorithm:
    """A control algorithm by its name in the table, as "package.module:NAME" of a record, or the record itself.

    >>> find_algorithm("qrc").make()
    ActionValues(form='correction', basis='head', width=1.0, curvature=False)
    """
    if isinstance(algorithm, str) and ":" in algorithm:
        algorithm = referred(algorithm)
    return find_record(algorithm, ALGORITHMS, ControlAlgorithm, "control algorithm")
