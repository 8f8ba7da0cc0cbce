"""The project as others get it: built, installed in a clean environment, and used as the README says."""

import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import gpbe

ROOT = Path(__file__).parents[2]
README = f"""
import doctest, gpbe, sys
assert {str(ROOT)!r} not in gpbe.__file__, gpbe.__file__
flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
failed, tried = doctest.testfile({str(ROOT / "README.md")!r}, module_relative=False, optionflags=flags)
sys.exit(failed or not tried)
"""
BUILD = "from hatchling import build; import sys; print(build.build_wheel(sys.argv[1]), build.build_sdist(sys.argv[1]))"


def test_the_version_is_told_once_more_where_it_cannot_be_derived():
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == gpbe.__version__


def test_pre_commit_has_the_checks_of_make_check():
    made = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert made is not None
    tools = set(re.findall(r"\$\(BIN\)/([a-z-]+(?: format| check)?)", made[1]))
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert tools == set(re.findall(r"\.venv/bin/([a-z-]+(?: format| check)?)", hooks))


@pytest.mark.slow
def test_the_wheel_installs_in_a_clean_environment_and_passes_the_readmes_examples(tmp_path):
    """Downloads all that gpbe needs; some minutes."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python")

    def call(*arguments: str, at: Path = tmp_path) -> str:
        return subprocess.run([python, *arguments], cwd=at, check=True, capture_output=True, text=True).stdout

    install = ("-I", "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt"))
    call(*install, "hatchling")
    wheel, sdist = (tmp_path / name for name in call("-I", "-c", BUILD, str(tmp_path), at=ROOT).split())
    held = zipfile.ZipFile(wheel).namelist()
    assert {"gpbe/py.typed", "gpbe/report/page.css"} <= set(held)
    assert not [name for name in held if name.startswith(("tests", "docs"))]
    with tarfile.open(sdist) as packed:
        assert any(name.endswith("tests/conftest.py") for name in packed.getnames())
    call(*install, str(wheel))
    call("-I", "-c", README)
    assert call("-I", "-m", "gpbe", "--version") == f"gpbe {gpbe.__version__}\n"
    assert "Recommended: TDRC" in call("-I", "-m", "gpbe", "diagnose", "baird")
