"""Titles of panels, and over one of them a name that is of others beside it too."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.axes import Axes

from dcnbio.figures.page import current_page

__all__ = ["panel_title"]

LINE = 1.35  # of the text's size


def panel_title(axes: Axes, title: str, over: str = "", pad: float | None = None, *, last: bool = False) -> None:
    """Write a panel's title, and a line above it a name that may be wider than the panel.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    title : str
        Short enough for the panel.
    over : str
        Such as a network's name over the first of its panels; the panels to its right leave its line free.
    pad : float, optional
        From the axes to the title, points; the page's by default.
    last : bool
        Whether the page may end beside the panel, so that the title's width needs room.
    """
    away = float(mpl.rcParams["axes.titlepad"]) if pad is None else pad
    if not over and not last:
        axes.set_title(title, loc="left", pad=away)
        return
    size = current_page().venue.text
    # the room that is kept for an axes' own title does not count its width, so the name takes none from the panels
    if over:
        axes.set_title(over, loc="left", pad=away + LINE * size)
    axes.annotate(title, (0, 1), (0, away), "axes fraction", "offset points", va="baseline", size=size)
