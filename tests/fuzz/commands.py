"""Command lines that nobody should type."""

import contextlib
import io
import json
import os
import re
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzz.problems import Problems
from fuzz.specs import Specs
from fuzz.tables import Logs
from gpbe import experiments
from gpbe.errors import LONGEST, InputError
from gpbe.look.explorer import Explorer

WORDS = (
    *("", "-", "--", "---", "-1", "0", "1", "2", "1e9", "10000000000000", "nan", "inf", "1/0", "2^-3", "2^-3..2^0"),
    *(
        "2^0..2^9999999",
        "9^99999999",
        "2^",
        "^",
        "..",
        ".",
        "9" * 5000,
        "x" * 300,
        "[red]x[/nope]",
        "$x",
        "{}",
        "\u202e",
    ),
    *("baird", "boyan", "td", "tdrc", "qrc", "CartPole-v1", "evilmod:X-v0", "evilmod:Y", "all"),
    *("case.toml", "case.npz", "case.parquet", "case.py", "nothing.toml", "nothing.npz", "nothing.parquet"),
    *("fifo.toml", "fifo.npz", "fifo.parquet", "loop.toml", "folder.toml", "folder.parquet", "folder", "whole.parquet"),
    *(
        "wis",
        "lstd",
        "fqe",
        "dr",
        "bootstrap",
        "linear",
        "lunch\u0000",
        "a\nb",
        "\udcff.toml",
        "~",
        "/dev/null",
        "/dev/full",
    ),
    *("/nonexistent/x.toml", "x" * 300 + ".toml", "--json", "--help", "--seed", "page.html", "x.png", "x.csv", "x.pdf"),
)
LINES: tuple[tuple[str, ...], ...] = (
    ("list", "problems"),
    ("diagnose", "baird"),
    ("diagnose", "kolter", "--out", "page.html"),
    ("explore", "kolter", "--no-browser", "--port", "0"),
    ("predict", "baird", "td", "--steps", "4", "--runs", "2"),
    ("train", "CartPole-v1", "qrc", "--steps", "4", "--hidden", "2", "--batch", "2", "--buffer", "4"),
    ("run", "nothing"),
    ("status", "nothing"),
    ("pack", "nothing", "nowhere"),
    ("figure", "kolter"),
    ("report",),
    ("report", "nothing"),
    ("evaluate", "case.parquet", "--by", "wis", "lstd"),
    ("evaluate", "whole.parquet", "--interval", "bootstrap", "--resamples", "7", "--out", "found.csv"),
    ("evaluate", "whole.parquet", "--by", "td", "--step-size", "0.1", "--weights", "w.parquet"),
    ("claims",),
    ("nothing", "x"),
)
"""What can be typed."""


@cache
def options(command: str) -> list[str]:
    """The options of a command, as its help has them."""
    from gpbe.cli import main

    out = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        main([command, "--help"])
    return sorted(set(re.findall(r"--[a-z][a-z-]+", out.getvalue()))) or ["--x"]


class Line(NamedTuple):
    """What is typed, and what the files are that it may name."""

    arguments: list[str]
    files: dict[str, Path]


class Commands:
    """Command lines, and the files that they name."""

    corpus = "commands"
    patience = 30.0  # what is right is learned, and has to be compiled
    lines = LINES

    def __init__(self, room: Path):
        self.room, self.typed = room, set[tuple[str, ...]]()
        experiments.run = _refuse  # what is right would be run, for minutes
        Explorer.serve = lambda _: None  # and this for as long as somebody looks
        for suffix in (".toml", ".npz", ".parquet") if not (room / "folder.toml").exists() else ():
            os.mkfifo(room / f"fifo{suffix}")
            (room / f"folder{suffix}").mkdir()
            (room / f"loop{suffix}").symlink_to(f"loop{suffix}")
        logs = Logs(room)
        self.makers = {".toml": (Problems(room), Specs(room)), ".npz": (Problems(room),), ".parquet": (logs,)}
        self.makers[".csv"] = (logs,)

    def make(self, rng: Random) -> Line:
        command, *words = rng.choice(self.lines)
        named = command in ("diagnose", "explore", "predict", "run", "evaluate") and rng.random() < 0.4
        for _ in range(rng.choice((0, 1, 1, 2, 3) if named else (1, 1, 2, 3))):
            act = rng.random()
            if act < 0.35 and words:
                words[rng.randrange(len(words))] = rng.choice(WORDS)
            elif act < 0.85:
                words += [rng.choice(options(command)), rng.choice(WORDS)]
            else:
                words.append(rng.choice(WORDS))
        suffix = rng.choice(list(self.makers))
        rng.choice(self.makers[suffix]).make(rng)
        if named:
            words[0:1] = [f"case{suffix}"]
        return Line([command, *words], {})

    def kept(self, file: Path) -> Line:
        return Line(json.loads(file.read_text()), {})

    def keep(self, case: Line, folder: Path) -> str:
        folder.mkdir(exist_ok=True)
        number = len(list(folder.iterdir()))
        for each in filter(Path.is_file, self.room.glob("case.*")):
            shutil.copyfile(each, folder / f"commands-{number}-{each.name}")
        target = folder / f"commands-{number}.json"
        target.write_text(json.dumps(case.arguments))
        return str(target)

    def check(self, case: Line) -> str:
        if too_much(case.arguments) or (again := tuple(case.arguments)) in self.typed:
            return "left out"
        if not any(word.startswith("case.") for word in again):  # other files stay as they are
            self.typed.add(again)
        return typed(case.arguments)


class Lines(Commands):
    """Command lines that learn nothing: no program is compiled for them."""

    lines = tuple(line for line in LINES if line[0] not in ("predict", "train") and "td" not in line)


def typed(arguments: list[str]) -> str:
    """Whether a command line is done or refused; what is refused is so in one line."""
    from gpbe.cli import main

    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(arguments))
    except SystemExit as stop:
        code = stop.code
    said = err.getvalue()
    assert code in (0, None, 2), (code, said)
    assert "Traceback" not in said, said
    if code != 2:
        return "done"
    last = said.rstrip("\n").rpartition("\n")[2]
    assert last.startswith("gpbe: "), said
    assert len(last) <= LONGEST + 6, len(last)
    assert last.isprintable(), last
    return "refused"


def _refuse(*_: Any, **__: Any) -> Any:
    raise InputError("nothing is run here")


def too_much(words: list[str]) -> bool:
    """What is right and takes long, or asks for something on this machine that a test should not."""
    long = {"run": ("all", "--estimate"), "list": ("experiments", "--help"), "figure": ("all",)}
    asked_for = ("--target", "--behavior", "--features", "--env")  # the user's own word to import a module
    imports = any(a in asked_for and b.startswith("evilmod") for a, b in pairwise(words))
    imports |= words[0] in ("train", "predict") and any(word.startswith("evilmod:") for word in words)
    return imports or any(word in words for word in long.get(words[0], ())) or "ray" in " ".join(words)
