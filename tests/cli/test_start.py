"""Starting is quick: nothing heavy is imported for help, and help on all commands is what the commands say."""

import inspect
import subprocess
import sys

import pytest

import gpbe
from gpbe.cli import COMMANDS, main
from gpbe.cli.commands import told_only

HEAVY = ("jax", "jaxlib", "matplotlib", "polars", "scipy", "numpy", "pandas", "gymnasium", "optax", "equinox")


@pytest.mark.parametrize(
    "start",
    ["import gpbe", "from gpbe.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"],
    ids=["import", "help"],
)
def test_nothing_heavy_is_imported_to_start(start):
    code = f"{start}\nimport sys\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_on_all_commands_tells_what_each_says_itself():
    for name, command in COMMANDS.items():
        assert told_only(name).__doc__ == (inspect.getdoc(command) or "").partition("\n\n")[0]


def test_public_names_are_listed_and_found():
    assert set(gpbe.__all__) <= set(dir(gpbe))
    assert all(getattr(gpbe, name) is not None for name in gpbe.__all__)
    with pytest.raises(AttributeError, match="module 'gpbe' has no attribute 'trian'"):
        gpbe.trian  # noqa: B018


def test_version(run):
    assert run("--version") == f"gpbe {gpbe.__version__}\n"


def test_an_unknown_command_gets_one_line(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["predikt"])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert "predikt" in said
    assert "predict" in said
    assert said.count("\n") == 1
