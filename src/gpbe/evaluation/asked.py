"""What `gpbe.evaluate` is asked, checked before anything is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from gpbe.algorithms import linear, nonlinear
from gpbe.checks import as_floats, check_at_least, check_given, check_known, check_level
from gpbe.errors import InputError
from gpbe.evaluation.intervals import Method
from gpbe.evaluation.linear import Where
from gpbe.evaluation.reading import Workers
from gpbe.evaluation.survey import Survey
from gpbe.shapes import Numbers

ESTIMATORS = {
    "is": "importance sampling of returns",
    "wis": "normalized",
    "pdis": "importance sampling of rewards",
    "wpdis": "normalized at each step",
    "dr": "doubly robust, around values",
    "wdr": "normalized at each step",
    "lstd": "values by LSTD(lambda)",
    "lsetd": "with emphatic weights",
    "mis": "marginalized ratios of states",
    "fqe": "fitted Q evaluation",
}
"""What each estimator is, in a few words."""
STARTS = ("is", "wis", "pdis", "wpdis", "dr", "wdr")
"""Estimators of the value where episodes begin, and of no other."""
WITH_VALUES = ("fqe", "dr", "wdr")
"""Estimators whose values may be those of a network."""


class NetAsked(NamedTuple):
    """The network that values come from; `gpbe.evaluate` says what each means."""

    hidden: tuple[int, ...]
    body: Callable[..., Any] | None


class Asked(NamedTuple):
    """All arguments of `gpbe.evaluate` but the log."""

    names: tuple[str, ...]
    everything: bool
    """Was nothing chosen, so that what cannot be had is left out?"""
    level: float
    method: Method
    where: Where
    lam: float
    resamples: int
    seed: int
    workers: int | Workers
    net: NetAsked | None
    """None if values are linear."""
    hyperparameters: Mapping[str, Any]


def read_asked(
    estimator: str | Sequence[str] | None,
    *,
    level: float | int,
    interval: str,
    at: str | Numbers,
    lam: float | int,
    resamples: int,
    seed: int,
    workers: int | Workers,
    hidden: Any,
    body: Any,
    hyperparameters: Mapping[str, Any],
) -> Asked:
    """Check every argument."""
    names = read_names(estimator)
    net = read_net(hidden, body)
    family = linear.ALGORITHMS if net is None else nonlinear.ALGORITHMS
    for name in names:
        check_known(name, [*ESTIMATORS, *(a for a in family if a not in ESTIMATORS)], "estimator")
    if not names:
        raise InputError("there should be one estimator at least; leave it out for all")
    check_level(level)
    check_known(interval, get_args(Method), "interval")
    if not (isinstance(lam, Real) and 0 <= lam <= 1):
        raise InputError(f"lam is {lam!r}; it should lie in [0, 1]")
    if not isinstance(workers, Workers):
        check_at_least(1, workers=workers)
    check_given(resamples=resamples, seed=seed, workers=workers)
    check_at_least(2, resamples=resamples)
    check_at_least(0, seed=seed)
    learned = [name for name in names if name not in ESTIMATORS]
    if hyperparameters and not learned:
        raise InputError(f"{next(iter(hyperparameters))} is for algorithms of gpbe.predict; leave it out")
    if net is not None and not learned and not set(WITH_VALUES) & set(names):
        what = "hidden" if body is None else "body"
        raise InputError(f"{what} is for {', '.join(WITH_VALUES)} and algorithms of gpbe.predict; leave it out")
    method, where = cast(Method, interval), read_where(at)
    return Asked(
        names,
        estimator is None,
        float(level),
        method,
        where,
        float(lam),
        resamples,
        seed,
        workers,
        net,
        dict(hyperparameters),
    )


def read_names(estimator: Any) -> tuple[str, ...]:
    """The names of estimators; all of them if left out."""
    if estimator is None:
        return tuple(ESTIMATORS)
    if isinstance(estimator, str):
        return (estimator,)
    if not isinstance(estimator, Iterable):
        raise InputError(f"estimator is {estimator!r}; it should be a name such as 'wdr', or several")
    return tuple(estimator)


def read_net(hidden: Any, body: Any) -> NetAsked | None:
    """The layers of a network; None for linear values."""
    if hidden is None and body is None:
        return None
    if hidden is not None and body is not None:
        raise InputError("hidden and body are two ways to say what a network is; give one of them")
    from gpbe.learn.control.learning import read_sizes

    return NetAsked(() if hidden is None else read_sizes(hidden), body)


def read_where(at: str | Numbers) -> Where:
    """Which states the value is of."""
    if isinstance(at, str):
        check_known(at, ("start", "log"), "place for at")
        return Where(at)
    x = as_floats(at, "at")
    if x.ndim not in (1, 2) or not x.size:
        raise InputError(f"at has shape {x.shape}; it should be features of one state (K,) or of several (M, K)")
    return Where("given states", np.atleast_2d(x))


def possible(asked: Asked, survey: Survey) -> tuple[tuple[str, ...], dict[str, str]]:
    """The estimators that this log is enough for; of the others, why it is not."""
    why = {}
    for name in asked.names:
        if name in STARTS and asked.where.kind != "start":
            why[name] = "estimates the value where episodes begin; other states need values"
        elif name in STARTS and not survey.ended:
            why[name] = "weights whole episodes, and none ends in this log"
        elif name in ("wpdis", "wdr") and 5 * survey.horizon * 20 > 2**27:
            why[name] = f"keeps sums for every step, and an episode has {survey.horizon:,}"
        elif name == "fqe" and not survey.actions:
            why[name] = "needs the action taken and the target's probabilities of all actions"
        elif name == "fqe" and asked.where.features is not None:
            why[name] = "needs the target's probabilities in the given states"
    if why and not asked.everything:
        name, reason = next(iter(why.items()))
        raise InputError(f"{name} {reason}")
    left = tuple(name for name in asked.names if name not in why)
    if not left:
        raise InputError("this log is not enough for any estimator")
    return left, why
