"""Tables, numbers and sentences that fit a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dcnbio.analysis.claim import limit_mark

__all__ = ["WIDTH", "marked", "shown", "table", "wrapped"]

WIDTH = 80


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Lay out rows in columns: text to the left, numbers to the right.

    Examples
    --------
    >>> print(table(["block", "nfe"], [["block1", 44], ["block2", 8]]))
    block   nfe
    block1   44
    block2    8
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(column[i]) for column in [list(header), *cells]) for i in range(len(header))]
    right = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        parts = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        return "  ".join(parts).rstrip()

    return "\n".join(line(row) for row in [list(header), *cells])


def wrapped(text: str) -> str:
    """Break a sentence at 80 columns."""
    return textwrap.fill(text, WIDTH, subsequent_indent="  ")


def shown(value: float, form: str) -> str:
    """Write a number, or a dash where it is not known.

    Examples
    --------
    >>> shown(0.1234, ".2f"), shown(float("nan"), ".2f")
    ('0.12', '-')
    """
    return "-" if value != value else format(value, form)


def marked(text: str, limit: int) -> str:
    """Mark a limit as one.

    Examples
    --------
    >>> marked("3.2", 1), marked("70", -1), marked("5", 0)
    ('>3.2', '<70', '5')
    """
    return f"{limit_mark(limit)}{text}"
