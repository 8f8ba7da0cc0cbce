"""What do time and memory of logs grow with?

Run with nothing else on the machine: `python benchmarks/logs.py [rows ...] [--json FILE]`, 1e5 to 1e7 if left out.
`docs/draw_cost.py` draws the file. Rows lie in Parquet files of a million, twenty features each, in episodes of fifty
on average. Ten files are written (1.8 GB); of more, the others are links to these, so that 1e8 rows fit on any disk.
Each command is a process of its own, from its start to its answer; memory is the peak of its resident set, of workers
the largest. `predict` holds the whole log in memory, in 32 bits, so it is measured up to ten million rows.
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

FEATURES, FILE, WRITTEN, MOST_IN_MEMORY = 20, 1_000_000, 10, 10_000_000
COMMANDS = {
    "evaluate wis": ("evaluate", "--by", "wis"),
    "evaluate lstd": ("evaluate", "--by", "lstd"),
    "evaluate lstd, lambda 0.9": ("evaluate", "--by", "lstd", "--lam", "0.9"),
    "evaluate all": ("evaluate",),
    "evaluate all, a worker a core": ("evaluate", "--workers", str(os.cpu_count())),
    "predict td": ("predict", "td"),
    "predict lstd": ("predict", "lstd"),
}


def write(folder: Path, rows: int) -> None:
    """A log of random numbers in files. In a process of its own: what it takes would count for those that follow."""
    import numpy as np
    import polars as pl

    for k, start in enumerate(range(0, rows, FILE)):
        file, n = folder / f"{k:04}.parquet", min(FILE, rows - start)
        if k >= WRITTEN and n == FILE:
            os.link(folder / f"{k % WRITTEN:04}.parquet", file)
            continue
        rng = np.random.default_rng(k)
        ends, behavior = rng.random(n) < 0.02, rng.uniform(0.3, 0.7, n)
        table = {f"x_{i}": rng.standard_normal(n) for i in range(FEATURES)}
        table |= {"reward": rng.standard_normal(n), "discount": np.where(ends, 0.0, 0.99)}
        table |= {"target": np.clip(behavior + rng.uniform(-0.1, 0.1, n), 0, 1), "behavior": behavior}
        pl.DataFrame(table).write_parquet(file)


def measure(command: tuple[str, ...], files: list[str]) -> tuple[float, float]:
    """Seconds, and megabytes at the peak."""
    name, *rest = command
    logs = files if name == "evaluate" else [str(Path(files[0]).parent / "*.parquet")]
    whole = [sys.executable, "-m", "gpbe", name, *logs, *rest, "--json"]
    begun = time.perf_counter()
    process = subprocess.Popen(whole, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(whole[2:])} failed")
    return time.perf_counter() - begun, used.ru_maxrss / 1e3


def main(sizes: list[int], file: Path | None) -> None:
    """Print a row for each size and command, and write what there is so far."""
    print(f"{'rows':>12}  {'command':30}{'seconds':>9}{'MB':>8}{'rows/s':>12}")
    found = []
    for rows in sizes:
        folder = Path(tempfile.mkdtemp())
        try:
            writer = get_context("spawn").Process(target=write, args=(folder, rows))
            writer.start()
            writer.join()
            files = sorted(map(str, folder.glob("*.parquet")))
            for name, command in COMMANDS.items():
                if (name.startswith("predict") and rows > MOST_IN_MEMORY) or ("worker" in name and len(files) < 2):
                    continue
                seconds, megabytes = measure(command, files)
                print(f"{rows:12,}  {name:30}{seconds:9.1f}{megabytes:8.0f}{rows / seconds:12,.0f}", flush=True)
                found.append({"rows": rows, "command": name, "seconds": round(seconds, 2), "MB": round(megabytes)})
                if file is not None:
                    file.write_text(json.dumps(found, indent=1) + "\n")
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", type=float, default=[1e5, 1e6, 1e7])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    main([int(rows) for rows in given.rows], given.json)
