"""Several algorithms in one call give one table, one file and one picture; each is what it is alone."""

import polars as pl
import pytest

SMALL = ("--steps", "60", "--runs", "3", "--metrics", "rmsve", "--every", "20")


@pytest.mark.slow
def test_each_algorithm_has_the_rows_that_it_has_alone(run, tmp_path):
    sweep = ("--step-size", "0.1", "0.2", "--beta", "0.5", "2")
    both = run("predict", "boyan", "td", "tdrc", *SMALL, *sweep, "--out", str(tmp_path / "c.csv"), "--json")
    td = run("predict", "boyan", "td", *SMALL, *sweep[:3], "--json")["settings"]
    tdrc = run("predict", "boyan", "tdrc", *SMALL, *sweep, "--json")["settings"]
    numbers = ("step_size", "area", "area_error", "final", "diverged", "choice")
    assert [[row[k] for k in numbers] for row in both["settings"]] == [[row[k] for k in numbers] for row in td + tdrc]
    assert [row["algorithm"] for row in both["settings"]] == ["td"] * 2 + ["tdrc"] * 4
    assert [row["setting"] for row in both["settings"]] == list(range(6))
    assert [heading["algorithm"] for heading in both["algorithms"]] == ["td", "tdrc"]
    curves = pl.read_csv(tmp_path / "c.csv")
    assert curves.group_by("algorithm").len().sort("algorithm").rows() == [("td", 6), ("tdrc", 12)]
    assert curves.filter(algorithm="td")["beta"].null_count() == 6


def test_one_picture_of_the_best_setting_of_each(run, tmp_path, monkeypatch):
    from gpbe.figures import learning

    drawn = []
    draw = learning.draw
    monkeypatch.setattr(learning, "draw", lambda *given: drawn.append(given) or draw(*given))
    run("predict", "boyan", "td", "gtd2", *SMALL, "--step-size", "1e-3", "0.2", "--out", str(tmp_path / "c.png"))
    (table, title, labels) = drawn[0]
    assert title == "td and gtd2 on boyan"
    assert sorted(labels.values()) == ["gtd2, step_size 0.2", "td, step_size 0.2"]
    assert table["setting"].n_unique() == 2


@pytest.mark.slow
def test_training_compares_algorithms_and_saves_the_best(run, tmp_path):
    import gpbe

    few = ("--steps", "200", "--every", "100", "--runs", "2", "--hidden", "4")
    names, files = ("qrc", "qrc-grad"), {"--out": tmp_path / "c.csv", "--save": tmp_path / "a.npz"}
    given = [str(part) for pair in files.items() for part in pair]
    both = run("train", "CartPole-v1", *names, *few, *given, "--json")
    assert [row["algorithm"] for row in both["settings"]] == list(names)
    best = max(both["settings"], key=lambda row: row["final"])
    assert both["agent"]["algorithm"] == gpbe.load(files["--save"]).algorithm == best["algorithm"]
    assert pl.read_csv(files["--out"]).columns == ["setting", "algorithm", "run", "step", "return"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "boyan", "td", "td"), "algorithms are td td; name each once"),
        (("predict", "boyan", "td", "etd", "--beta", "1"), "none of td, etd has 'beta'; leave it out"),
        (("predict", "boyan", "td", "tdcc"), "did you mean"),
        (("train", "CartPole-v1", "qrc", "qc", "--checkpoint", "a.npz"), "--checkpoint is for one algorithm"),
    ],
)
def test_mistakes_get_one_line(arguments, message, capsys):
    from gpbe.cli import main

    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert message in said
    assert said.count("\n") == 1
