"""The experiments behind the paper's figures, each at three scales: `find` one and `run` it into a results folder.

Those of control are sweeps (`gpbe.experiments.control`); the others are studies (`gpbe.experiments.studies`), one
module each. They compute tables; what draws these is in `gpbe.figures`.
"""

import difflib
from typing import cast, get_args

from gpbe.errors import InputError
from gpbe.experiments import control, studies
from gpbe.experiments.experiment import Experiment, Scale, run
from gpbe.experiments.files import read

__all__ = ["NAMES", "SCALES", "Experiment", "Scale", "find", "read", "run"]

SCALES = get_args(Scale)
NAMES = (*studies.STUDIES, *control.MEMBERS)


def find(name: str, scale: str) -> Experiment:
    """One of the paper's.

    >>> find("prediction", "quick").work, find("bakeoff", "quick").unit
    (30420, 'steps')
    """
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}; the scales are {', '.join(SCALES)}")
    if name in studies.STUDIES:
        return studies.study(name, cast(Scale, scale))
    if name in control.MEMBERS:
        return control.sweep(name, cast(Scale, scale))
    close = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.4)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(NAMES)}"
    raise InputError(f"there is no experiment {name!r}; {hint}")
