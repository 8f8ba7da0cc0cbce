"""What do time and memory of logs grow with?

`python benchmarks/logs.py [rows ...] [--json FILE] [--folder FOLDER]`, 1e5 to 1e7 if left out, with nothing else on the
machine. It tells first how long it should take, and with `--dry-run` only that. `docs/draw_cost.py` draws the file,
which is written after every command.

Rows lie in Parquet files of a million, twenty features each, in episodes of fifty on average. At most ten files of a
million are written (1.8 GB), once for all sizes, and deleted at the end; of more, the others are links to these, so
that 1e8 rows fit on any disk. Each command is a process of its own, from its start to its answer. Memory is the peak
of its resident set, of workers the largest; `cpu` is the time of the processor, which says more on a busy machine.
Beyond ten files some commands are left out that tell nothing new then.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

FEATURES, FILE, WRITTEN = 20, 1_000_000, 10
COMMANDS = {
    "evaluate wis": ("evaluate", "--by", "wis"),
    "evaluate lstd": ("evaluate", "--by", "lstd"),
    "evaluate lstd, lambda 0.9": ("evaluate", "--by", "lstd", "--lam", "0.9"),
    "evaluate all": ("evaluate",),
    "evaluate all, a worker a core": ("evaluate", "--workers", str(os.cpu_count())),
    "predict td": ("predict", "td"),
    "predict lstd": ("predict", "lstd"),
}

SECONDS = {
    "evaluate wis": (2.5, 3.5),
    "evaluate lstd": (2.5, 4.0),
    "evaluate lstd, lambda 0.9": (2.5, 4.0),
    "evaluate all": (2.5, 8.5),
    "evaluate all, a worker a core": (4.0, 5.0),
    "predict td": (3.5, 4.0),
    "predict lstd": (4.0, 4.0),
}
"""Seconds to start and for a million rows, measured on a busy machine, so at most: to tell how long all will take."""
WRITING = 3.0
"""The same for a million rows that are written."""


def write(folder: Path, sizes: list[int]) -> None:
    """Logs of random numbers in files. In a process of its own: what it takes would count for those that follow."""
    import numpy as np
    import polars as pl

    made: dict[tuple[int, int], Path] = {}
    for rows in sizes:
        (folder / str(rows)).mkdir()
        for k, start in enumerate(range(0, rows, FILE)):
            file, n = folder / str(rows) / f"{k:04}.parquet", min(FILE, rows - start)
            if (k % WRITTEN, n) in made:
                os.link(made[k % WRITTEN, n], file)
                continue
            rng = np.random.default_rng(k)
            ends, behavior = rng.random(n) < 0.02, rng.uniform(0.3, 0.7, n)
            table = {f"x_{i}": rng.standard_normal(n) for i in range(FEATURES)}
            table |= {"reward": rng.standard_normal(n), "discount": np.where(ends, 0.0, 0.99)}
            table |= {"target": np.clip(behavior + rng.uniform(-0.1, 0.1, n), 0, 1), "behavior": behavior}
            pl.DataFrame(table).write_parquet(file)
            made[k % WRITTEN, n] = file


def asked(rows: int) -> list[str]:
    """The commands that a log of so many rows is measured with."""
    left_out = ["evaluate all, a worker a core"] * (rows <= FILE)
    left_out += ["evaluate all", "evaluate lstd, lambda 0.9", "predict lstd"] * (rows > WRITTEN * FILE)
    return [name for name in COMMANDS if name not in left_out]


def expected(rows: int) -> float:
    """Seconds that a size should take, files included."""
    return WRITING * min(rows, WRITTEN * FILE) / 1e6 + sum(a + b * rows / 1e6 for a, b in map(SECONDS.get, asked(rows)))


def measure(command: tuple[str, ...], folder: Path) -> dict[str, float]:
    """Seconds by the clock and of the processor, and megabytes at the peak."""
    name, *rest = command
    whole = [sys.executable, "-m", "gpbe", name, str(folder / "*.parquet"), *rest, "--json"]
    begun = time.perf_counter()
    process = subprocess.Popen(whole, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(whole[2:])} failed")
    seconds, cpu = time.perf_counter() - begun, used.ru_utime + used.ru_stime
    return {"seconds": round(seconds, 2), "cpu": round(cpu, 2), "MB": round(used.ru_maxrss / 1e3)}


def main(sizes: list[int], file: Path | None, parent: Path | None, dry: bool) -> None:
    """Print a row for each size and command, and write what there is so far."""
    for rows in sizes:
        print(f"{rows:,} rows should take {expected(rows) / 60:.1f} minutes at most")
    if dry:
        return
    folder = Path(tempfile.mkdtemp(dir=parent))
    found = []
    try:
        writer = get_context("spawn").Process(target=write, args=(folder, sizes))
        writer.start()
        writer.join()
        print(f"{'rows':>12}  {'command':30}{'seconds':>9}{'cpu':>9}{'MB':>8}{'rows/s':>12}")
        for rows in sizes:
            for name in asked(rows):
                m = measure(COMMANDS[name], folder / str(rows))
                shown = f"{m['seconds']:9.1f}{m['cpu']:9.1f}{m['MB']:8.0f}{rows / m['seconds']:12,.0f}"
                print(f"{rows:12,}  {name:30}{shown}", flush=True)
                found.append({"rows": rows, "command": name, **m})
                if file is not None:
                    file.write_text(json.dumps(found, indent=1) + "\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", type=float, default=[1e5, 1e6, 1e7])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--folder", type=Path, help="where to make the files; the system's folder for such if left out")
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args()
    main(sorted({int(rows) for rows in given.rows}), given.json, given.folder, given.dry_run)
