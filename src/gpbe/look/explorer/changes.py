"""A problem as the explorer's page has changed it, and what the exact side says about it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from gpbe.checks import as_floats, check_interval, check_keys, check_known
from gpbe.errors import InputError
from gpbe.exact.bounds.table import BOUNDS, all_bounds
from gpbe.exact.diagnose import Diagnosis, diagnose
from gpbe.look.diagnosis import advised, verdicts
from gpbe.look.tables import block, bounds_table, symbols
from gpbe.mdp import ZOO, FiniteMDP, PredictionProblem
from gpbe.mdp import problem as zoo_problem
from gpbe.pages.diagnosis import blocks, heading
from gpbe.wording import counted

MOST = 128
"""States and features of a problem that can be solved again while a person moves something: with so many an answer
takes about a second, and with twice as many several."""
ARRAYS = ("target", "behavior", "features")
OPTIONAL = (*ARRAYS, "problem", "lam", "discount", "bounds")


def check_small(problem: PredictionProblem) -> None:
    """Refuse what is too large to be moved by hand."""
    if problem.batch_shape or problem.mdp.is_sparse or max(problem.features.shape) > MOST:
        states, columns = problem.features.shape[-2:]
        size = f"has {counted(states, 'state')} and {counted(columns, 'feature')}"
        what = "is a batch" if problem.batch_shape else "is sparse" if problem.mdp.is_sparse else size
        raise InputError(
            f"{problem.name} {what}; explore takes one problem of {MOST} states and features at most, since it is "
            "solved again at every movement: gpbe diagnose --out page.html shows it"
        )


def offered() -> dict[str, PredictionProblem]:
    """The problems of the zoo that are small enough."""
    found = {}
    for name in ZOO:
        with suppress(InputError):
            check_small(problem := zoo_problem(name))
            found[name] = problem
    return found


def described(problem: PredictionProblem) -> dict[str, Any]:
    """What the page can change, as it is now."""
    return {
        "name": problem.name,
        "states": list(problem.mdp.state_names),
        "actions": list(problem.mdp.action_names),
        "discount": largest_discount(problem.mdp),
        **{key: getattr(problem, key).tolist() for key in ARRAYS},
    }


def largest_discount(mdp: FiniteMDP) -> float:
    """The largest discount of a transition that can happen: what the page calls the discount."""
    t = mdp.dense("explore")
    return float(np.where(t.probability > 0, t.discount, 0.0).max())


def changed(problem: PredictionProblem, given: Mapping[str, Any]) -> PredictionProblem:
    """The problem with other policies, features or discount.

    A discount is the largest one; all others keep their proportion to it, so that ends of episodes stay ends.

    >>> from gpbe import mdp
    >>> other = changed(mdp.kolter(), {"discount": 0.5, "behavior": [[0.2, 0.8], [0.6, 0.4]]})
    >>> other.discounted_transition.sum(1), other.behavior[1]
    (array([0.5, 0.5]), array([0.6, 0.4]))
    """
    arrays = {key: as_floats(given[key], key) for key in ARRAYS if given.get(key) is not None}
    for key, array in arrays.items():
        if array.shape != (shape := getattr(problem, key).shape):
            raise InputError(f"{key} has shape {array.shape}; it should be {shape}, as the problem has it")
    mdp = problem.mdp
    if given.get("discount") is not None:
        mdp = _rediscounted(mdp, given["discount"])
    return problem.replace(mdp=mdp, initial_weights=problem.initial_weights, **arrays)


def _rediscounted(mdp: FiniteMDP, discount: Any) -> FiniteMDP:
    new = as_floats(discount, "discount")
    if new.ndim:
        raise InputError(f"discount has shape {new.shape}; it should be one number")
    check_interval(new, "discount", ())
    t, largest = mdp.dense("explore"), largest_discount(mdp)
    scaled = t.discount if largest in (0.0, float(new)) else np.minimum(t.discount * (float(new) / largest), 1.0)
    names = {"state_names": mdp.state_names, "action_names": mdp.action_names}
    return FiniteMDP(t.probability, t.reward, scaled, mdp.start, **names)


def read(problems: Mapping[str, PredictionProblem], first: str, given: Any) -> tuple[PredictionProblem, float]:
    """The problem and lambda that a request is about."""
    if not isinstance(given, dict):
        raise InputError("the request should be a JSON object, such as {}")
    check_keys(given, (), OPTIONAL, "key")
    name = given.get("problem", first)
    check_known(name, problems, "problem")
    lam = given.get("lam", 0.0)
    if isinstance(lam, bool) or not isinstance(lam, int | float):
        raise InputError(f"lam is {lam!r}; it should be a number in [0, 1]")
    return changed(problems[name], given), float(lam)


def answer(problem: PredictionProblem, lam: float, bounds: bool = False) -> dict[str, Any]:
    """What the exact side says: numbers to draw, and parts of the page as HTML."""
    with np.errstate(all="ignore"):  # what overflows is infinite, and shown so
        found = diagnose(problem, lam)
        return {**_numbers(found), "html": _html(found, bounds)}


def _numbers(found: Diagnosis) -> dict[str, Any]:
    lams, errors = found.errors_over_lambda
    best = found.finding("ve", "behavior").error_behavior
    tried = {"lambdas": lams.tolist(), "errors": {name: _finite(each) for name, each in errors.items()}, "best": best}
    return {**found.as_dict(), "over_lambda": tried}


def _finite(numbers: Any) -> list[float | None]:
    """JSON has no infinity."""
    return [float(x) if np.isfinite(x) else None for x in numbers]


def _html(found: Diagnosis, bounds: bool) -> dict[str, str]:
    stability, solutions, states = map(block, blocks(found, MOST))
    parts = {"stability": stability, "solutions": solutions, "states": states, "heading": symbols(heading(found))}
    parts |= {"verdicts": verdicts(found), "advice": advised(found)}
    if bounds:
        parts["bounds"] = bounds_table(all_bounds(found.problem, found.weightings["behavior"]), BOUNDS)
    return parts
