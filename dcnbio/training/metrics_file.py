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
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = list(reader.fieldnames or [])
            # the last row may have been cut by a full disk
            whole = [row for row in reader if None not in row.values() and (row["step"] or "").isdigit()]
        kept = [row for row in whole if int(row["step"]) <= after]
        replace_file(path, as_csv(columns, kept, header=True).encode())

    def add(self, row: Mapping[str, object]) -> None:
        """Append a row; the first one gives the columns.

        Raises
        ------
        SaveError
            If the disk is full.
        """
        text = as_csv(list(row), [row], header=not self.path.exists())
        try:
            with open(self.path, "a", newline="", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise SaveError(
                f"{self.path} cannot be written ({error.strerror or error}); make room and go on with --resume."
            ) from error


def as_csv(columns: list[str], rows: list[Mapping[str, object]] | list[dict[str, str]], header: bool) -> str:
    """Write rows as text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
