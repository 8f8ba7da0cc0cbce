"""Every example in the README and the docs runs and prints what it says."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_run_as_printed(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert failed == 0


def test_there_are_examples():
    assert (ROOT / "README.md").read_text().count(">>> ") >= 8


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


@pytest.mark.slow
def test_a_sweep_of_ones_own_and_what_to_make_of_it(tmp_path, monkeypatch, run, capsys):
    """As printed, but for the size."""
    (declared, _), (analyzed,) = blocks("experiments.md", "toml"), blocks("experiments.md", "python")
    small = declared.replace("runs = 10", "runs = 2").replace("steps = 50_000", "steps = 1000")
    (tmp_path / "mine.toml").write_text(small)
    monkeypatch.chdir(tmp_path)
    assert "6 of 6 chunks" in run("run", "mine.toml")
    assert "6 of 6" in run("status", "out")
    exec(compile(analyzed, "experiments.md", "exec"), {})
    assert "CartPole-v1" in capsys.readouterr().out


@pytest.mark.slow
def test_a_network_of_ones_own():
    """As printed, but for the number of steps."""
    import gpbe

    (written,) = blocks("control.md", "python")
    short = written.replace('"qrc", body', '"qrc", steps=500, body')
    assert short != written
    exec(compile(short, "control.md", "exec"), {"gpbe": gpbe})
