"""The rows of a table that is kept as CSV."""

from __future__ import annotations

import csv
from pathlib import Path


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a table."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
