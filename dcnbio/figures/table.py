"""The tidy table behind a figure: one row per thing drawn, and a CSV file that gives the same table back."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd  # type: ignore[import-untyped, unused-ignore]

__all__ = ["Table", "csv_text", "read_table", "table_of", "unique"]

Table: TypeAlias = pd.DataFrame


def table_of(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Make a table of rows that all have the same columns."""
    return pd.DataFrame(list(rows))


def csv_text(table: Table) -> str:
    r"""Write a table as CSV, with every digit.

    Examples
    --------
    >>> csv_text(table_of([{"layer": "a", "sigma_pixels": 0.1}, {"layer": "", "sigma_pixels": float("nan")}]))
    'layer,sigma_pixels\na,0.1\n,nan\n'
    """
    return str(table.to_csv(index=False, lineterminator="\n", na_rep="nan"))


def read_table(source: str | Path) -> Table:
    """Read a table back from a CSV file.

    Examples
    --------
    >>> import tempfile
    >>> before = table_of([{"layer": "", "sigma_pixels": 1 / 3}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text(csv_text(before))
    ...     read_table(path).equals(before)
    True
    """
    with open(source, newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    columns = zip(*lines, strict=True) if lines else ([] for _ in header)
    return pd.DataFrame({name: typed(list(cells)) for name, cells in zip(header, columns, strict=True)})


def typed(cells: list[str]) -> list[Any]:
    """Read a column as whole numbers, else as numbers, with every digit, else as text.

    Examples
    --------
    >>> typed(["1", "2"]), typed(["1", "0.5"]), typed(["1", ""])
    ([1, 2], [1.0, 0.5], ['1', ''])
    """
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return [kind(cell) for cell in cells]
    return list(cells)


def unique(table: Table, column: str) -> list[Any]:
    """List the values of a column, each once, in the order of the rows."""
    return list(dict.fromkeys(table[column].tolist()))
