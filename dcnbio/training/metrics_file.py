"""The figures of a run, one row per epoch, in a CSV file that survives a kill."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from dcnbio.training.atomic_file import SaveError, replace_file

__all__ = ["MetricsFile"]


class MetricsFile:
    """A CSV file of one row per epoch.

    Parameters
    ----------
    path : Path
    after : int
        Rows of later steps than this are dropped: they are of a part of the run that was lost and is done again.
    """

    def __init__(self, path: Path, after: int = 0) -> None:
        self.path = path
        if after == 0 or not path.exists():
            path.unlink(missing_ok=True)
            return
        # a full disk may have cut the last line, and the first with it
        text = path.read_text(encoding="utf-8", errors="replace")
        reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
        columns = list(reader.fieldnames or [])
        whole = [row for row in reader if None not in row and None not in row.values()]
        if "step" not in columns:
            path.unlink()
            return
        kept = [row for row in whole if row["step"].isdigit() and int(row["step"]) <= after]
        replace_file(path, as_csv(columns, kept, header=True).encode())

    def columns(self) -> list[str]:
        """Read the names of the columns; none where there is no file."""
        if not self.path.exists():
            return []
        with open(self.path, newline="", encoding="utf-8") as file:
            return next(csv.reader(file), [])

    def widen(self, wanted: list[str]) -> None:
        """Add the columns that rows so far do not have: an earlier version of dcnbio may have begun the file."""
        columns = self.columns()
        if not columns or set(wanted) <= set(columns):
            return
        with open(self.path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        columns += [name for name in wanted if name not in columns]
        replace_file(self.path, as_csv(columns, rows, header=True).encode())

    def add(self, row: Mapping[str, object]) -> None:
        """Append a row; the first one gives the columns.

        Raises
        ------
        SaveError
            If the disk is full.
        """
        self.widen(list(row))
        text = as_csv(self.columns() or list(row), [row], header=not self.path.exists())
        try:
            with open(self.path, "a", newline="", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise SaveError(
                f"{self.path} cannot be written ({error.strerror or error}); make room and go on with --resume."
            ) from error


def as_csv(columns: list[str], rows: list[Mapping[str, object]] | list[dict[str, str]], header: bool) -> str:
    """Write rows as text; a column that a row does not have is left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
