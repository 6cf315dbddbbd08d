"""A legend below the panels, in as many rows as the page's width asks for."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from dcnbio.figures.page import current_page

__all__ = ["legend_columns", "page_legend"]

LETTER = 0.52  # of the text's size: the mean width of a letter
BESIDE = 4.5  # of the text's size: the mark of an entry, and the room beside it


def legend_columns(names: Sequence[str], width: float, size: float) -> int:
    """Give the largest number of columns that fit a width.

    Parameters
    ----------
    names : sequence of str
    width : float
        Inches.
    size : float
        Of the text, points.

    Examples
    --------
    >>> legend_columns(["one", "another one"], 6.75, 8), legend_columns(["a rather long name of a line"] * 5, 3.25, 8)
    (2, 1)
    """
    entry = size * (LETTER * max(len(name) for name in names) + BESIDE)
    return max(1, min(len(names), int(72 * width / entry)))


def page_legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str], handletextpad: float = 0.5) -> None:
    """Name marks and lines below the panels of a figure."""
    size = current_page().venue.small
    columns = legend_columns(names, float(figure.get_size_inches()[0]), size)
    # rows of about one length look better than a full one and a rest
    columns = -(-len(names) // -(-len(names) // columns))
    figure.legend(list(handles), list(names), loc="outside lower center", ncols=columns, handletextpad=handletextpad)
