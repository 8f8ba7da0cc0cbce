"""The reference is complete: every public name has a place, a docstring and an example, every command its options."""

import ast
import doctest
import importlib
import inspect
import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import gpbe

ROOT = Path(__file__).parents[2]
SOURCE = Path(gpbe.__file__).parent
PAGES = ROOT / "docs" / "reference"
INSIDE = {
    "gpbe.analysis.inference",
    "gpbe.exact.bounds",  # whose names are those of gpbe.exact
    "gpbe.linalg",
    "gpbe.look",
    "gpbe.look.explorer",
    "gpbe.mdp.zoo",  # of gpbe.mdp
    "gpbe.nets",
    "gpbe.report",
    "gpbe.runner",
}
"""Packages with a table of contents that are for the library itself."""


@cache
def public() -> dict[str, object]:
    """Every public name, with the package that exports it, and what it is."""
    contents = [path for path in SOURCE.rglob("__init__.py") if "__all__" in path.read_text()]
    packages = {".".join(path.relative_to(SOURCE.parent).parent.parts) for path in contents}
    found = {}
    for package in sorted(packages - INSIDE):
        module = importlib.import_module(package)
        found |= {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    return {name: what for name, what in found.items() if not inspect.ismodule(what)}


def shown() -> list[str]:
    """The names that pages of the reference are about."""
    return [name for page in sorted(PAGES.glob("*.md")) for name in re.findall(r"(?m)^::: (\S+)$", page.read_text())]


def test_every_public_name_has_one_place_in_the_reference():
    assert sorted(shown()) == sorted(public())


def is_documented_as_code(what: object) -> bool:
    """Is it a class or a function? Anything else is a table, a number or a type."""
    return inspect.isclass(what) or inspect.isfunction(inspect.unwrap(what))


def described(name: str) -> str:
    """What the source says of a name: its docstring, or the text below an assignment."""
    what = public()[name]
    if not is_documented_as_code(what):
        return below_assignment(*name.rsplit(".", 1))
    text = inspect.getdoc(what) or ""
    return "" if text.startswith(f"{what.__name__}(") else text  # what Python makes of the fields by itself


def below_assignment(module: str, name: str) -> str:
    """The text below the assignment to a name, in the module that it was imported from."""
    body = ast.parse(Path(inspect.getsourcefile(importlib.import_module(module))).read_text()).body
    for node in body:
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            return below_assignment(node.module, name)
    for node, following in pairwise([*body, None]):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if name in [target.id for target in targets if isinstance(target, ast.Name)]:
            return following.value.value if isinstance(following, ast.Expr) else ""
    return ""


def test_every_public_name_is_described():
    assert [name for name in public() if not described(name).strip()] == []


def source(name: str) -> str:
    return inspect.getsource(inspect.unwrap(public()[name]))


def shown_by_examples() -> dict[str, str]:
    """The public names that have an example, each with its lines and with what it returns."""
    found = {}
    for name, what in public().items():
        if is_documented_as_code(what):
            lines = re.findall(r"(?m)^ *(?:>>>|\.\.\.) .*$", source(name))
            returned = str(getattr(what, "__annotations__", {}).get("return", ""))
            found |= {name: "\n".join([*lines, returned])} if lines else {}
    return found


def test_every_public_name_has_an_example():
    """Its own; or, for a class, that of a name which makes or returns it, or of a class that it is a part of."""
    examples = shown_by_examples()
    without = {name for name, what in public().items() if is_documented_as_code(what)} - set(examples)

    def occurring(names: set[str], texts: list[str]) -> set[str]:
        words = set(re.findall(r"\w+", "\n".join(texts)))
        return {name for name in names if inspect.isclass(public()[name]) and name.rsplit(".", 1)[1] in words}

    made = occurring(without, list(examples.values()))
    whole = [source(name) for name in {*examples, *made} if inspect.isclass(public()[name])]
    assert without - made - occurring(without - made, whole) == set()


@pytest.fixture
def parts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "tools"))
    yield importlib.import_module("parts")
    sys.modules.pop("parts")


def test_the_page_of_commands_has_every_option(parts, run):
    page = parts.filled((PAGES / "commands.md").read_text())
    from gpbe.cli import COMMANDS

    for command in COMMANDS:
        section = page.split(f"{{ #{command} }}")[1].split("\n## ")[0]
        with pytest.raises(SystemExit):
            run(command, "--help")
        shown = parts.parser(command).format_usage()
        options = set(re.findall(r"--[a-z][a-z-]*", shown)) - {"--help"}
        assert all(f"`{option}" in section for option in options if not option.startswith("--no-")), command


@pytest.mark.parametrize("family", ["linear", "nonlinear", "control"])
def test_every_hyperparameter_is_told_where_its_class_is(parts, family):
    declared = public()[f"gpbe.algorithms.{family}.Hypers"]._field_defaults
    rows = parts.fields(f"gpbe.algorithms.{family}.Hypers").splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(declared)
    assert all(h.bounds in row for h, row in zip(declared.values(), rows, strict=True))


def test_what_holds_if_an_option_is_left_out_has_its_column(parts):
    rows = [row for row in parts.commands().splitlines() if row.startswith("| `--")]
    assert "| `--tau NUMBER ...` | temperature of mellowmax (0: hard max), or of SBEED's policy | 0 |" in rows


def test_generated_tables_are_those_of_the_records(parts):
    from gpbe.algorithms.control.hyperparameters import Hypers

    text = parts.hyperparameters("control", "qrc", "stream-q")
    rows = {row.split("`")[1]: row for row in text.splitlines()[2:]}
    assert set(rows) == {
        "step_size",
        "beta",
        "tau",
        "epsilon",
        "epsilon_final",
        "epsilon_steps",
        "gamma",
        "lam",
        "kappa",
    }
    assert Hypers._field_defaults["beta"].meaning in rows["beta"]
    assert "2^-10, 1 for `stream-q`" in rows["step_size"]
    assert rows["kappa"].endswith("| `stream-q` |")
    assert rows["gamma"].endswith("| all |")


@pytest.mark.parametrize(
    ("tool", "needs"), [("parts", "gpbe"), ("mathematics", "latex2mathml"), ("examples", "griffe")]
)
def test_examples_of_the_tools_hold(tool, needs, monkeypatch):
    pytest.importorskip(needs, reason="make docs installs what builds the site")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "tools"))
    assert doctest.testmod(importlib.import_module(tool)).failed == 0
    for name in ("parts", tool):
        sys.modules.pop(name, None)
