"""The claim about outliers: true of exact minima, and false of tables in which the numbers are others."""

import polars as pl
import pytest

from gpbe import report
from gpbe.analysis.stored import Stored
from gpbe.experiments.robust import computation

(CLAIM,) = [claim for claim in report.CLAIMS if getattr(claim, "experiment", "") == "robust"]


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return computation.minima(0, 2)


def verdict(table: pl.DataFrame) -> str:
    return CLAIM.judge(Stored({"robust": table})).verdict


def test_the_claim_holds_of_exact_minima(table):
    finding = CLAIM.judge(Stored({"robust": table}))
    assert finding.verdict == "holds"
    assert "; BE: 10;" in finding.numbers  # the minimum of a square is linear in the rewards, hence in the outliers


@pytest.mark.parametrize(("loss", "as_if"), [("BE", "Huber BE"), ("Huber BE", "BE"), ("absolute BE", "Huber BE")])
def test_the_claim_fails_if_one_loss_does_as_another(table, loss, as_if):
    other = table.filter(pl.col("loss") != loss)
    copied = table.filter(loss=as_if).with_columns(loss=pl.lit(loss))
    assert verdict(pl.concat([other, copied])) == "does not hold"


def test_with_no_outliers_all_losses_are_right_and_few_do_not_spoil_the_absolute_one(table):
    errors = table.filter(panel="number").pivot(on="loss", index=["at", "draw"], values="error")
    assert errors.filter(at=0.0).drop("at", "draw").to_numpy().max() < 1e-8
    few = errors.filter(pl.col("at").is_between(1, 3))
    assert few["absolute BE"].to_numpy().max() < 1e-6
    assert few["BE"].to_numpy().min() > 0.02
    assert (few["Huber BE"] < few["BE"]).all()
