"""What it costs to verify results when they are read, beside what is done with them: one drawing.

Results of the paper's comparison of control, with fewer settings, are made up (random returns in the right shape), so
that nothing is learned. `python benchmarks/verification.py [FOLDER]` keeps them in a folder.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from gpbe import experiments, store
from gpbe.experiments.sweep import Sweep
from gpbe.report import draw_all
from gpbe.store import Results

SCALE, NAME = "quick", "bakeoff"
RUNS, STEPS = 100, 100_000
"""As in the paper, of the settings of the quick scale."""


def made_up(payload: dict, rng: np.random.Generator) -> pl.DataFrame:
    """A part like those of `gpbe.experiments.sweep.run_chunk`."""
    lanes, points = payload["lanes"], payload["steps"] // payload["every"]
    columns = {k: [x.get(k) for x in payload["hyperparameters"]] for k in payload["columns"]}
    return pl.DataFrame(
        {
            "domain": payload["domain"],
            "algorithm": payload["algorithm"],
            "setting": [k for k, _ in lanes],
            **{k: pl.Series(v, dtype=pl.Float64) for k, v in columns.items()},
            "run": [run for _, run in lanes],
            "every": payload["every"],
            "returns": list(rng.normal(-200.0, 50.0, (len(lanes), points)).astype(np.float32)),
            "diverged_at": -1,
        },
        schema_overrides={"returns": pl.List(pl.Float32), "diverged_at": pl.Int64},
    )


def make(out: Path) -> Path:
    """The results folder, filled."""
    quick = experiments.find(NAME, SCALE)
    assert isinstance(quick, Sweep)
    experiment, rng = replace(quick, runs=RUNS, steps=STEPS), np.random.default_rng(0)
    folder = experiments.folder_of(NAME, SCALE, out)
    with Results(folder, experiment.spec(), experiment.runner, experiment.chunks()) as results:
        for chunk, have in zip(experiment.chunks(), results.have, strict=True):
            if not have:
                about = {"chunk": chunk.id, "spec_hash": results.manifest.spec_hash, "seconds": 1.0}
                (folder / "parts" / f"{chunk.id}.parquet").write_bytes(store.encode(made_up(chunk.payload, rng), about))
    return folder


def seconds(call) -> float:
    """The best of three."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    folder = make(out)
    parts = list((folder / "parts").iterdir())
    size = sum(path.stat().st_size for path in parts)
    print(f"{len(parts):,} parts, {size / 2**20:.1f} MiB")
    anew = seconds(lambda: store.scan(folder, verify=True))
    known = seconds(lambda: store.scan(folder))
    stored = experiments.open_results(SCALE, out)
    draw = seconds(lambda: draw_all(stored, (experiments.find_figure("bakeoff"),), out))
    print(f"verified anew {anew:.2f} s, as remembered {known:.2f} s; one figure {draw:.2f} s")
    print(f"verification over drawing: {anew / draw:.1%} the first time, {known / draw:.1%} later")
