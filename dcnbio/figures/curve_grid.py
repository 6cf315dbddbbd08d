"""Panels of curves with their intervals, side by side, series in the same colour everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dcnbio.figures.decade_axis import decade_axis
from dcnbio.figures.direct_labels import label_end
from dcnbio.figures.hidden_lines import DASHES, Dashes, times_hidden
from dcnbio.figures.interval_band import aside, interval_band, interval_bars
from dcnbio.figures.page import current_page, new_figure
from dcnbio.figures.page_legend import page_legend
from dcnbio.figures.palette import GREY, colour
from dcnbio.figures.panel_title import panel_title
from dcnbio.figures.table import Table, unique

__all__ = ["Panel", "dashes_of", "draw_curve_grid", "draw_curves"]


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
    over : str
        A name above the title that is of the panels to the right as well.
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
    over: str = ""
    log: bool = False
    bars: bool = False
    limits: tuple[float, float] | None = None
    reference: tuple[float, str] | None = None
    named: bool = True
    muted: tuple[str, ...] = ()


def draw_curves(axes: Axes, table: Table, panel: Panel, styles: Mapping[str, Dashes]) -> None:
    """Draw one panel.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    table : pandas.DataFrame
        Columns ``series``, ``x``, ``value``, ``low``, ``high`` (nan where there is no interval); rows of one panel.
    panel : Panel
    styles : mapping of str to dashes
        Of all series of the figure, from `dashes_of`; their order gives each its colour.
    """
    if panel.reference is not None:
        axes.axhline(panel.reference[0], color=GREY, lw=0.8, ls=":", zorder=0)
    bold = [name for name in unique(table, "series") if name not in panel.muted]
    shades = [name for name in styles if name not in panel.muted]
    span, outer = (float(table["x"].min()), float(table["x"].max())), (len(bold) - 1) / 2
    for name in unique(table, "series"):
        own = table[table["series"] == name]
        x, y = own["x"].to_numpy(), own["value"].to_numpy()
        limits = (own["low"].to_numpy(), own["high"].to_numpy())
        shade = GREY if name in panel.muted else colour(shades.index(name))
        if name in panel.muted:
            axes.plot(x, y, "--", color=shade, lw=1.0, zorder=4)  # over others: through its gaps they are seen
        elif panel.bars:
            moved = aside(x, bold.index(name) - outer, span, panel.log)
            interval_bars(axes, (moved, y), limits, shade, styles[name])
            x = aside(x, outer, span, panel.log)  # a name stands beside the points of all series
        else:
            interval_band(axes, x, y, limits, shade, styles[name])
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
        panel_title(axes, panel.title, panel.over)


def dashes_of(table: Table, panels: Sequence[Panel]) -> dict[str, Dashes]:
    """Choose dashes for all lines of a figure, the same in every panel, so that two that coincide are both seen."""
    found = dict.fromkeys(unique(table, "series"), 0)
    for panel in panels:
        own = table[table["panel"] == panel.name]
        values = own["value"].to_numpy(dtype=float)
        low, high = panel.limits or (float(np.nanmin(values)), float(np.nanmax(values)))
        names = [name for name in unique(own, "series") if name not in panel.muted]
        lines = [own[own["series"] == name][["x", "value"]].to_numpy(dtype=float).T for name in names]
        for name, over in zip(names, times_hidden([(x, y) for x, y in lines], high - low), strict=True):
            found[name] = max(found[name], over)
    return {name: DASHES[over] for name, over in found.items()}


def named_once(table: Table, row: Sequence[Panel]) -> list[Panel]:
    """Leave the names of lines to the last panel of a row, where all its panels show the same ones: names take room."""
    shown = [unique(table[table["panel"] == panel.name], "series") for panel in row]
    last = len(row) - 1
    return [replace(one, named=one.named and (i == last or shown[i] != shown[last])) for i, one in enumerate(row)]


def ends_apart(table: Table) -> bool:
    """Say whether lines of one panel end at different x: a name at the end of a short one would lie on a long one."""
    known = table[np.isfinite(table["value"].to_numpy(dtype=float))]
    ends = known.groupby(["panel", "series"])["x"].max().groupby("panel")
    return bool((ends.max() > ends.min()).any())


def add_legend(figure: Figure, panel: Panel, styles: Mapping[str, Dashes]) -> None:
    """Name all lines below the panels."""
    bold = [name for name in styles if name not in panel.muted]
    marker = "o" if panel.bars else "None"
    handles = [Line2D([], [], color=colour(i), ls=styles[name], marker=marker) for i, name in enumerate(bold)]
    muted = [name for name in styles if name in panel.muted]
    handles += [Line2D([], [], color=GREY, ls="--", lw=1.0) for _ in muted]
    page_legend(figure, handles, [*bold, *muted])


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


def draw_curve_grid(table: Table, places: Sequence[Panel | None], height: float, across: int) -> Figure:
    """Draw panels in rows of `across`, over the width of the page.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``panel``, ``series``, ``x``, ``value``, ``low``, ``high``.
    places : sequence of (Panel or None)
        None leaves a place empty.
    height : float
        Of a row, inches.
    across : int
    """
    styles = dashes_of(table, [panel for panel in places if panel is not None])
    lines = -(-len(places) // across)
    figure = new_figure(height * lines, columns=2)
    grid = figure.subplots(lines, across, squeeze=False)
    legend = ends_apart(table)
    for number, line in enumerate(grid):
        row = [panel for panel in places[number * across : (number + 1) * across] if panel is not None]
        for axes in line[len(row) :]:
            axes.set_visible(False)
        own = [replace(panel, named=False) for panel in row] if legend else named_once(table, row)
        for axes, panel in zip(line, own, strict=False):
            draw_curves(axes, table[table["panel"] == panel.name], panel, styles)
    if legend:
        add_legend(figure, next(panel for panel in places if panel is not None), styles)
    return figure
