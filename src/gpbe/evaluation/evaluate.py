"""`gpbe.evaluate`: a policy's value from recorded data, with its uncertainty."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from gpbe.checks import check_function
from gpbe.errors import InputError
from gpbe.evaluation import advice
from gpbe.evaluation.asked import Asked, possible, read_asked
from gpbe.evaluation.plan import Plan
from gpbe.evaluation.reading import Workers, groupings, surveyed
from gpbe.evaluation.result import Diagnostics, Evaluation
from gpbe.evaluation.survey import Survey, joined
from gpbe.evaluation.walk import Grouping
from gpbe.mdp import Log, LogFiles, scan_log
from gpbe.mdp.log_source import Source
from gpbe.shapes import Numbers


def evaluate(
    log: Any,
    estimator: str | Sequence[str] | None = None,
    *,
    level: float | int = 0.95,
    interval: str = "asymptotic",
    at: str | Numbers = "start",
    lam: float | int = 0.0,
    hidden: Sequence[int] | int | None = None,
    body: Callable[..., Any] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    workers: int | Workers = 1,
    advance: Callable[[int], None] = lambda rows: None,
    **hyperparameters: Any,
) -> Evaluation:
    """The target policy's value, estimated from the behavior's recorded transitions, with an interval.

    Args:
        log: a `Log`, what `mdp.scan_log` returns or takes: files, patterns, tables or arrays.
        estimator: one or several of `gpbe.evaluation.ESTIMATORS`, or an algorithm of `gpbe.predict`; all that the log
            is enough for if left out.
        level: how often an interval should hold the value.
        interval: "asymptotic" (delta method; for least squares the sandwich), or "bootstrap" over episodes. Where
            episodes are fewer than 5, blocks of rows take their place.
        at: whose value: "start", the states where episodes begin; "log", all states of the log, equally often; or
            features of states, (K,) or (M, K), whose mean value it is.
        lam: trace parameter of LSTD.
        hidden: sizes of hidden layers; the values of fqe, dr, wdr and algorithms of `gpbe.predict` are then those of a
            network. They are linear if left out.
        body: instead of these layers: a function from a key to an Equinox module from one state's features to others.
        resamples: of the bootstrap.
        seed: of the bootstrap, and of learning.
        workers: processes that read files side by side: how many on this machine, or `gpbe.runner.Ray()` for those of
            a cluster, whose machines must see the files under the same names.
        advance: is told how many more rows have been read.
        **hyperparameters: of an algorithm of `gpbe.predict`, such as `step_size`; of one with a network also its
            options, such as `optimizer` and `batch`.

    >>> from gpbe import mdp
    >>> log = mdp.Log.simulate(mdp.problem("boyan"), steps=4000, seed=1)
    >>> found = evaluate(log, "lstd")
    >>> low, high = found.interval
    >>> low < found.value < high
    True
    """
    asked = read_asked(
        estimator,
        level=level,
        interval=interval,
        at=at,
        lam=lam,
        resamples=resamples,
        seed=seed,
        workers=workers,
        hidden=hidden,
        body=body,
        hyperparameters=hyperparameters,
    )
    check_function(advance=advance)
    source = read_source(log)
    check_states(asked, source)
    with workers.connected() if isinstance(workers, Workers) and len(source.parts) > 1 else nullcontext():
        return _evaluated(asked, source, advance)


def _evaluated(asked: Asked, source: Source, advance: Callable[[int], None]) -> Evaluation:
    surveys = surveyed(source, asked.workers, advance)
    survey = joined(surveys)
    names, left_out = possible(asked, survey)
    plan = Plan(asked, source, survey, groupings(surveys, _numbers(asked, names, survey)), advance)
    estimates, calibration = plan.estimates(names)
    recommended, reason = advice.recommend(survey, calibration, estimates)
    grouping = plan.grouped[0]
    said = advice.warnings(survey, calibration, estimates)
    found = Diagnostics(survey, calibration, min(grouping.total, _units(survey, grouping)), grouping.block, said)
    return Evaluation(estimates, recommended, reason, found, asked.level, asked.where.kind, left_out)


def read_source(log: Any) -> Source:
    """What is read in pieces."""
    return log if isinstance(log, Log | LogFiles) else scan_log(log)


def check_states(asked: Asked, source: Source) -> None:
    """Given states must have as many features as the log, and a body must take these; one piece tells."""
    given, body = asked.where.features, None if asked.net is None else asked.net.body
    if given is None and body is None:
        return
    width = next(iter(source.pieces(0))).features.shape[1]
    if given is not None and given.shape[1] != width:
        raise InputError(f"at has {given.shape[1]} features; the log has {width}")
    if body is not None:
        from gpbe.learn.control.reading import check_body

        check_body(body, (width,))


def _numbers(asked: Asked, names: Sequence[str], survey: Survey) -> int:
    """Numbers that the estimators keep of a group."""
    sizes = [survey.features**2]
    if any(name in ("wpdis", "wdr") for name in names):
        sizes.append(4 * survey.horizon)
    if "fqe" in names and asked.net is None:
        sizes.append((survey.features * survey.actions) ** 2)
    return max(sizes)


def _units(survey: Survey, grouping: Grouping) -> int:
    return survey.episodes if grouping.block is None else -(-survey.rows // grouping.block)
