"""Types of options, with the words that help shows for them."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

Scale = Literal["smoke", "quick", "paper"]
Weighting = Literal["behavior", "target", "followon", "emphatic", "start", "uniform"]
ProblemName = Annotated[str, arg(metavar="PROBLEM", help_behavior_hint="")]
AlgorithmName = Annotated[str, arg(metavar="ALGORITHM", help_behavior_hint="")]
EnvName = Annotated[str, arg(metavar="ENV", help_behavior_hint="")]
Sizes = Annotated[tuple[int, ...] | None, arg(metavar="INT ...", help_behavior_hint="")]
Basis = Annotated[Literal["head", "network", "gradient"] | None, arg(help_behavior_hint="")]
Kernel = Annotated[Literal["gaussian", "laplace", "linear", "quadratic", "same"] | None, arg(help_behavior_hint="")]
Number = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
Real = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Names = Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="")]
Json = Annotated[bool, arg(help="print JSON for a program instead of text for a person")]
Values = Annotated[tuple[str, ...], arg(metavar="NUMBER ...", help_behavior_hint="")]
"""Of a hyperparameter, as typed."""
