"""Every example in the README and the docs runs and prints what it says."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import pytest

import gpbe

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
HEAVY = {"own-algorithm.md", "own-environment.md", "prediction.md", "control.md", "nonlinear.md", "traces.md"}
"""Pages whose examples learn a lot."""


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def marked(page: Path):
    return pytest.param(page, id=named(page), marks=[pytest.mark.slow] if page.name in HEAVY else [])


@pytest.mark.parametrize("page", [marked(page) for page in PAGES if ">>> " in page.read_text()])
def test_examples_run_as_printed(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert failed == 0


def test_there_are_examples():
    assert (ROOT / "README.md").read_text().count(">>> ") >= 8


@pytest.fixture
def parts(monkeypatch):
    """What makes the generated parts of pages."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "tools"))
    yield importlib.import_module("parts")
    del sys.modules["parts"]


def anchors(text: str) -> set[str]:
    """The places of a page that a link can lead to, named as Python-Markdown names them."""
    headings = re.findall(r"(?m)^#+ (.*?)(?:\s*\{ #(\S+) \})?$", re.sub(r"(?s)```.*?```", "", text))
    plain = [re.sub(r"[^\w\s-]", "", re.sub(r"\]\([^)]*\)", "", title)).strip().lower() for title, _ in headings]
    return {re.sub(r"[-\s]+", "-", title) for title in plain} | {given for _, given in headings if given}


def test_links_lead_somewhere(parts):
    sources = {ROOT / "docs" / page: ROOT / source for page, source in parts.ADOPTED.items()}
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", re.sub(r"(?s)```.*?```", "", page.read_text())):
            target, _, anchor = link.partition("#")
            there = (page.parent / target).resolve() if target else page
            there = sources.get(there, there)
            assert there.exists(), f"{named(page)} links to {link}"
            if anchor:
                assert anchor in anchors(parts.filled(there.read_text())), f"{named(page)} links to {link}"


def test_files_that_are_named_are_there():
    """Pages and docstrings name tests, benchmarks and examples by their paths; what moves is named anew."""
    named_path = re.compile(r"`(?:python )?((?:tests|benchmarks|docs|examples|src)/[\w/-]+\.(?:py|md|toml|svg))`")
    sources = [*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "src").rglob("*.py"))]
    found = {(named(source), path) for source in sources for path in named_path.findall(source.read_text())}
    assert len(found) > 30
    assert not [each for each in found if not (ROOT / each[1]).exists()]


def test_every_page_has_a_place_in_the_navigation(parts):
    navigation = (ROOT / "mkdocs.yml").read_text().split("\nnav:")[1]
    linked = re.findall(r"(?m)(?:- |: )(\S+\.md)$", navigation)
    there = [str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]]
    assert sorted(linked) == sorted([*there, *parts.ADOPTED])


def test_every_algorithm_is_on_a_page(parts):
    pages = [page.read_text() for page in (ROOT / "docs" / "algorithms").glob("*.md")]
    shown = {(words[1], name) for text in pages for words in parts.marks(text) for name in words[2:]}
    priors = ("emphatic-", "alternative-life-")  # of networks, one sentence is about all of them
    for family, (algorithms, _) in parts.FAMILIES.items():
        for name in algorithms:
            plain = family == "nonlinear" and name.startswith(priors)
            assert plain or (family, name) in shown, f"{family}: {name}"


def test_every_picture_is_shown_and_drawn(monkeypatch):
    """What is shown is there, as the test of links says; what is there is shown."""
    shown = {link for page in PAGES for link in re.findall(r"img/\S+?\.(?:png|svg)", page.read_text())}
    pictures = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs" / "img").rglob("*.*")}
    assert {name for name in pictures if not name.endswith(".json")} == shown  # numbers stand beside their picture


def test_the_citation_is_of_this_version():
    assert f"version {gpbe.__version__}}}" in (ROOT / "docs" / "citation.md").read_text()


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
    (written,) = blocks("control.md", "python")
    short = written.replace('"qrc", body', '"qrc", steps=500, body')
    assert short != written
    exec(compile(short, "control.md", "exec"), {"gpbe": gpbe})


@pytest.mark.slow
def test_the_tutorial_about_sweeps(tmp_path, monkeypatch, run, capsys):
    """As printed, but for the sizes."""
    (declared,), code = blocks("tutorials/sweep.md", "toml"), "\n".join(blocks("tutorials/sweep.md", "python"))
    small = {"runs = 5": "runs = 2", "runs=10": "runs=2", "20_000": "1000", "[32, 32]": "[8]", "(32, 32)": "(8,)"}
    for before, after in small.items():
        declared, code = declared.replace(before, after), code.replace(before, after)
    (tmp_path / "choose.toml").write_text(declared)
    monkeypatch.chdir(tmp_path)
    assert "chunks" in run("run", "choose.toml")
    exec(compile(code, "sweep.md", "exec"), {})
    assert "qrc - q-learning" in capsys.readouterr().out
    assert (tmp_path / "judge.png").stat().st_size > 5000
