"""Logs and results that were damaged or made up."""

import io
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl

from fuzz import odd
from fuzz.cases import Case, Files, refusal


class Logs(Files):
    """Recorded transitions in Parquet files, of gpbe's own and of others, and in CSV files."""

    corpus = "logs"

    def __init__(self, room: Path):
        from gpbe import mdp

        super().__init__(room)
        self.log = mdp.Log.simulate(mdp.find("boyan"), 40)
        self.log.write(room / "whole.parquet")
        self.sealed = (room / "whole.parquet").read_bytes()
        self.frame = pl.read_parquet(room / "whole.parquet")
        file = io.BytesIO()
        self.frame.write_parquet(file)
        self.foreign = file.getvalue()
        lists = [name for name, kind in self.frame.schema.items() if kind == pl.List]
        wide = [pl.Series(f"{name.replace('features', 'x')}_{k}", column) for name in lists
                for k, column in enumerate(np.array(self.frame[name].to_list()).T)]  # fmt: skip
        self.flat = self.frame.drop(lists).with_columns(wide)

    def make(self, rng: Random) -> Case:
        act = rng.random()
        if act < 0.3:
            return self.written(".csv", self._text(rng))
        if act < 0.55:
            return self.written(".parquet", odd.spoiled(self.sealed, rng), expected="same")
        if act < 0.7:
            return self.written(".parquet", odd.spoiled(self.foreign, rng))
        from gpbe.files.sealed import seal

        frame = self.frame
        for _ in range(rng.choice((1, 1, 2))):
            frame = self._changed(frame, rng)
        return self.written(".parquet", seal(frame, {}))

    def _text(self, rng: Random) -> bytes:
        """A CSV file with a spoiled byte, odd words in its cells, or columns of another kind."""
        act = rng.random()
        if act < 0.3:
            return odd.spoiled(self.flat.write_csv().encode(), rng)
        if act < 0.5:
            frame = self._changed(self.flat, rng)
            nested = [name for name, kind in frame.schema.items() if kind in (pl.List, pl.Struct, pl.Binary)]
            return frame.drop(nested).write_csv().encode()
        lines = [line.split(",") for line in self.flat.write_csv().splitlines()]
        for _ in range(rng.choice((1, 1, 2, 5))):
            row = rng.choice(lines)
            row[rng.randrange(len(row))] = str(rng.choice((*odd.TEXTS, *odd.NUMBERS[:20], '"', "a,b", "\r\n")))
        if rng.random() < 0.2:
            rng.choice(lines).pop()
        return rng.choice(("\n", "\r\n")).join(",".join(row) for row in lines).encode(errors="replace")

    @staticmethod
    def _changed(frame: pl.DataFrame, rng: Random) -> pl.DataFrame:
        if not frame.columns:
            return frame
        name, rows = rng.choice(frame.columns), frame.height
        act = rng.randrange(8)
        if act == 0:
            return frame.drop(name)
        if act == 1:
            free = [n for n in ("x_0", "x_1", "next_x_0", "next_x_5", "state", "a\nb") if n not in frame.columns]
            return frame.rename({name: rng.choice(free)})
        if act == 2:
            return frame.head(rng.choice((0, 1, 2)))
        odd_columns: list[Any] = [
            pl.Series([str(k) for k in range(rows)]),
            pl.Series([None] * rows),
            pl.Series(np.arange(rows).astype("M8[ms]")),
            pl.Series([[float(k)] * (k % 3) for k in range(rows)], dtype=pl.List(pl.Float64)),
            pl.Series([[]] * rows, dtype=pl.List(pl.Float64)),
            pl.Series([[str(k)] for k in range(rows)], dtype=pl.List(pl.String)),
            pl.Series([[[1.0]]] * rows),
            pl.Series([rng.choice([n for n in odd.NUMBERS if isinstance(n, float)])] * rows, dtype=pl.Float64),
            pl.Series([True] * rows),
            pl.Series([b"x"] * rows),
            pl.Series([0] * rows, dtype=pl.Int8),
            pl.Series([{"a": 1.0}] * rows),
            pl.Series(["a"] * rows, dtype=pl.Categorical),
        ]
        return frame.with_columns(rng.choice(odd_columns).alias(name))

    def check(self, case: Case) -> str:
        import gpbe
        from gpbe import mdp

        log, refused = refusal(lambda: mdp.scan_log(case.path).read())
        if refused:
            return "refused"
        found, refused = refusal(lambda: gpbe.evaluate(log))
        if not refused:
            json.dumps(found.as_dict(), allow_nan=False)
        if case.expected is not None:
            for name in ("features", "next_features", "reward", "discount", "target", "behavior"):
                np.testing.assert_array_equal(getattr(log, name), getattr(self.log, name))
        assert len(log) == len(log.continues) == len(log.breaks)
        return "read"


class Results(Files):
    """Results folders and packed files: parts, manifests, lists, what is remembered of them."""

    corpus = "results"

    N = 5

    def __init__(self, room: Path):
        from gpbe import store
        from gpbe.runner.worker import Job, perform
        from helpers.runners import DRAW, SPEC, chunks, draw

        super().__init__(room)
        self.folder = room / "results"
        with store.Results(self.folder, SPEC, DRAW, chunks(self.N)) as results:
            for chunk in chunks(self.N):
                results.put(chunk.id, perform(draw, Job(DRAW, results.manifest.spec_hash), chunk).part)
        store.status(self.folder)
        store.pack(self.folder, room / "packed.parquet")
        self.table = store.scan(self.folder).collect()
        self.contents = {p: p.read_bytes() for p in sorted(self.folder.rglob("*")) if p.is_file() and p.name != "lock"}
        self.packed = (room / "packed.parquet").read_bytes()

    def _reset(self) -> None:
        for path, data in self.contents.items():
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def make(self, rng: Random) -> Case:
        self._reset()
        if rng.random() < 0.2:
            return self.written(".parquet", odd.spoiled(self.packed, rng))
        path = rng.choice([p for p in self.contents if rng.random() < 0.5 or p.suffix == ".json"] or [*self.contents])
        data = self.contents[path]
        if path.name == "manifest.json" and rng.random() < 0.7:
            path.write_text(json.dumps(odd.changed(json.loads(data), rng), default=str), errors="replace")
        else:
            path.write_bytes(odd.spoiled(data, rng))
        return Case(path)

    def kept(self, file: Path) -> Case:
        self._reset()
        target = next((p for p in self.contents if p.name == file.name.partition("-")[2]), None)
        if target is None:
            return super().kept(file)
        shutil.copyfile(file, target)
        return Case(target)

    def check(self, case: Case) -> str:
        from gpbe import store

        source = self.folder if case.path.is_relative_to(self.folder) else case.path
        told, refused = refusal(lambda: store.status(source))
        table, unread = refusal(lambda: store.scan(source).collect())
        refusal(lambda: store.spec(source))
        if refused or unread:
            return "refused"
        whole = self.table.filter(
            pl.struct("k", "run").is_in(table.select(pl.struct("k", "run")).to_series().implode())
        )
        assert table.equals(whole), "a number has changed"
        assert told.done * 3 == table.height, "rows are missing without a word"
        assert told.done + told.invalid == self.N or source != self.folder
        return "read"
