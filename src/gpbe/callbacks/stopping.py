"""Stopping a training early."""

from collections import defaultdict, deque
from math import inf, isnan
from numbers import Real

import numpy as np

from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.learn.control.hooks import Stretch


class Stop:
    """Stops runs that are good enough, that no longer improve, or that have all diverged.

    Runs that learn side by side (up to eight) are stopped together: when every one of them is good enough, or when
    their mean no longer improves. A mean over the last `over` numbers is judged, which is less random than one of them.

    Args:
        at: stop when each run has reached this mean, such as 475 in CartPole-v1.
        patience: stop when the mean over runs has not risen for so many numbers.
        on: what is judged: "return", or "evaluation" of `Evaluate`, which has to come before.
        over: how many of the last numbers are averaged.

    >>> import gpbe
    >>> enough = Stop(at=1.0, over=2)  # every episode of Cart Pole has at least this return
    >>> training = gpbe.train("CartPole-v1", "qrc", steps=1000, every=100, runs=2, hidden=(4,), callbacks=enough)
    >>> training.steps.tolist()
    [100, 200]
    """

    def __init__(self, at: float = inf, patience: int | None = None, on: str = "return", over: int = 10):
        check_at_least(1, over=over, **({} if patience is None else {"patience": patience}))
        if not isinstance(at, Real) or isnan(at):
            raise InputError(f"at is {at!r}; it should be a number: the mean return to stop at")
        if not isinstance(on, str):
            raise InputError(f"on is {on!r}; it should be a name, such as 'return' or 'evaluation'")
        if at == inf and patience is None:
            raise InputError("there is nothing to stop at; give at=..., patience=..., or both")
        self.at, self.patience, self.on, self.over = at, patience, on, over
        self._last: dict[tuple[int, int], deque[np.ndarray]] = defaultdict(lambda: deque(maxlen=over))
        self._best: dict[tuple[int, int], tuple[float, int]] = defaultdict(lambda: (-inf, 0))

    def __call__(self, stretch: Stretch) -> bool:
        if (stretch.diverged_at >= 0).all():
            return True
        if self.on not in stretch.values:
            return False
        group = (int(stretch.setting[0]), int(stretch.run[0]))
        last = self._last[group]
        last.append(stretch.values[self.on])
        if len(last) < self.over or np.isnan(last[0]).any():
            return False
        means = np.mean(last, axis=0)
        best, since = self._best[group]
        mean = float(means.mean())
        self._best[group] = (mean, 0) if mean > best else (best, since + 1)
        tired = self.patience is not None and self._best[group][1] >= self.patience
        return bool((means >= self.at).all()) or tired
