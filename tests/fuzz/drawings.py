"""Stored results that nobody should draw: a sweep of one's own, and a study that came packed."""

import io
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from fuzz import odd
from fuzz.cases import Case, Files
from fuzz.commands import typed
from fuzz.tables import Logs

NAMES, DOMAINS = ("qrc", "q-learning"), ("CartPole-v1", "Acrobot-v1")
STUDY = "tde-bias"
FIGURES = ("mine", "mine", "mine-step-size", "mine-settings", "mine-runs", "mine-vote")


class Drawings(Files):
    """Packed files and a results folder, each spoiled, or written anew with a checksum that fits."""

    corpus = "drawings"
    patience = 30.0  # what is right is drawn

    def __init__(self, room: Path):
        from gpbe import store
        from gpbe.experiments.sweep import Sweep, Swept
        from gpbe.figures import style
        from helpers.control_runs import runs

        super().__init__(room)
        style.rendered = _laid_out
        grid = {"step_size": (2.0**-12, 2.0**-11), "tau": (0.0,)}
        sweep = Sweep("mine", DOMAINS, tuple(Swept(name, grid) for name in NAMES), 3, 2000, 500)
        self.packed, self.folder = room / "packed", room / "out" / "results" / "mine"
        study = Path(__file__).parents[2] / "results" / f"{STUDY}-paper.parquet"
        self.sources: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
            "mine": (runs(NAMES, DOMAINS, n=3, points=4, step_sizes=2), sweep.spec()),
            f"{STUDY}-paper": (store.scan(study).collect(), store.spec(study)),
        }
        self._reset()
        assert typed(["figure", "mine-runs"]) == "done"  # and what is imported late is there

    def _reset(self) -> None:
        for name, source in self.sources.items():
            self._pack(name, *source)

    def _pack(self, name: str, table: pl.DataFrame, spec: dict[str, Any]) -> Path:
        """Results that fit their checksums, whatever they say; those of one's own also as a folder."""
        from helpers.packed import pack

        shutil.rmtree(self.packed / "folders" / name, ignore_errors=True)
        target = pack(name, table, self.packed, spec=spec)
        if name == "mine":
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.copytree(self.packed / "folders" / name, self.folder)
        return target

    def make(self, rng: Random) -> Case:
        self._reset()
        name = rng.choice(("mine", "mine", f"{STUDY}-paper"))
        table, spec = self.sources[name]
        arguments = ["report" if rng.random() < 0.1 else "figure", rng.choice(FIGURES)]
        arguments = ["figure", STUDY] if name != "mine" else ["report", "mine"] if "report" in arguments else arguments
        act = rng.random()
        if act < 0.6:
            for _ in range(rng.choice((1, 1, 2))):
                if rng.random() < 0.5:
                    table = _other(table, rng)
                else:
                    spec = changed if isinstance(changed := odd.changed(spec, rng), dict) else {"spec": changed}
            try:
                path = self._pack(name, table, spec)
            except (ValueError, RecursionError, UnicodeError):  # what cannot be written
                path = self.packed / f"{name}.parquet"
            return Case(path, [*arguments, *(["--from", "packed"] if name != "mine" or rng.random() < 0.5 else [])])
        if name == "mine" and rng.random() < 0.5:
            path = rng.choice(sorted(p for p in self.folder.rglob("*") if p.is_file() and p.name != "lock"))
        else:
            path, arguments = self.packed / f"{name}.parquet", [*arguments, "--from", "packed"]
        data = path.read_bytes()
        path.write_bytes(_swapped(data, rng) if path.suffix == ".parquet" and act > 0.9 else odd.spoiled(data, rng))
        return Case(path, arguments)

    def kept(self, file: Path) -> Case:
        """A packed file whose name begins with what it holds: another name would be another experiment's."""
        self._reset()
        name = "mine" if "mine" in file.name else f"{STUDY}-paper"
        shutil.copyfile(file, self.packed / f"{name}.parquet")
        return Case(self.packed / f"{name}.parquet", ["figure", name.removesuffix("-paper"), "--from", "packed"])

    def keep(self, case: Case, folder: Path) -> str:
        where = super().keep(case, folder)
        Path(f"{where}.txt").write_text(f"{case.path}: {json.dumps(case.expected)}")
        return where

    def check(self, case: Case) -> str:
        damaged = case.path.read_bytes() if case.path.suffix == ".parquet" else b""
        outcome = typed(case.expected)
        if outcome == "refused" or not damaged:
            return outcome
        from gpbe.store.part import check

        check(damaged)  # what was drawn fits its checksum
        return "read"


def _laid_out(fig: Any, *_: Any) -> bytes:
    """All of a drawing but its pixels: every text is set, every axis finds its limits."""
    fig.draw_without_rendering()
    return b"drawn"


def _swapped(data: bytes, rng: Random) -> bytes:
    """A table whose columns have each other's names, with the checksum of before."""
    frame, file = pl.read_parquet(io.BytesIO(data)), io.BytesIO()
    one, other = rng.sample(frame.columns, 2) if frame.width > 1 else frame.columns * 2
    frame.rename({one: other, other: one}).write_parquet(file, metadata=pl.read_parquet_metadata(io.BytesIO(data)))
    return file.getvalue()


def _other(table: pl.DataFrame, rng: Random) -> pl.DataFrame:
    """A table with something else in a column, or with other rows."""
    act = rng.random()
    if act < 0.5:
        return Logs._changed(table, rng)
    if act < 0.6:
        return table.sample(fraction=1.0, shuffle=True, seed=0).head(rng.choice((1, 3, table.height - 1)))
    if act < 0.7:
        return pl.concat([table, table.head(rng.choice((1, table.height)))])
    name = rng.choice(table.columns)
    one = rng.randrange(max(table.height, 1))
    whole, numbers = table[name], [n for n in odd.NUMBERS if isinstance(n, float)]
    if whole.dtype.is_float():
        values = whole.to_list()
        values[one : one + 1] = [rng.choice(numbers)]
    elif whole.dtype == pl.String:
        values = [
            rng.choice([t for t in odd.TEXTS if "\udcff" not in t]) if k == one else v for k, v in enumerate(whole)
        ]
    elif whole.dtype == pl.List:
        values = whole.to_list()
        values[one : one + 1] = [rng.choice(([], None, [None], [rng.choice(numbers)] * 4, [1.0] * 3))]
    else:
        values = whole.to_list()
        values[one : one + 1] = [rng.choice((None, 0, -1, 7, 2**31 - 1))]
    return table.with_columns(pl.Series(name, values, dtype=whole.dtype))
