"""Results in long format hold the same numbers as the arrays."""

import sys

import numpy as np
import polars as pl
import pytest

import gpbe


@pytest.fixture(scope="module")
def result():
    return gpbe.predict("boyan", "td", steps=40, runs=3, every=20, step_size=[0.1, 0.2], metrics=("rmsve", "rmspbe"))


def test_rows_are_entries_of_the_curves(result):
    table = result.table()
    assert table.height == 2 * 3 * 2 * 2
    row = table.filter(setting=1, metric="rmspbe", run=2, step=40).row(0, named=True)
    assert row["value"] == result.curves["rmspbe"][1, 2, 1].astype(float)
    assert row["step_size"] == 0.2


def test_pandas_and_files_have_the_same(result, tmp_path):
    table = result.table()
    frame = result.to_pandas()
    assert list(frame.columns) == table.columns
    np.testing.assert_array_equal(frame["value"], table["value"])
    assert pl.read_csv(result.to_csv(tmp_path / "long.csv")).equals(table)
    assert pl.read_parquet(result.to_csv(tmp_path / "long.parquet")).equals(table)


def test_refusals(result, refuses, tmp_path, monkeypatch):
    refuses(lambda: result.to_csv(tmp_path / "long.txt"), "should end in .csv or .parquet")
    monkeypatch.setitem(sys.modules, "pandas", None)
    refuses(result.to_pandas, "pandas is not installed")
