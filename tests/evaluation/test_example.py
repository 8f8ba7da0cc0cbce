"""The example from raw CSV to a decision: its estimates are what would have happened."""

import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from helpers.seeds import seed

EXAMPLE = Path(__file__).parents[2] / "examples" / "reminders.py"


@pytest.mark.learning
def test_the_recommended_estimates_are_what_would_have_happened(tmp_path):
    example = runpy.run_path(str(EXAMPLE))
    rule = example["calls_after_misses"]
    example["record"](tmp_path / "log.csv", 600, seed(1))
    example["record"](tmp_path / "truth.csv", 600, seed(2), rule)
    found = example["evaluate"](tmp_path / "log.csv", rule)
    lived = pl.read_csv(tmp_path / "truth.csv")
    returns = np.bincount(lived["patient"], lived["benefit"] * 0.95 ** lived["week"])
    spread = np.hypot(found["fqe"].error, returns.std() / np.sqrt(600))
    assert found.recommended in ("lstd", "fqe", "mis", "lsetd")
    assert abs(found["fqe"].value - returns.mean()) < 5 * spread
