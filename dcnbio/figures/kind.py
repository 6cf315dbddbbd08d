"""What a figure is: a table from a result, a drawing from the table, and a caption."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from dcnbio.figures.table import Table

__all__ = ["FigureKind"]


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure.

    Attributes
    ----------
    name : str
        Of the figure and its files.
    takes : str
        The kind of result it is of: "filters", "recording", "run", "spec", or the name of an analysis.
    table : callable
        From the result to the tidy table that redraws the figure. Raises `InputError` where this result has none.
    draw : callable
        From the table, read back from its CSV file or not, to the figure; takes ``axes`` where one panel suits.
    caption : callable
        From the result to the caption's text.
    columns : mapping of str to tuple of str
        What each column of the table is, and its unit.
    together : callable, optional
        From the results and tables of this kind that are drawn together to those tables with what they share.
    """

    name: str
    takes: str
    table: Callable[[Any], Table]
    draw: Callable[..., Figure]
    caption: Callable[[Any], str]
    columns: Mapping[str, tuple[str, str]]
    together: Callable[[Sequence[tuple[Any, Table]]], list[Table]] | None = None
