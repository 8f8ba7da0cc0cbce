"""Options of `gpbe train` for what watches a training: the ready callbacks of `gpbe.callbacks`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpbe.checks import check_at_least
from gpbe.cli.options import File, Folder, Number, Real
from gpbe.cli.terminal import check_file, check_writable
from gpbe.errors import InputError

if TYPE_CHECKING:
    from gpbe.callbacks import Callback, Evaluate
    from gpbe.learn.train import Training


@dataclass(frozen=True)
class Watching:
    """What watches a training. None of it changes what is learned."""

    csv: File = None
    """write a row for each run and number into this file, as it happens"""
    tensorboard: Folder = None
    """write event files into this folder, to be seen by `tensorboard --logdir FOLDER`"""
    measure: bool = False
    """measure the loss and the sizes of the TD error and of h too, for --csv and --tensorboard"""
    evaluate_every: Number = None
    """play greedy episodes after so many steps, and after the last ones"""
    evaluate_episodes: int = 10
    """greedy episodes of each evaluation"""
    stop_at: Real = None
    """stop when every run that is learned side by side has this mean return: over the last ten that were recorded, or
    with --evaluate-every over greedy episodes"""
    patience: Number = None
    """stop when the mean return over runs has not risen for so many recordings, or evaluations"""


NOTHING = Watching()


def check_watching(asked: Watching, algorithms: Sequence[str]) -> None:
    """Refuse what cannot be written, or says nothing, before anything is learned."""
    counts = {"evaluate_every": asked.evaluate_every, "evaluate_episodes": asked.evaluate_episodes}
    check_at_least(1, patience=asked.patience, **counts)
    for name in algorithms:
        csv = own_file(asked.csv, name, algorithms)
        if csv is not None:
            check_file(csv)
        if asked.tensorboard is not None:
            check_writable(own_folder(asked.tensorboard, name, algorithms))
    if asked.measure and asked.csv is None and asked.tensorboard is None:
        raise InputError("--measure has nowhere to write; give --csv FILE or --tensorboard FOLDER, too")


def callbacks_of(
    asked: Watching, algorithm: str, algorithms: Sequence[str], goes_on: bool
) -> "tuple[list[Callback], Evaluate | None]":
    """The callbacks of one algorithm of several, in the order in which they are asked; and the one that evaluates.

    >>> found, greedy = callbacks_of(Watching(evaluate_every=500, stop_at=475.0), "qrc", ["qrc"], goes_on=False)
    >>> [type(each).__name__ for each in found], greedy.every, found[-1].on
    (['Evaluate', 'Stop'], 500, 'evaluation')
    """
    from gpbe import callbacks

    found: list[Callback] = []
    greedy = None
    if asked.evaluate_every is not None:
        greedy = callbacks.Evaluate(asked.evaluate_every, asked.evaluate_episodes)
        found.append(greedy)
    if (csv := own_file(asked.csv, algorithm, algorithms)) is not None:
        found.append(callbacks.CSV(csv, append=goes_on))
    if asked.tensorboard is not None:
        found.append(callbacks.TensorBoard(own_folder(asked.tensorboard, algorithm, algorithms)))
    if asked.stop_at is not None or asked.patience is not None:
        at = inf if asked.stop_at is None else asked.stop_at
        judged = {} if greedy is None else {"on": "evaluation", "over": 1}
        found.append(callbacks.Stop(at, asked.patience, **judged))
    return found, greedy


def own_file(path: Path | None, algorithm: str, algorithms: Sequence[str]) -> Path | None:
    """The file of one algorithm; of several, each has one with its name in it.

    >>> own_file(Path("a/log.csv"), "qrc", ["qrc"]).name, own_file(Path("a/log.csv"), "qrc", ["qrc", "gq"]).name
    ('log.csv', 'log-qrc.csv')
    """
    return path if path is None or len(algorithms) == 1 else path.with_stem(f"{path.stem}-{algorithm}")


def own_folder(path: Path, algorithm: str, algorithms: Sequence[str]) -> Path:
    """The folder of one algorithm; of several, each has one in it."""
    return path if len(algorithms) == 1 else path / algorithm


def seen(result: "Training", greedy: "Evaluate | None", setting: int) -> list[str]:
    """What to tell after a training: how good greedy episodes of a setting were at the end, and that it was stopped."""
    from gpbe.cli.pages import with_error
    from gpbe.summary import mean_and_error

    lines = []
    if greedy is not None and (last := last_of(greedy.rows, setting)):  # there are none if all have diverged early
        mean, error = mean_and_error(np.array([row["mean"] for row in last]))
        shown = with_error(float(mean), float(error) if len(last) > 1 else last[0]["standard_error"])
        over = f"{len(last)} runs, {greedy.episodes} episodes each" if len(last) > 1 else f"{greedy.episodes} episodes"
        lines.append(f"greedy return after {last[0]['steps']:,} steps: {shown} over {over}")
    if result.points is not None:
        short, long = (int(end) * int(result.steps[0]) for end in (result.points.min(), result.points.max()))
        lines.append(f"stopped early: after {f'{short:,}' if short == long else f'{short:,} to {long:,}'} steps")
    return lines


def last_of(rows: Sequence[Mapping[str, Any]], setting: int) -> list[Mapping[str, Any]]:
    """The last evaluation of each run of a setting.

    >>> last_of([{"setting": 0, "run": 0, "mean": 1.0}, {"setting": 0, "run": 0, "mean": 2.0}], 0)
    [{'setting': 0, 'run': 0, 'mean': 2.0}]
    """
    return list({row["run"]: row for row in rows if row["setting"] == setting}.values())
