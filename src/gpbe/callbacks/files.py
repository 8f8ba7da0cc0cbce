"""A table of what happens while an agent learns, written as it happens."""

import csv
import io
from math import isnan
from pathlib import Path

from gpbe.errors import InputError
from gpbe.files.atomic import append
from gpbe.learn.control.hooks import Stretch


class CSV:
    """Writes a row for each stretch, run and quantity: steps, setting, run, swept hyperparameters, name, value.

    Long format, as pandas, polars and R's ggplot like it. Rows are there as soon as they are known; numbers that there
    are none of yet (the return before the first episode has ended) have no row.

    Args:
        path: the file.
        append: go on with a file that is there, as where a training goes on from its checkpoint.

    >>> import gpbe, polars, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = CSV(f"{folder}/log.csv")
    ...     small = {"steps": 200, "every": 100, "runs": 2, "hidden": (4,)}
    ...     _ = gpbe.train("CartPole-v1", "qrc", callbacks=table, measure=True, **small)
    ...     rows = polars.read_csv(table.path)
    >>> rows.columns, rows["name"].unique().sort().to_list()
    (['steps', 'setting', 'run', 'name', 'value'], ['delta', 'diverged', 'h', 'loss', 'return'])
    """

    def __init__(self, path: str | Path, append: bool = False):
        self.path, self.append = Path(path), append
        if not self.path.parent.is_dir():
            raise InputError(f"there is no folder {self.path.parent}; make it first")
        self._begun = False

    def __call__(self, stretch: Stretch) -> None:
        swept = list(stretch.settings)
        there = self.append and self.path.exists() and self.path.stat().st_size > 0
        text = io.StringIO(newline="")
        table = csv.writer(text)
        if not (self._begun or there):
            table.writerow(["steps", "setting", "run", *swept, "name", "value"])
        for k, (setting, run) in enumerate(zip(stretch.setting, stretch.run, strict=True)):
            about = [stretch.steps, int(setting), int(run), *(float(stretch.settings[name][k]) for name in swept)]
            for name, value in quantities(stretch, k).items():
                table.writerow([*about, name, value])
        append(self.path, text.getvalue().encode(), anew=not (self._begun or self.append))
        self._begun = True


def quantities(stretch: Stretch, index: int) -> dict[str, float]:
    """All that is known of one run, by name; "diverged" is 0 or 1."""
    known = {name: float(values[index]) for name, values in stretch.values.items()}
    known["diverged"] = float(stretch.diverged_at[index] >= 0)
    return {name: value for name, value in known.items() if not isnan(value)}
