"""Types of options, with the words that help shows for them."""

from collections.abc import Mapping
from dataclasses import make_dataclass
from math import isnan
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from tyro.conf import arg

from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.algorithms.nonlinear import Kernel
from gpbe.wording import as_text


def choices(kind: Any) -> str:
    """The names of a `Literal` as help shows them; that None stands for an option left out is not one of them.

    >>> choices(Literal["adam", "sgd"])
    '{adam,sgd}'
    """
    return f"{{{','.join(get_args(kind))}}}"


Scale = Literal["smoke", "quick", "paper"]
SecondBasis = Literal["head", "network", "gradient"]
ProblemName = Annotated[str, arg(metavar="PROBLEM", help_behavior_hint="")]
AlgorithmName = Annotated[str, arg(metavar="ALGORITHM", help_behavior_hint="")]
AlgorithmNames = Annotated[tuple[str, ...], arg(metavar="ALGORITHM ...", help_behavior_hint="")]
ExperimentName = Annotated[str, arg(metavar="EXPERIMENT", help_behavior_hint="")]
FigureName = Annotated[str, arg(metavar="FIGURE", help_behavior_hint="")]
EnvName = Annotated[str, arg(metavar="ENV", help_behavior_hint="")]
Sizes = Annotated[tuple[int, ...] | None, arg(metavar="INT ...", help_behavior_hint="")]
Basis = Annotated[SecondBasis | None, arg(metavar=choices(SecondBasis), help_behavior_hint="")]
KernelName = Annotated[Kernel | None, arg(metavar=choices(Kernel), help_behavior_hint="")]
Number = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Real = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Folder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]
Results = Annotated[Path, arg(metavar="RESULTS")]
Into = Annotated[Path, arg(metavar="FOLDER")]
"""A folder that is written into."""
Packed = Annotated[Path | None, arg(name="from", metavar="FOLDER", help_behavior_hint="")]
"""Packed results, as `--from`."""
Names = Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="")]
Json = Annotated[bool, arg(help="print JSON for a program instead of text for a person")]
Values = Annotated[tuple[str, ...], arg(metavar="NUMBER ...", help_behavior_hint="")]
"""The values of a hyperparameter, as typed."""


def options_of(declared: Mapping[str, Hyperparameter], name: str) -> type[Any]:
    """A dataclass called `name` with an option for each hyperparameter, whose help is its declaration.

    All are empty if left out (see `gpbe.cli.sweeping.read_typed`), since an algorithm is asked only for what it has. A
    default that is NaN is not told.

    >>> kind = options_of({"beta": Hyperparameter("penalty on h", 1.0), "gamma": Hyperparameter("discount", 0.99)}, "H")
    >>> kind(), kind(beta=("0.5", "1"))
    (H(beta=(), gamma=()), H(beta=('0.5', '1'), gamma=()))
    """
    return make_dataclass(name, [(k, _values(h), ()) for k, h in declared.items()], frozen=True)


def _values(h: Hyperparameter) -> Any:
    otherwise = "" if isnan(h.default) else f"; {as_text(h.default)} if left out"
    return Annotated[tuple[str, ...], arg(metavar="NUMBER ...", help=h.meaning + otherwise, help_behavior_hint="")]
