"""What a notebook shows of objects: a picture or a table, where that says more than a line.

Objects know these functions by name only (`gpbe.lazy.named`), since what computes does not import what draws.
"""

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gpbe.exact.diagnose import Diagnosis
from gpbe.mdp import PredictionProblem
from gpbe.pages.html import rows_of
from gpbe.summary import mean_and_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpbe.evaluation import Evaluation
    from gpbe.learn.prediction import Prediction
    from gpbe.learn.train import Training

MOST = 30
"""Rows of a table that a notebook shows, and features in a row."""


def diagnosis(found: Diagnosis) -> str:
    """Verdicts, advice, the four figures, and the tables behind folds."""
    from gpbe.analysis.diagnosis import tables_of
    from gpbe.look.diagnosis import advised, pictures, verdicts
    from gpbe.look.tables import block
    from gpbe.pages.diagnosis import blocks, heading

    folded = "\n".join(
        f"<details><summary>{escape(each.title)}</summary>{block(each)}</details>" for each in blocks(found, MOST)
    )
    grid = "display: grid; grid-template-columns: repeat(auto-fit, minmax(22em, 1fr)); gap: 1em"
    return (
        f"<p><b>{escape(heading(found))}</b></p><p>{verdicts(found)}</p>{advised(found)}"
        f'<div style="{grid}">{pictures(tables_of(found))}</div>{folded}'
    )


def problem(one: PredictionProblem) -> str | None:
    """A row for each state: what the policies do there, and its features; of a batch or a sparse one there is none."""
    if one.batch_shape or one.mdp.is_sparse:
        return None
    names = one.mdp.action_names
    columns = ["state", *(f"π({a})" for a in names), *(f"b({a})" for a in names)]
    x, count = one.features[:, :MOST], one.mdp.n_states
    columns += [f"x{k + 1}" for k in range(x.shape[1])]
    numbers = np.concatenate([one.target, one.behavior, x], axis=1)
    rows = [[name, *map(float, row)] for name, row in zip(one.mdp.state_names, numbers[:MOST], strict=False)]
    more = f"<p>... and {count - MOST} more states</p>" if count > MOST else ""
    return f"<p><b>{escape(repr(one)[1:-1])}</b></p>{rows_of(columns, rows, range(1, len(columns)))}{more}"


def prediction(result: "Prediction") -> str | None:
    """Learning curves, and how good the settings are; nothing if runs of all settings diverged: its line says so."""
    from gpbe.figures import learning
    from gpbe.learn.tables import curves_table, settings_table

    means = [np.mean(areas, -1, dtype=float) for areas in result.areas.values()]
    if result.settings and not all(np.isfinite(mean).any() for mean in means):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # what has diverged may square beyond the largest float
        return _shown(
            repr(result), learning.draw(curves_table(averaged(result)), result.algorithm), settings_table(result)
        )


def averaged(result: "Prediction") -> "Prediction":
    """The same, with means over runs for its curves."""
    if result.errors or not result.curves or _averaged_already(result):
        return result
    both = {name: mean_and_error(np.moveaxis(curve, -2, -1)) for name, curve in result.curves.items()}
    return replace(
        result, curves={k: mean for k, (mean, _) in both.items()}, errors={k: error for k, (_, error) in both.items()}
    )


def _averaged_already(result: "Prediction") -> bool:
    return next(iter(result.curves.values())).ndim == result.diverged_at.ndim


def training(result: "Training") -> str:
    """Returns while learning, and how good the settings are."""
    from gpbe.experiments.training import training_table
    from gpbe.figures import returns

    drawn = returns.draw(result.table(), f"{result.algorithm} on {result.env}")
    return _shown(repr(result), drawn, training_table(result))


def evaluation(result: "Evaluation") -> str:
    """Each estimate with its interval."""
    from gpbe.figures import estimates

    return _shown(repr(result), estimates.draw(result.table(), "value of the target policy"), result.table())


def _shown(line: str, fig: "Figure", table: pl.DataFrame) -> str:
    from gpbe.figures.inline import svg

    numbers = [k for k, kind in enumerate(table.dtypes) if kind.is_numeric()]
    more = f"<p>... and {table.height - MOST} more rows</p>" if table.height > MOST else ""
    rows = rows_of(table.columns, table.head(MOST).rows(), numbers)
    drawn = f'<div style="max-width: 48em">{svg(fig, line[1:-1])}</div>'
    return f"<p><b>{escape(line[1:-1])}</b></p>{drawn}<details><summary>table</summary>{rows}{more}</details>"
