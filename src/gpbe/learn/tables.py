"""What `gpbe.predict` found, as tables: one of settings, one of learning curves."""

from collections.abc import Iterable

import numpy as np
import polars as pl

from gpbe.learn.prediction import Prediction
from gpbe.shapes import Array
from gpbe.summary import mean_and_error


def settings_table(result: Prediction) -> pl.DataFrame:
    """A row for each setting and metric: area and final error with standard errors, and how many runs diverged.

    A run has diverged if its weights or this error became infinite in the 32 bits of learning; errors are squared on
    the way, so they do so first. It is growing if it has not, but its error is beyond 1e6 times the first. `choice` is
    "best" for the setting with the smallest area, "rival" for those that the runs cannot tell from it; where every
    setting has runs that diverged, there is neither.

    >>> import gpbe
    >>> result = gpbe.predict(gpbe.mdp.boyan(), "td", steps=50, runs=3, step_size=[0.1, 0.2], metrics=("rmsve",))
    >>> settings_table(result).columns[:6]
    ['setting', 'step_size', 'metric', 'initial', 'area', 'area_error']
    """
    count, names = _count(result), list(result.areas)
    frames = []
    for metric in names:
        area, final = (_by_setting(scores[metric]) for scores in (result.areas, result.finals))
        area_mean, area_error = mean_and_error(area)
        final_mean, final_error = mean_and_error(final)
        frames.append(
            pl.DataFrame(
                {
                    "setting": np.arange(count),
                    **result.settings,
                    "metric": [metric] * count,
                    "initial": np.full(count, np.mean(result.initial[metric], dtype=float)),
                    "area": area_mean,
                    "area_error": area_error,
                    "final": final_mean,
                    "final_error": final_error,
                    "diverged": (~np.isfinite(area) | (_by_setting(result.diverged_at) >= 0)).sum(-1),
                    "growing": _by_setting(result.growing(metric)).sum(-1).astype(int),
                    "runs": np.full(count, area.shape[-1]),
                    "choice": _choices(result, metric),
                }
            ).with_columns(pl.col("area_error", "final_error").fill_nan(None))
        )
    return pl.concat(frames).sort("setting", maintain_order=True)


def curves_table(result: Prediction, settings: Iterable[int] | None = None) -> pl.DataFrame:
    """A row for each setting, metric and point of a result that kept averages only (`average=True`)."""
    table = result.table()
    return table if settings is None else table.filter(pl.col("setting").is_in(list(settings)))


def _count(result: Prediction) -> int:
    return len(next(iter(result.settings.values()))) if result.settings else 1


def _by_setting(scores: Array) -> Array:
    """(settings, runs), whether or not anything was swept; in 64 bits, which the square of a large error needs."""
    return scores.reshape(-1, scores.shape[-1]).astype(float)


def _choices(result: Prediction, metric: str) -> list[str | None]:
    choices: list[str | None] = [None] * _count(result)
    if result.settings and np.isfinite(mean_and_error(result.areas[metric])[0]).any():
        best = result.best(metric)
        for k in best.rivals:
            choices[k] = "rival"
        choices[best.index] = "best"
    return choices
