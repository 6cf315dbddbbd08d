"""Panels of curves with their intervals, side by side, series in the same colour everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.figures.decade_axis import decade_axis
from dcnbio.figures.direct_labels import label_end
from dcnbio.figures.interval_band import interval_band, interval_bars
from dcnbio.figures.page import current_page, new_figure
from dcnbio.figures.palette import GREY, colour
from dcnbio.figures.table import Table, unique

__all__ = ["Panel", "draw_curve_grid", "draw_curves"]


@dataclass(frozen=True)
class Panel:
    """How a panel of curves looks.

    Attributes
    ----------
    name : str
        Of its rows in the table, column ``panel``.
    x_label, y_label : str
        With units.
    title : str
    log : bool
        Whether x is logarithmic.
    bars : bool
        Points with bars; else lines with bands.
    limits : tuple of float, optional
        Of y.
    reference : tuple of (float, str), optional
        A value of y that curves are read against, and what it is.
    named : bool
        Whether lines are named at their ends.
    muted : tuple of str
        Series that others are read against, grey and dashed.
    """

    name: str
    x_label: str
    y_label: str
    title: str = ""
    log: bool = False
    bars: bool = False
    limits: tuple[float, float] | None = None
    reference: tuple[float, str] | None = None
    named: bool = True
    muted: tuple[str, ...] = ()


def draw_curves(axes: Axes, table: Table, panel: Panel, series: Sequence[str]) -> None:
    """Draw one panel.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    table : pandas.DataFrame
        Columns ``series``, ``x``, ``value``, ``low``, ``high`` (nan where there is no interval); rows of one panel.
    panel : Panel
    series : sequence of str
        All series of the figure, which gives each its colour.
    """
    if panel.reference is not None:
        axes.axhline(panel.reference[0], color=GREY, lw=0.8, ls=":", zorder=0)
    for name in unique(table, "series"):
        own, muted = table[table["series"] == name], name in panel.muted
        shade = GREY if muted else colour([one for one in series if one not in panel.muted].index(name))
        x, y = own["x"].to_numpy(), own["value"].to_numpy()
        limits = (own["low"].to_numpy(), own["high"].to_numpy())
        if muted:
            axes.plot(x, y, "--", color=shade, lw=1.0, zorder=2)
        else:
            (interval_bars if panel.bars else interval_band)(axes, x, y, limits, shade)
        known = np.flatnonzero(np.isfinite(y))
        if panel.named and name and known.size:
            label_end(axes, x[known[-1]], y[known[-1]], name, shade)
    axes.margins(x=0.02)
    if panel.log:
        decade_axis(axes, "x")
    if panel.limits is not None:
        axes.set_ylim(*panel.limits)
    if panel.reference is not None and panel.reference[1]:
        note(axes, *panel.reference)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.title:
        axes.set_title(panel.title, loc="left")


def note(axes: Axes, value: float, text: str) -> None:
    """Say what a reference line is, at its left end."""
    axes.annotate(
        text,
        (0.02, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2),
        textcoords="offset points",
        color=GREY,
        size=current_page().venue.small,
        va="bottom",
    )


def draw_curve_grid(table: Table, panels: Sequence[Panel], height: float, across: int) -> Figure:
    """Draw panels in rows of `across`, over the width of the page.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``panel``, ``series``, ``x``, ``value``, ``low``, ``high``.
    panels : sequence of Panel
    height : float
        Of a row, inches.
    across : int
    """
    series = unique(table, "series")
    lines = -(-len(panels) // across)
    figure = new_figure(height * lines, columns=2)
    grid = figure.subplots(lines, across, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        draw_curves(axes, table[table["panel"] == panel.name], panel, series)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    return figure
