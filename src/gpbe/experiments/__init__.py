"""The experiments behind the paper's figures, each at three scales: `find` one and `run` it into a results folder.

Each is found in one folder: its declaration (`__init__`), what it computes (`computation`) and how that is drawn
(`drawing`). Those of control are sweeps (`gpbe.experiments.control`); the others are studies.
"""

from gpbe.experiments.experiment import Declared, Experiment, Scale, Stage, Staged, run
from gpbe.experiments.files import read
from gpbe.experiments.registry import DECLARED, FIGURES, NAMES, SCALES, STAGED, find, find_figure
from gpbe.experiments.results import folder_of, folders, open_packed, open_results, packed_files, planned

__all__ = [
    "DECLARED",
    "FIGURES",
    "NAMES",
    "SCALES",
    "STAGED",
    "Declared",
    "Experiment",
    "Scale",
    "Stage",
    "Staged",
    "find",
    "find_figure",
    "folder_of",
    "folders",
    "open_packed",
    "open_results",
    "packed_files",
    "planned",
    "read",
    "run",
]
