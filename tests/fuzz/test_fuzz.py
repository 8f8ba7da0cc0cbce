"""Nothing that is given to gpbe ends in a traceback, a hang, a gibibyte, a silent change or an import.

Every kind is tried by a process of its own with limits. `make test` tries some cases of each, `make fuzz` ten thousand;
GPBE_FUZZ says how many, GPBE_TEST_SEED which. What once failed is in `corpus/`, and is tried again each time.
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
CASES = {"problems": 60, "agents": 120, "specs": 60, "logs": 25, "results": 50, "commands": 25}
MANY = int(os.environ.get("GPBE_FUZZ", "0"))
STRETCH = 500
"""Cases that one process tries."""
SILENCE = 60.0
"""Seconds without a word after which a process has hung where no alarm reaches it."""


def tried(kind: str, first: int, count: int, folder: Path, corpus: str = "") -> Counter:
    """Try cases, and fail with the first that broke; how many had each outcome."""
    folder.mkdir(exist_ok=True)
    path = os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])
    arguments = [kind, str(OFFSET), str(first), str(count), str(folder), *([corpus] if corpus else [])]
    process = subprocess.Popen(
        [sys.executable, "-m", "fuzz.worker", *arguments],
        env={**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, err = process.communicate(timeout=SILENCE + 8.0 * count)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    broken = [line for line in lines if line.get("outcome") == "broke"]
    assert not broken, f"{len(broken)} of {count} {kind} broke: {broken[:3]}"
    assert process.returncode == 0, f"{kind}: ended with {process.returncode} at {lines[-1:]}: {err[-2000:]}"
    outcomes = Counter(line["outcome"] for line in lines if "outcome" in line)
    assert sum(outcomes.values()) == count or corpus
    return outcomes


@pytest.mark.parametrize("kind", CASES)
def test_whatever_is_given_is_refused_in_one_line_or_whole(kind, tmp_path):
    total, outcomes = MANY or CASES[kind], Counter()
    for first in range(0, total, STRETCH):
        outcomes += tried(kind, first, min(STRETCH, total - first), tmp_path / "room")
    print(f"{total} {kind}: {dict(outcomes)}")
    assert outcomes["refused"] > total / 5
    assert outcomes["refused"] < total


@pytest.mark.parametrize("kind", [kind for kind in CASES if (HERE / "corpus" / kind).is_dir()])
def test_what_once_failed_is_tried_again(kind, tmp_path):
    tried(kind, 0, 1, tmp_path / "room", str(HERE / "corpus" / kind))
