"""Nothing that is given to gpbe ends in a traceback, a hang, a gibibyte, a silent change or an import.

Every kind is tried by a process of its own with limits. `make test` tries some cases of two kinds, `make test-slow` of
all, `make fuzz` ten thousand of each; GPBE_FUZZ says how many, GPBE_TEST_SEED which. What once failed is in `corpus/`,
and is tried again each time.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from helpers.samples import few
from helpers.seeds import OFFSET

HERE = Path(__file__).parent
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
MANY = int(os.environ.get("GPBE_FUZZ", "0"))
STRETCH = 500
"""Cases that one process tries."""
SILENCE = 300.0
"""Seconds without a word after which a process has hung where no alarm reaches it."""


def tried(kind: str, first: int, count: int, folder: Path, corpus: Path | None = None) -> list[dict]:
    """Try what once failed and new cases, and fail with the first that broke; what became of each."""
    folder.mkdir(exist_ok=True)
    path = os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])
    arguments = [kind, str(OFFSET), str(first), str(count), str(folder), *([str(corpus)] if corpus else [])]
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
    ended = [line for line in lines if "outcome" in line]
    broken = [line for line in ended if line["outcome"] == "broke"]
    assert not broken, f"{len(broken)} of {count} {kind} broke: {broken[:3]}"
    assert process.returncode == 0, f"{kind}: ended with {process.returncode} at {lines[-1:]}: {err[-2000:]}"
    assert len(ended) == count + (len(list(corpus.iterdir())) if corpus else 0)
    return ended


@pytest.mark.parametrize("kind", few(CASES, ("problems", "agents")))
def test_whatever_is_given_is_refused_in_one_line_or_whole(kind, tmp_path):
    """Of what once failed, all is refused now, but for files whose names say that they are read."""
    total, ended = MANY or CASES[kind], []
    for first in range(0, total, STRETCH):
        corpus = HERE / "corpus" / kind if first == 0 else None
        ended += tried(kind, first, min(STRETCH, total - first), tmp_path / "room", corpus)
    once = [line for line in ended if isinstance(line["end"], str)]
    assert [line["end"] for line in once if line["outcome"] != "refused" and not line["end"].startswith("read-")] == []
    outcomes = Counter(line["outcome"] for line in ended if not isinstance(line["end"], str))
    print(f"{total} {kind}: {dict(outcomes)}")
    assert outcomes["refused"] > total / 5 or total < 10  # of so few all may be right
