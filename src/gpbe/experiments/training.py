"""What `gpbe.train` found, as a table of settings; `Training.table` has the returns."""

import numpy as np
import polars as pl

from gpbe.learn.train import Training
from gpbe.summary import mean_and_error


def training_table(result: Training) -> pl.DataFrame:
    """A row for each setting: mean return over all steps and over the last quarter, with standard errors over runs.

    A run in which no episode ended has no return, so its setting has none either.
    """
    runs = result.returns.shape[-2]
    means = result.means.reshape(-1, runs).astype(float)
    finals = result.finals.reshape(-1, runs).astype(float)
    mean, mean_error = mean_and_error(means)
    final, final_error = mean_and_error(finals)
    return pl.DataFrame(
        {
            "setting": np.arange(len(finals)),
            **result.settings,
            "mean": mean,
            "mean_error": mean_error,
            "final": final,
            "final_error": final_error,
            "best_run": np.where(np.isnan(finals), -np.inf, finals).argmax(-1),
            "best_final": np.where(np.isnan(finals), -np.inf, finals).max(-1),
            "diverged": (result.diverged_at.reshape(-1, runs) >= 0).sum(-1),
            "runs": np.full(len(finals), runs),
        }
    ).with_columns(
        pl.col("mean", "mean_error", "final", "final_error").fill_nan(None),
        pl.when(pl.col("best_final").is_finite()).then("best_final").alias("best_final"),
    )
