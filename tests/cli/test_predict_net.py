"""`gpbe predict --net` as typed."""

import polars as pl
import pytest

import gpbe
from gpbe import mdp
from gpbe.cli import main

WALK = ("predict", "random-walk-5")


def test_it_prints_what_predict_learns(run, tmp_path):
    mdp.Log.simulate(mdp.boyan(), 30, seed=1).write(tmp_path / "log.parquet")
    out = tmp_path / "curves.csv"
    given = ("--net", "4", "--n", "episode", "--lam", "0.5", "--batch", "5", "--kernel", "laplace", "--every", "15")
    shown = run("predict", str(tmp_path / "log.parquet"), "emphatic-kbe", *given, "--json", "--out", str(out))
    log = mdp.Log.read(tmp_path / "log.parquet")
    direct = gpbe.predict(log, "emphatic-kbe", net=(4,), n="episode", lam=0.5, batch=5, kernel="laplace", every=15)
    assert shown["settings"][0]["final"] == pytest.approx(direct.finals["rmstde"][0])
    said = {"net": "4", "n": "episode", "batch": 5, "kernel": "laplace", "runs": 1, "lam": 0.5, "bandwidth": 1.0}
    assert said.items() <= shown.items()
    assert pl.read_csv(out)["step"].to_list() == [15, 30]


REFUSED = {
    "no net": (("tdrc", "--n", "3"), "n is for values from a network; give net"),
    "layers": (("tdrc", "--net", "0"), "net is (0,); give the sizes of hidden layers"),
    "n": (("tdrc", "--net", "4", "--n", "0"), "n is 0; a return has 1 transition or more"),
    "n word": (("tdrc", "--net", "4", "--n", "all"), "n is 'all'; a return has 1 transition or more"),
    "lam": (("tdrc", "--net", "4", "--lam", "0.5"), "give n more than 1"),
    "linear": (("lstd", "--net", "4"), "no algorithm for networks 'lstd'"),
    "epochs": (("tdrc", "--net", "4", "--epochs", "2"), "epochs is for linear values; leave net out"),
    "kernel": (("tdrc", "--net", "4", "--kernel", "same"), "kernel is for kbe"),
    "buffer": (("tdrc", "--net", "4", "--buffer", "9"), "buffer is for learning from replay"),
    "online kbe": (("kbe", "--net", "4"), "needs pairs of samples"),
    "metric": (("tdrc", "--net", "4", "--metrics", "distance"), "no metric 'distance'"),
    "unused": (("td", "--net", "4", "--beta", "1"), "td does not use 'beta'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_end_with_one_line(case, capsys):
    arguments, complaint = REFUSED[case]
    with pytest.raises(SystemExit) as end:
        main([*WALK, *arguments])
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert complaint in said
    assert len(said.strip().splitlines()) == 1
