"""What `gpbe.evaluate` answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from gpbe.checks import check_known
from gpbe.evaluation.survey import Calibrated, Survey
from gpbe.lazy import named
from gpbe.shapes import Array
from gpbe.wording import counted


@dataclass(frozen=True)
class Estimate:
    """The target policy's value by one estimator, with its uncertainty."""

    name: str
    value: float
    error: float
    """The standard error."""
    interval: tuple[float, float]
    method: str
    """How the interval was made: "asymptotic" or "bootstrap"."""
    weights: Array | None = field(default=None, repr=False)
    """The weights of linear values: features times these are the values of states (or of actions, one action after
    the other)."""
    network: bool = False
    """Does it come from the values of a network alone?"""
    change: float = 0.0
    """How much the last round of fitting changed a network's values, as a part of their deviation: the largest of all
    fits that it rests on. 0 where no network is fitted."""

    freedom: float = np.inf
    """Degrees of freedom of the standard error: few where few groups of episodes make up most of it. Infinite where
    that is not known, as of resampled values."""

    @property
    def finite(self) -> bool:
        """Is there a number, and an interval?"""
        return bool(np.isfinite([self.value, *self.interval]).all())

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.name} {self.value:.4g} [{low:.4g}, {high:.4g}]"


@dataclass(frozen=True)
class Diagnostics:
    """What a person must know of the log first."""

    survey: Survey
    calibration: Calibrated
    units: int
    """Episodes, or blocks of rows, that the intervals are made from."""
    block: int | None
    """Rows in such a block; None if episodes were used."""
    warnings: tuple[str, ...]

    @property
    def effective_episodes(self) -> float:
        """How many episodes of the target's own the log is worth, at the end of the longest."""
        found = self.survey.effective
        return float(found[-1]) if len(found) else 0.0


@dataclass(frozen=True)
class Evaluation:
    """A policy's value from a log; its value and interval are those of the recommended estimator."""

    estimates: Mapping[str, Estimate]
    recommended: str
    reason: str
    diagnostics: Diagnostics
    level: float
    at: str
    """Whose value it is: "start", "log", or "given states"."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Estimators that this log is not enough for, and why."""

    @property
    def value(self) -> float:
        """The recommended estimate."""
        return self.estimates[self.recommended].value

    @property
    def interval(self) -> tuple[float, float]:
        """Its interval."""
        return self.estimates[self.recommended].interval

    @property
    def weights(self) -> Array | None:
        """The weights of linear values, if the recommended estimate has any."""
        return self.estimates[self.recommended].weights

    def __getitem__(self, name: str) -> Estimate:
        check_known(name, self.estimates, "estimate")
        return self.estimates[name]

    def table(self) -> pl.DataFrame:
        """A row for each estimate."""
        rows = [
            {
                "estimator": e.name,
                "value": e.value,
                "error": e.error,
                "low": e.interval[0],
                "high": e.interval[1],
                "level": self.level,
                "method": e.method,
                "recommended": e.name == self.recommended,
            }
            for e in self.estimates.values()
        ]
        return pl.DataFrame(rows)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the weights, for JSON."""
        s, d = self.diagnostics.survey, self.diagnostics
        return {
            "at": self.at,
            "level": self.level,
            "recommended": self.recommended,
            "reason": self.reason,
            "value": _plain(self.value),
            "interval": [_plain(x) for x in self.interval],
            "estimates": [{k: _plain(v) for k, v in row.items()} for row in self.table().iter_rows(named=True)],
            "left_out": dict(self.left_out),
            "diagnostics": {
                "rows": s.rows,
                "episodes": s.episodes,
                "ended": s.ended,
                "longest": s.horizon,
                "behavior_return": _plain(s.behavior[0]) if s.ended else None,
                "behavior_error": _plain(s.behavior[1]) if s.ended else None,
                "units": d.units,
                "block": d.block,
                "effective_episodes": _plain(d.effective_episodes),
                "effective_rows": _plain(s.effective_rows),
                "never_taken_by_target": s.never,
                "least_behavior": s.least_behavior,
                "largest_ratios": [{"ratio": r, "file": file, "row": row} for r, file, row in s.largest],
                "calibration": {k: _plain(v) for k, v in d.calibration._asdict().items()}
                | {"suspicious": d.calibration.suspicious},
                "warnings": list(d.warnings),
            },
        }

    def __repr__(self) -> str:
        (low, high), among = self.interval, counted(len(self.estimates), "estimate")
        said = f"{self.value:.4g}, {100 * self.level:g} % interval [{low:.4g}, {high:.4g}]"
        return f"<Evaluation: value {said} by {self.recommended}, of {among}>"

    def _repr_html_(self) -> str:
        return named("gpbe.look.notebook:evaluation")(self)

    def __str__(self) -> str:
        from gpbe.evaluation.page import as_text

        return as_text(self)

    def __rich__(self) -> Any:
        from gpbe.evaluation.page import as_page

        return as_page(self)


def _plain(value: Any) -> Any:
    """JSON has no infinity and no NaN."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
