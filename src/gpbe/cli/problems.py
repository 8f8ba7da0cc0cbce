"""`gpbe diagnose`, and problems as they are named on the command line."""

from typing import TYPE_CHECKING

from tyro.conf import Positional

from gpbe.cli.options import File, Json, Number, ProblemName
from gpbe.cli.terminal import check_file, console, print_json
from gpbe.errors import InputError

if TYPE_CHECKING:
    from gpbe.mdp import PredictionProblem


def diagnose(
    problem: Positional[ProblemName],
    lam: float = 0.0,
    index: Number = None,
    out: File = None,
    json: Json = False,
) -> None:
    """Tell what TD and its relatives do on a problem: convergence, solutions, errors, bounds, and what to use.

    Args:
        problem: a name from `gpbe list problems`, or a .toml or .npz file with a problem of your own
        lam: trace parameter lambda, in [0, 1]
        index: which problem of a batch (`four-rooms` has eight)
        out: write it as a page with figures (.html), or as a picture (.png or .pdf)
        json: print JSON
    """
    from gpbe import exact, look

    if out is not None:
        look.check_kind(out)
        check_file(out)
    diagnosis = exact.diagnose(read_problem(problem, index), lam)
    file = None if out is None else str(look.write(diagnosis, out))
    if json:
        print_json(diagnosis.as_dict() | ({"file": file} if file else {}))
    elif file:
        console().print(f"{diagnosis.summary}\nto look at: {file}")
    else:
        console().print(diagnosis)


def read_problem(problem: str, index: int | None) -> "PredictionProblem":
    """A problem of the zoo, or one in a file; of a batch, one of its members."""
    from gpbe import mdp

    found = mdp.find(problem)
    if index is not None:
        return found[index]
    if found.batch_shape:
        raise InputError(f"{problem} is a batch of {found.batch_shape[0]} problems; pick one with --index 0 and so on")
    return found
