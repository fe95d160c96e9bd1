"""A table as a file: CSV for spreadsheets, Parquet for data frames."""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from commonplace.analysis.tables import Table
from commonplace.errors import UsageError, install
from commonplace.whole_file import written_whole


def write_table(table: Table, target: Path, form: Literal["csv", "parquet"], *, force: bool = False) -> int:
    """Writes a table to a file, which appears whole or not at all, and returns its number of rows.

    CSV is UTF-8 with a head, and with an empty cell for None. Raises UsageError, unless `force`, for an existing
    target, and for Parquet without pyarrow.
    """
    with written_whole(target, force=force) as part:
        if form == "csv":
            _write_csv(table, part)
        else:
            _write_parquet(table, part)
    return len(list(table.rows()))


def _write_csv(table: Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(table.rows())


def _write_parquet(table: Table, path: Path) -> None:
    try:
        arrow: Any = import_module("pyarrow")  # optional, and without types
        parquet: Any = import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise UsageError(
            "`export RUN parquet` needs pyarrow, which is not installed", hint=install("parquet")
        ) from error
    parquet.write_table(arrow.table(dict(table)), path)
