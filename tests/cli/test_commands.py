"""The command line, run in this process: what it prints, what it writes, and how it complains."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe import experiments, mdp, store
from gpbe.algorithms import linear, nonlinear
from gpbe.algorithms.linear import ALGORITHMS
from gpbe.cli import COMMANDS, main
from gpbe.cli.predict import Hyperparameters
from gpbe.exact.weightings import WEIGHTINGS, Name
from gpbe.experiments import cost
from helpers.samples import few

# --- train


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v9"], "did you mean 'CartPole-v1'"),
        (["CartPole-v1", "qcr"], "there is no control algorithm 'qcr'"),
        (["CartPole-v1", "qrc", "--step-size", "0"], "step_size is 0; it should be above 0"),
        (["CartPole-v1", "qrc", "--batch", "64", "--buffer", "32"], "the buffer holds only 32"),
        (["CartPole-v1", "qrc", "--out", "curves.doc"], "should end in .parquet or .csv"),
        (["CartPole-v1", "qrc", "--checkpoint", "pyproject.toml"], "is not a checkpoint saved by gpbe"),
    ],
)
def test_train_complains_in_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["train", *arguments, "--steps", "500"])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_train_writes_curves_a_drawing_and_an_agent(run, tmp_path):
    common = ("CartPole-v1", "qrc", "--steps", "200", "--every", "100", "--hidden", "5", "--runs", "2")
    shown = run("train", *common, "--step-size", "2^-9", "2^-8", "--out", str(tmp_path / "c.csv"), "--json")
    assert [row["step_size"] for row in shown["settings"]] == [2**-9, 2**-8]
    assert (tmp_path / "c.csv").read_text().splitlines()[0] == "setting,step_size,run,step,return"
    four = (*common[:-1], "4")  # as many lanes: the same program
    text = run("train", *four, "--out", str(tmp_path / "c.png"), "--save", str(tmp_path / "a.npz"))
    assert (tmp_path / "c.png").stat().st_size > 10_000
    assert gpbe.load(tmp_path / "a.npz").env == "CartPole-v1"
    assert "over the last quarter" in text


# --- list


def test_list_names_everything_and_marks_no_kind_empty(run):
    kinds = run("list", "--json")
    assert list(kinds) == [
        "problems",
        "algorithms",
        "networks",
        "control",
        "experiments",
        "figures",
        "objectives",
        "weightings",
        "bounds",
    ]
    assert list(kinds["problems"]) == list(mdp.ZOO)
    assert list(kinds["figures"]) == list(experiments.FIGURES)
    assert "Kolter" in kinds["figures"]["kolter"]
    text = run("list")
    assert all(name in text for kind in kinds.values() for name in kind)


def test_list_of_one_kind(run):
    assert list(run("list", "weightings", "--json")) == ["weightings"]
    assert "baird" not in run("list", "weightings")


def test_list_algorithms_tells_axes_soundness_and_hyperparameters(run):
    algorithms = run("list", "algorithms", "--json")["algorithms"]
    assert list(algorithms) == list(ALGORITHMS)
    assert algorithms["emphatic-gtd2-mp"] == {
        "prior": "emphatic",
        "bootstrapping": "importance",
        "update": "saddlepoint",
        "mirror_prox": True,
        "regularized": False,
        "bounded": False,
        "decayed_followon": False,
        "variance_reduction": "none",
        "paper": "hypothetical (Patterson et al. 2022, gray)",
        "label": "emphatic GTD2-MP",
        "weighting": "m",
        "sound": True,
        "needs": "",
        "hyperparameters": ["step_size", "ratio", "lam", "power", "delay"],
    }
    # TD with no prior correction, or with part of one, can diverge for every step size; GTD2 is a true gradient.
    unsound = {name for name, a in algorithms.items() if not a["sound"]}
    assert {"td", "tree-backup", "v-trace", "ab-trace", "etd-beta"} <= unsound
    assert not {"gtd2", "etd", "lstd", "alternative-life-td"} & unsound


def test_list_algorithms_fits_a_page_of_120_characters(run):
    lines = run("list", "algorithms").splitlines()
    assert max(map(len, lines)) <= 120
    names = [line.split()[0] for line in lines if line.strip()]
    assert [name for name in names if name in ALGORITHMS] == list(ALGORITHMS)


def test_listing_starts_without_jax_and_matplotlib():
    heavy = "{'jax', 'matplotlib'} & set(sys.modules)"
    code = f"import sys; from gpbe.cli import main; main(['list']); sys.exit(bool({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0


# --- figure


def test_figure_writes_drawings_and_tables_of_what_was_run(run, tmp_path, monkeypatch):
    out = tmp_path / "new"
    (done,) = run("run", "corrections", "--scale", "smoke", "--out", str(out), "--json")
    assert (done["done"], done["unit"], done["folder"]) == (1, "transitions", str(out / "results/corrections-smoke"))
    (entry,) = run("figure", "corrections", "--scale", "smoke", "--out", str(out), "--json")
    assert entry["figure"] == "corrections"
    assert [path.rsplit(".", 1)[1] for path in entry["files"]] == ["png", "pdf", "parquet", "csv"]
    assert sorted(map(str, out.iterdir())) == sorted([*entry["files"], str(out / "results")])
    assert pl.read_parquet(out / "corrections.parquet").height == 10
    monkeypatch.chdir(out)
    text = run("figure", "all", "--scale", "smoke", "--out", ".")
    assert "5 transitions" in text
    assert "corrections.{png,pdf,parquet,csv}" in text
    assert "kolter: not drawn; no results at the smoke scale in .; first: gpbe run kolter --scale smoke" in text
    assert "bakeoff: not drawn; no results at the smoke scale in ." in text


def test_a_study_that_is_not_complete_is_not_drawn(tmp_path, capsys):
    chosen = experiments.find("aliased-learned", "smoke")
    folder = tmp_path / "results" / "aliased-learned-smoke"
    with store.Results(folder, chosen.spec(), chosen.runner, chosen.chunks()):
        pass
    with pytest.raises(SystemExit):
        main(["figure", "aliased-learned", "--scale", "smoke", "--out", str(tmp_path)])
    assert "has 0 of 3 chunks; the rest: gpbe run aliased-learned --scale smoke" in capsys.readouterr().err


def test_experiments_are_listed_at_once_and_timed_when_asked(run, tmp_path, monkeypatch):
    """The speed of the machine is measured for --cost and --workers, and known from then on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    measured = []
    monkeypatch.setattr(cost, "steps_per_second", lambda domain: measured.append(domain) or 1000.0)
    monkeypatch.setattr(cost, "_seconds_for_draws", lambda: cost.REFERENCE)
    first = run("list", "experiments", "--json")
    assert first["speed"] is None
    assert first["experiments"]["kolter"]["scales"]["paper"] == {"work": 4000}
    assert "gpbe list experiments --cost" in run("list", "experiments")
    assert not measured
    assert run("list", "experiments", "--cost", "--json")["speed"]["relative"] == 1.0
    once = len(measured)
    assert run("list", "experiments", "--json")["experiments"]["kolter"]["scales"]["paper"]["seconds"] > 0
    assert "steps a second of QRC on one core" in run("list", "experiments")
    assert len(measured) == once > 3


def test_the_cost_of_experiments_follows_from_the_speed_of_the_machine(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cost, "steps_per_second", lambda domain: 1000.0)
    monkeypatch.setattr(cost, "_seconds_for_draws", lambda: 2 * cost.REFERENCE)
    listed = run("list", "experiments", "--workers", "50", "--json")
    assert list(listed["experiments"]) == list(experiments.NAMES)
    assert listed["workers"] == 50
    assert listed["speed"]["relative"] == 0.5
    # QRC-Sep has 480 settings, QRC-Grad 144, both at 0.6 of QRC's speed: 4 domains, 100 runs of 100,000 steps.
    basis = listed["experiments"]["basis"]["scales"]["paper"]
    assert basis["work"] == 7_200_000_000
    assert basis["core_seconds"] == pytest.approx(basis["work"] / 600)
    walk = listed["experiments"]["random-walk"]["scales"]
    once, each = experiments.DECLARED["random-walk"].seconds
    assert walk["paper"]["core_seconds"] == pytest.approx(2 * (100 * once + 1_000_000 * each))
    # 49 workers have nothing to do when one chunk is left: eight lanes of 100,000 steps.
    assert basis["longest"] == pytest.approx(800_000 / 600)
    aliased = listed["experiments"]["aliased-learned"]["scales"]["quick"]  # three chunks
    assert aliased["seconds"] == aliased["longest"] == pytest.approx(aliased["core_seconds"] / 3)
    monkeypatch.setattr(cost, "steps_per_second", None)  # the speed is known by now
    assert listed["staged"]["evidence"]["stages"][0] == "evidence-screen"
    said = run("list", "experiments", "--workers", "50")
    assert "time on 50 workers" in said
    assert "evidence-screen, evidence-race" in said


def test_an_estimate_of_a_study_of_ones_own_says_that_its_time_is_unknown(run, monkeypatch):
    monkeypatch.setattr(cost, "_seconds_for_draws", lambda: 1.0)
    file = str(Path(__file__).parents[2] / "examples" / "divergence.py")
    assert run("run", file, "--estimate", "--json")["experiments"] == [
        {"experiment": "divergence", "work": 4000, "unit": "problems"}
    ]
    assert "4,000 problems  unknown" in run("run", file, "--estimate")


# --- diagnose


@pytest.mark.parametrize(("problem", "verdict"), [("baird", "diverges"), ("random-walk-5", "converges")])
def test_diagnose_tells_whether_td_converges(run, problem, verdict):
    assert run("diagnose", problem, "--json")["td"]["behavior"]["verdict"] == verdict
    assert f"d_b         {verdict}" in run("diagnose", problem)


def test_diagnose_takes_files_and_members_of_a_batch(run, tmp_path):
    file = tmp_path / "mine.toml"
    mdp.save(mdp.kolter(p=0.7), file)
    assert run("diagnose", str(file), "--json")["td"]["behavior"]["verdict"] == "diverges"
    assert run("diagnose", "four-rooms", "--index", "2", "--json")["states"] == 104


# --- predict


def test_predict_finds_what_the_library_finds(run):
    found = run(
        "predict", "boyan", "td", "--steps", "200", "--runs", "4", "--seed", "3", "--step-size", "1/4", "--json"
    )
    result = gpbe.predict(mdp.boyan(), "td", steps=200, runs=4, seed=3, step_size=0.25)
    assert {k: found[k] for k in ("problem", "algorithm", "steps", "runs", "seed", "step_size", "lam")} == {
        "problem": "boyan",
        "algorithm": "td",
        "steps": 200,
        "runs": 4,
        "seed": 3,
        "step_size": 0.25,
        "lam": 0.0,
    }
    assert [row["metric"] for row in found["settings"]] == ["rmsve", "rmspbe"]
    for row in found["settings"]:
        areas = result.areas[row["metric"]]
        assert row["area"] == pytest.approx(areas.mean(), rel=1e-5)
        assert row["area_error"] == pytest.approx(areas.std(ddof=1) / 2, rel=1e-4)
        assert row["choice"] is None
    # Nothing is known before the first step; the values go from -24 to -2, and d_b is known.
    d, v = mdp.boyan().behavior_distribution, mdp.boyan().values
    assert found["settings"][0]["initial"] == pytest.approx((d @ v**2) ** 0.5, rel=1e-5)


def test_predict_sweeps_all_combinations_and_writes_their_curves(run, tmp_path):
    file = tmp_path / "curves.parquet"
    sweep = ("--step-size", "2^-4..2^-2", "--ratio", "0.5", "2", "--steps", "100", "--runs", "3", "--every", "20")
    found = run("predict", "boyan", "tdc", *sweep, "--metrics", "rmsve", "--out", str(file), "--json")
    rows = found["settings"]
    assert [(r["step_size"], r["ratio"]) for r in rows] == [(a, r) for a in (1 / 16, 1 / 8, 1 / 4) for r in (0.5, 2)]
    best = min(rows, key=lambda r: r["area"])
    assert [r["choice"] for r in rows].count("best") == 1
    assert best["choice"] == "best"
    assert found["file"] == str(file)

    curves = pl.read_parquet(file)
    assert curves.columns == ["setting", "step_size", "ratio", "metric", "step", "mean", "standard_error"]
    assert curves.filter(setting=0)["step"].to_list() == [20, 40, 60, 80, 100]
    means = curves.group_by("setting", maintain_order=True).agg(pl.col("mean").mean())["mean"]
    np.testing.assert_allclose(means, [r["area"] for r in rows], rtol=1e-5)


def test_predict_prints_a_row_for_each_setting(run):
    text = run(
        "predict", "boyan", "td", "--steps", "100", "--runs", "2", "--step-size", "2^-4..2^-2", "--metrics", "rmsve"
    )
    lines = text.splitlines()
    assert lines[0] == "td on boyan: steps 100, runs 2, seed 0, lam 0"
    assert lines[1].split() == ["step_size", "rmsve", "area", "rmsve", "final", "diverged"]
    assert [line.split()[0] for line in lines[2:5]] == ["2^-4", "2^-3", "2^-2"]
    assert lines[4].split()[-1] == "best"
    assert lines[5] == "the best step_size is the largest that was tried; try larger ones too"


def test_what_diverges_is_said_so_and_is_null_in_json(run):
    arguments = ("predict", "baird", "td", "--runs", "2", "--step-size", "0.001", "1", "--metrics", "rmspbe")
    small, large = run(*arguments, "--json")["settings"]
    assert small["diverged"] == 0
    assert small["choice"] == "best"
    assert large["diverged"] == 2
    assert large["area"] is large["final"] is large["choice"] is None
    assert "2 of 2" in run(*arguments)


@pytest.mark.parametrize("suffix", ["csv", "png", "pdf"])
def test_predict_writes_what_the_name_says(run, tmp_path, suffix):
    file = tmp_path / "deep" / f"curves.{suffix}"
    text = run(
        "predict", "boyan", "td", "--steps", "50", "--runs", "2", "--step-size", "0.1", "0.2", "--out", str(file)
    )
    assert f"learning curves: {file}" in text
    start = {"csv": b"setting,step_size", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert file.read_bytes().startswith(start)


def test_predict_learns_from_a_log(run, tmp_path):
    """LSTD's solution is the log's own fixed point, so its distance to that goes to 0."""
    file = tmp_path / "trip.parquet"
    mdp.Log.simulate(mdp.problem("random-walk-5"), 500, seed=1).write(file)
    found = run("predict", str(file), "lstd", "--ridge", "1e-6", "--metrics", "distance", "--every", "50", "--json")
    assert (found["problem"], found["steps"], found["runs"]) == ("trip", 500, 1)
    (row,) = found["settings"]
    assert row["final"] < 0.2 < row["initial"]
    assert row["area_error"] is None


def test_an_error_that_grows_is_said_so_before_it_is_infinite(run):
    command = ("predict", "baird", "td", "--step-size", "0.05", "--steps", "3000", "--runs", "2", "--every", "1000")
    (row, _) = run(*command, "--json")["settings"]
    assert (row["diverged"], row["growing"]) == (0, 2)
    assert row["final"] > 1e6 * row["initial"]
    assert "2 grow" in run(*command, "--metrics", "rmsve")


def test_a_checkpoint_is_promised_only_once_it_is_written(tmp_path, monkeypatch, capsys):
    import gpbe
    from gpbe.cli import main

    def stop(*arguments, checkpoint, **options):
        if checkpoint.name == "written.npz":
            checkpoint.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(gpbe, "train", stop)
    for name, said in (("written.npz", "goes on from"), ("never.npz", "begins anew, without")):
        with pytest.raises(SystemExit) as refusal:
            main(["train", "CartPole-v1", "--checkpoint", str(tmp_path / name)])
        assert refusal.value.code == 130
        assert said in " ".join(capsys.readouterr().err.split())


def test_the_name_in_a_problem_file_is_the_title(run, tmp_path):
    from gpbe import mdp

    mdp.save(mdp.boyan(), tmp_path / "another.toml")
    assert run("predict", str(tmp_path / "another.toml"), "td", "--steps", "20").startswith("td on boyan")


def test_predict_reads_problem_files(run, tmp_path):
    file = tmp_path / "mine.npz"
    mdp.save(mdp.boyan(), file)
    own = run("predict", str(file), "td", "--steps", "50", "--runs", "2", "--json")
    zoo = run("predict", "boyan", "td", "--steps", "50", "--runs", "2", "--json")
    assert own["settings"] == zoo["settings"]


def examples() -> list[tuple[str, list[str]]]:
    """The commands of the guide, `$ gpbe ...`, and the lines that it shows below them."""
    guide = (Path(__file__).parents[2] / "docs" / "prediction.md").read_text()
    found = re.findall(r"^ +\$ gpbe (.*)\n((?: {4,}.*\n)+)", guide, re.MULTILINE)
    assert len(found) >= 3
    return [(command, shown.splitlines()) for command, shown in found]


EXAMPLES = dict(examples())


@pytest.mark.parametrize("command", few(EXAMPLES, list(EXAMPLES)[:1]))
def test_the_guides_commands_print_what_it_shows(run, command):
    """Word by word; numbers to within what another processor's rounding may change."""
    printed = run(*command.split()).splitlines()
    assert len(printed) == len(EXAMPLES[command])
    for ours, its in zip(printed, EXAMPLES[command], strict=True):
        for word, expected in zip(ours.split(), its.split(), strict=True):
            if expected.replace(".", "").replace("e-", "").isdigit():
                assert float(word) == pytest.approx(float(expected), rel=0.2)
            else:
                assert word == expected


def test_every_hyperparameter_and_weighting_can_be_chosen():
    assert {field.name for field in fields(Hyperparameters)} == {*linear.Hypers._fields, *nonlinear.Hypers._fields}
    assert set(WEIGHTINGS) == set(get_args(Name))


# --- complaints

LEARN = ("predict", "boyan", "td")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nothing",), "nothing"),
        (("list", "nothing"), "'nothing'"),
        (("figure", "kolters"), "there is no figure 'kolters'; did you mean 'kolter'?"),
        (("figure", "mine"), "no sweep of that name in out/results; first: gpbe run FILE.toml"),
        (("figure", "kolter", "--scale", "huge"), "'huge'"),
        (("figure", "kolter", "--out", "nowhere"), "no results at the quick scale in nowhere; first: gpbe run kolter"),
        (("run", "kolters"), "there is no experiment 'kolters'; did you mean 'kolter'"),
        (("list", "figures", "--workers", "3"), "--cost and --workers are for experiments"),
        (("diagnose", "bairds"), "did you mean 'baird'"),
        (("diagnose", "missing.toml"), "missing.toml: cannot be read"),
        (("diagnose", "baird", "--lam", "2"), "lam is 2"),
        (("diagnose", "four-rooms"), "pick one with --index"),
        (("diagnose", "four-rooms", "--index", "8"), "problem 8 does not exist"),
        (("predict", "boyan"), "ALGORITHM"),
        (("predict", "boyan", "tdcc"), "did you mean"),
        (("predict", "missing.parquet", "td"), "there is no file missing.parquet"),
        (("predict", "four-rooms", "td"), "pick one with --index"),
        (("trian", "CartPole-v1"), "there is no command 'trian'; did you mean 'train'?\n"),
        (
            (*LEARN, "--stepsize", "1"),
            "gpbe: there is no option --stepsize here; did you mean --step-size or --steps?\n",
        ),
        (
            ("diagnose", "baird", "kolter"),
            "gpbe: 'kolter' is one argument too many; --help tells what the command takes\n",
        ),
        (("run",), "gpbe: gpbe run needs EXPERIMENT; gpbe run --help tells what that is\n"),
        ((*LEARN, "--zzz"), "gpbe: there is no option --zzz here; --help lists what there is\n"),
        ((*LEARN, "--step-size", "fast"), "--step-size fast cannot be read"),
        ((*LEARN, "--step-size", "2^3..2^1"), "--step-size 2^3..2^1 cannot be read"),
        ((*LEARN, "--step-size", "0"), "step_size is 0; it should be above 0"),
        ((*LEARN, "--lam", "0", "1.5"), "lam is 1.5"),
        ((*LEARN, "--beta", "1"), "does not use 'beta'"),
        ((*LEARN, "--runs", "many"), "gpbe: --runs should be INT, not 'many'\n"),
        (("train", "CartPole-v1", "qrc", "--seed", "1.5"), "gpbe: --seed should be INT, not '1.5'\n"),
        (("run", "kolter", "--patience", "soon"), "gpbe: --patience should be FLOAT, not 'soon'\n"),
        (("run", "kolter", "--patience", "0"), "--patience 0 should be more than 0 seconds"),
        ((*LEARN, "--runs", "0"), "runs is 0; it should be a whole number, 1 or more"),
        ((*LEARN, "--every", "7"), "every is 7"),
        ((*LEARN, "--metrics", "mse"), "there is no metric 'mse'"),
        ((*LEARN, "--weighting", "mine"), "'mine'"),
        ((*LEARN, "--optimizer", "sdg"), "gpbe: optimizer is 'sdg'; did you mean 'sgd'?\n"),
        (("run", "kolter", "--scale", "huge"), "gpbe: scale is 'huge'; it should be one of smoke, quick, paper\n"),
        (
            ("train", "CartPole-v1", "qrc", "--optimizer", "x"),
            "gpbe: optimizer is 'x'; it should be one of adam, rmsprop, sgd\n",
        ),
        (("diagnose", "--nope", "3"), "gpbe: gpbe diagnose needs PROBLEM; gpbe diagnose --help tells what that is\n"),
        (("list", "nonsense"), "gpbe: 'nonsense' is not known here; it should be one of all, problems, "),
        ((*LEARN, "--out", "curves.txt"), "curves.txt should end in"),
        (("train", "CartPole-v1", "qrc", "--ratios"), "qrc has no 'ratios'"),
        (("train", "CartPole-v1", "qrc-sep", "--width", "0"), "width is 0"),
        (("train", "CartPole-v1", "qrc", "--out", "curves.txt"), "curves.txt should end in"),
    ],
)
def test_complaints_are_one_line_and_exit_code_2(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gpbe: ")
    assert err.count("\n") == 1
    assert complaint in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_stands_for_an_argument(command, run, capsys):
    with pytest.raises(SystemExit) as stop:
        run(command, "--help")
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert "None" not in shown
    assert "PATH" not in shown


@pytest.mark.parametrize("command", [("run", "corrections"), LEARN])
def test_places_that_cannot_be_written_are_refused_before_the_work(command, tmp_path, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stop:
        main([*command, "--out", str(tmp_path / "file" / "deeper" / "curves.png")])
    assert stop.value.code == 2
    assert "cannot write into" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ((*LEARN, "--out"), "curves.csv"),
        (("train", "CartPole-v1", "--out"), "curves.png"),
        (("train", "CartPole-v1", "--save"), "agent.npz"),
        (("train", "CartPole-v1", "--csv"), "log.csv"),
        (("diagnose", "baird", "--out"), "page.html"),
    ],
)
def test_a_folder_with_the_name_of_a_file_to_write_is_found_before_the_work(command, name, tmp_path, capsys, worked):
    (tmp_path / name).mkdir()
    with pytest.raises(SystemExit) as stop:
        main([*command, str(tmp_path / name)])
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"gpbe: {tmp_path / name}: cannot be written: it is a folder; name a file\n"
    assert not worked


@pytest.fixture
def worked(monkeypatch):
    """The names of the commands whose work was begun."""
    begun = []
    for name in ("predict", "train"):
        monkeypatch.setattr(gpbe, name, lambda *_, name=name, **__: begun.append(name), raising=False)
    monkeypatch.setattr("gpbe.exact.diagnose", lambda *_: begun.append("diagnose"))
    return begun


def test_what_an_environment_raises_is_told_with_its_place(tmp_path, monkeypatch, capsys):
    (tmp_path / "robots.py").write_text(ROBOT)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["train", "robots:Robot-v0", "--steps", "20", "--hidden", "4"])
    assert stop.value.code == 2
    place = f"{tmp_path / 'robots.py'}, line 8"
    assert capsys.readouterr().err == f"gpbe: robots:Robot-v0 raised RuntimeError: the robot fell off ({place})\n"


ROBOT = """import gymnasium

class Robot(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(0, 1, (2,)), gymnasium.spaces.Discrete(2)
    def reset(self, seed=None, options=None):
        return self.observation_space.sample() * 0, {}
    def step(self, action):
        raise RuntimeError("the robot\\nfell off")

gymnasium.register("Robot-v0", Robot)
"""


def test_files_that_hold_something_else_are_refused(tmp_path, capsys):
    for name, complaint in (("bad.toml", "bad.toml"), ("bad.npz", "not an .npz archive"), ("bad.parquet", "Parquet")):
        (tmp_path / name).write_text("no = [such\n")
        with pytest.raises(SystemExit) as stop:
            main(["predict", str(tmp_path / name), "td"])
        assert stop.value.code == 2
        err = capsys.readouterr().err
        assert complaint in err
        assert err.count("\n") == 1


def test_help_is_no_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["predict", "--help"])
    assert stop.value.code in (0, None)
    assert "--followon-decay" in capsys.readouterr().out


# --- text that looks like something else


def test_names_are_printed_as_they_are(run, tmp_path):
    """A state may be called like markup, which the terminal would interpret, or like an emoji."""
    names = ["[red]x[/nope]", "[bold]", ":smile:", *"abcd"]
    m = mdp.baird()
    named = mdp.FiniteMDP(m.mdp.transition, 1.0, m.mdp.discount, m.mdp.start, state_names=names)
    problem = mdp.PredictionProblem(named, m.target, m.behavior, m.features, name="[i]name[/i]")
    mdp.save(problem, tmp_path / "[b]file.toml")
    shown = run("diagnose", str(tmp_path / "[b]file.toml"))
    assert all(name in shown for name in (*names[:3], "[i]name[/i]"))
    shown = run("predict", str(tmp_path / "[b]file.toml"), "td", "--steps", "4", "--out", str(tmp_path / "$x^.png"))
    assert "td on [i]name[/i]: steps 4" in shown


def test_a_folder_to_start_from_that_is_not_there_is_not_passed_over(capsys, tmp_path, monkeypatch):
    """A letter wrong in its name would have days of results made again."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["run", "corrections", "--scale", "smoke", "--start", "resluts"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("gpbe: --start resluts: there is no such folder; name one")
    assert list(tmp_path.iterdir()) == []
