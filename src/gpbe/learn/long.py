"""Results in long format, a row for each number: for polars, pandas, R, or a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpbe.errors import InputError
from gpbe.files.atomic import write_table

if TYPE_CHECKING:
    import polars as pl


class Long:
    """What results have in common that are told in a long table."""

    def table(self) -> "pl.DataFrame":
        """A row for each number that was recorded."""
        raise NotImplementedError

    def to_csv(self, path: str | Path) -> Path:
        """Write the long table as CSV; or as Parquet, if the name ends so."""
        path = Path(path)
        if path.suffix not in (".csv", ".parquet"):
            raise InputError(f"{path} should end in .csv or .parquet")
        write_table(path, self.table())
        return path

    def to_pandas(self) -> Any:
        """The long table as a pandas.DataFrame, if pandas is installed."""
        try:
            import pandas
        except ImportError:
            raise InputError("pandas is not installed; install it, or use .table(), which is polars's") from None
        return pandas.DataFrame({column.name: column.to_numpy() for column in self.table()})
