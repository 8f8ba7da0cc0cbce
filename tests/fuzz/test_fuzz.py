"""Nothing that is given to gpbe ends in a traceback, a hang, a gibibyte, a silent change or an import.

Cases are tried by processes with limits. `make test` tries a few of every kind in one process, and all that once
failed, which is in `corpus/`; `make test-slow` more of each, and command lines that learn; `make fuzz` ten thousand of
each. GPBE_FUZZ says how many (or which, as in 4500..10000), GPBE_TEST_SEED with which seed.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from helpers.seeds import OFFSET

HERE = Path(__file__).parent
FEW = {
    "problems": 6,
    "agents": 5,
    "specs": 10,
    "results": 4,
    "requests": 15,
    "logs": 2,
    "drawings": 1,
    "lines": 8,
}
"""Cases in `make test`, command lines last: these put something else in the place of what would run for long."""
CASES = {
    "problems": 20,
    "agents": 16,
    "specs": 20,
    "logs": 4,
    "results": 12,
    "drawings": 2,
    "commands": 5,
    "requests": 40,
}
BEGIN, _, END = os.environ.get("GPBE_FUZZ", "0").rpartition("..")
STRETCH = 500
"""Cases that one process tries."""
SILENCE = 300.0
"""Seconds without a word after which a process has hung where no alarm reaches it."""


def tried(stretches: list[tuple[str, int, int]], folder: Path, once: bool) -> list[dict]:
    """Try what once failed, if asked to, and new cases; fail with the first that broke. What became of each."""
    folder.mkdir(exist_ok=True)
    path = os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])
    arguments = [str(OFFSET), str(folder), str(HERE / "corpus") if once else ""]
    process = subprocess.Popen(
        [sys.executable, "-m", "fuzz.worker", *arguments, *(":".join(map(str, each)) for each in stretches)],
        env={**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(HERE.parents[1] / ".pytest_cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, err = process.communicate(timeout=SILENCE + 8.0 * sum(count for *_, count in stretches))
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    ended = [line for line in lines if "outcome" in line]
    broken = [line for line in ended if line["outcome"] == "broke"]
    assert not broken, f"{len(broken)} of {stretches} broke: {broken[:3]}"
    assert process.returncode == 0, f"ended with {process.returncode} at {lines[-1:]}: {err[-2000:]}"
    wrong = [line["end"] for line in ended if isinstance(line["end"], str) and not _as_its_name_says(line)]
    assert wrong == []
    return ended


def _as_its_name_says(once: dict) -> bool:
    """What once failed is refused now, but for files whose names say that they are read."""
    return once["outcome"] == "refused" or once["end"].startswith("read-")


def test_a_few_of_everything_and_all_that_once_failed(tmp_path):
    ended = tried([(kind, 0, count) for kind, count in FEW.items()], tmp_path / "room", once=True)
    kept = sum(1 for file in HERE.glob("corpus/*/*"))
    assert kept > 100
    assert len(ended) == kept + sum(FEW.values())
    outcomes = Counter(line["outcome"] for line in ended if not isinstance(line["end"], str))
    assert outcomes["refused"] > outcomes.total() / 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_whatever_is_given_is_refused_in_one_line_or_whole(kind, tmp_path):
    begin, end, ended = int(BEGIN or 0), int(END) or CASES[kind], []
    for first in range(begin, end, STRETCH):
        count = min(STRETCH, end - first)
        ended += tried([(kind, first, count)], tmp_path / "room", once=first == 0)
        new = [line for line in ended if not isinstance(line["end"], str)]
        assert len(new) == first + count - begin
        outcomes = Counter(line["outcome"] for line in new)
        print(f"{kind} {begin} to {first + count}: {dict(outcomes)}", flush=True)
    assert outcomes["refused"] > (end - begin) / 5 or end - begin < 10  # of so few all may be right
