"""All experiments and figures by name, collected from the folders of this package.

A folder with an experiment has in its `__init__` a tuple `DECLARED`, or `STAGED`. Nothing else names it.
"""

import importlib
import pkgutil
import re
from types import ModuleType
from typing import cast, get_args

from gpbe import experiments
from gpbe.checks import check_known
from gpbe.experiments.experiment import Declared, Experiment, Scale, Staged
from gpbe.figures import FigureSpec

SCALES = get_args(Scale)
"""Smallest first."""


def _place(declared: Declared) -> list[tuple[bool, int | str]]:
    """Sections of the paper in its order: numbers, then letters; what is not in it comes last."""
    parts = re.findall(r"\d+|[A-Z]", declared.section) or ["Z"]
    return [(not part.isdigit(), int(part) if part.isdigit() else part) for part in parts]


def _folders() -> list[ModuleType]:
    packages = [each.name for each in pkgutil.iter_modules(experiments.__path__) if each.ispkg]
    return [importlib.import_module(f"{experiments.__name__}.{name}") for name in packages]


def _collected() -> dict[str, Declared]:
    found = [each for module in _folders() for each in getattr(module, "DECLARED", ())]
    return {each.name: each for each in sorted(found, key=_place)}


DECLARED: dict[str, Declared] = _collected()
"""The experiments, in the order of the paper."""
STAGED: dict[str, Staged] = {each.name: each for module in _folders() for each in getattr(module, "STAGED", ())}
"""The experiments in stages, each of which follows from what earlier ones stored."""
NAMES = tuple(DECLARED)
"""What `gpbe run` knows, in the order of the paper."""
FIGURES: dict[str, FigureSpec] = {
    figure.name: figure for each in (*DECLARED.values(), *STAGED.values()) for figure in each.figures
}
"""The figures, in the same order."""


def find(name: str, scale: str) -> Experiment:
    """One of the paper's experiments, at a scale.

    >>> find("prediction", "quick").work, find("bakeoff", "quick").unit
    (30420, 'steps')
    """
    check_known(scale, SCALES, "scale")
    check_known(name, (*NAMES, *STAGED), "experiment")
    return DECLARED[name].at(cast(Scale, scale))


def find_figure(name: str) -> FigureSpec:
    """One of the figures.

    >>> find_figure("prediction-bars").needs
    ('prediction',)
    """
    check_known(name, FIGURES, "figure")
    return FIGURES[name]
