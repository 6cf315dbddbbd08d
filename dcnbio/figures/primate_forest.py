"""Forest of the comparison with the primate: effects with intervals, the bound of likeness, the verdict, controls."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dcnbio.figures.comparison_rows import comparison_rows
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import listed, network_name
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.page_legend import page_legend
from dcnbio.figures.palette import BLACK, GREY, colour, tint
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["PRIMATE_FOREST"]

MARKS = ("s", "D", "^", "v")  # of controls, in their order
POINTS = {0: "o", 1: ">", -1: "<"}  # of the network: a number, or a limit that points to where the truth lies
LINE = 0.36  # inches of a comparison
BAND = 0.72  # of a line's height
OWN, BELOW = 0.14, 0.22  # where in a line the network's mark and its controls lie


def primate_forest_table(primate: xr.DataTree) -> Table:
    """List the effect of each comparison that is a number, and below it those of its controls.

    Parameters
    ----------
    primate : xarray.DataTree
        Result of ``dcnbio analyze primate``.

    Raises
    ------
    InputError
        If nothing was compared.
    """
    return table_of(comparison_rows(primate))


def finite_pair(row: Mapping[str, Any], name: str) -> tuple[float, float] | None:
    """Give an interval, or None where there is none."""
    pair = float(row[f"{name}_low"]), float(row[f"{name}_high"])
    return pair if all(map(math.isfinite, pair)) else None


def draw_line(axes: Axes, height: float, rows: list[dict[str, Any]], marks: Mapping[str, str]) -> None:
    """Draw one comparison: its bound as a band, the network's effect with intervals, controls below."""
    own, bound = rows[0], float(rows[0]["bound"])
    if math.isfinite(bound):
        box = Rectangle((-bound, height - BAND / 2), 2 * bound, BAND, fc=tint(GREY, 0.25), ec="none", lw=0)
        axes.add_patch(box)
    for name, width in (("adjusted", 0.7), ("inner", 2.2)):
        pair = finite_pair(own, name)
        if pair:
            axes.plot(pair, [height + OWN] * 2, "-", color=colour(0), lw=width, solid_capstyle="butt")
    axes.plot(float(own["effect"]), height + OWN, POINTS[int(own["limit"])], color=colour(0), ms=4.5)
    for row in rows[1:]:
        axes.plot(float(row["effect"]), height - BELOW, marks[str(row["of"])], color=GREY, ms=3, mfc="none", mew=0.8)


def wrapped(name: str) -> list[str]:
    """Break the name of a comparison into lines that leave room for the panel."""
    venue = current_page().venue
    return textwrap.wrap(name, int(0.36 * venue.page * 72 / (0.52 * venue.small)))


def heights_of(names: list[str]) -> list[float]:
    """Give each comparison the height it asks for, in units of `LINE`: that of its mark, or more lines of its name."""
    one = 1.5 * current_page().venue.small / 72 / LINE
    return [max(1.0, one * len(wrapped(name)) + 0.1) for name in names]


def draw_unit(axes: Axes, table: Table, unit: str, marks: Mapping[str, str]) -> None:
    """Draw the comparisons whose effects share a unit, one under the other."""
    small = current_page().venue.small
    names = unique(table, "comparison")
    heights = np.array(heights_of(names))
    middles = heights.sum() - np.cumsum(heights) + heights / 2
    for height, name in zip(middles.tolist(), names, strict=True):
        rows = table[table["comparison"] == name].to_dict("records")
        draw_line(axes, height, rows, marks)
        verdict = str(rows[0]["verdict"]).replace(", built in", ",\nbuilt in")
        for text, edge, away in (("\n".join(wrapped(name)), 0, -4), (verdict, 1, 4)):
            look: dict[str, Any] = {"ha": "left" if edge else "right", "va": "center", "size": small}
            axes.annotate(text, (edge, height), (away, 0), ("axes fraction", "data"), "offset points", **look)
    axes.axvline(0, color=BLACK, lw=0.6)
    axes.set_yticks([])
    axes.set_ylim(-0.1, heights.sum() + 0.1)
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.05)
    axes.autoscale(axis="x")
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(f"Network minus macaque V1 ({unit})", size=small)


@styled
def draw_primate_forest(table: Table) -> Figure:
    """Draw a panel per unit of effects.

    Parameters
    ----------
    table : pandas.DataFrame
        `primate_forest_table`.
    """
    units = unique(table, "effect_unit")
    counts = [sum(heights_of(unique(table[table["effect_unit"] == unit], "comparison"))) for unit in units]
    controls = [name for name in unique(table, "of") if name != "network"]
    marks = {name: MARKS[i % len(MARKS)] for i, name in enumerate(controls)}
    figure = new_figure(LINE * sum(counts) + 0.55 * len(units) + 0.35, columns=2)
    panels = figure.subplots(len(units), 1, squeeze=False, height_ratios=counts)[:, 0]
    for axes, unit in zip(panels, units, strict=True):
        draw_unit(axes, table[table["effect_unit"] == unit], unit, marks)
    shown = [("network", "o", colour(0), colour(0), 4.5)]
    shown += [(name, mark, GREY, "none", 3.0) for name, mark in marks.items()]
    handles = [panels[0].plot([], [], mark, color=shade, mfc=face, ms=size)[0] for _, mark, shade, face, size in shown]
    handles.append(panels[0].add_patch(Rectangle((np.nan, np.nan), 0, 0, fc=tint(GREY, 0.25), ec="none")))
    names = [name for name, *_ in shown] + ["bound of likeness"]
    page_legend(figure, handles, names, handletextpad=0.3)
    return figure


def own_limits(rows: list[dict[str, Any]]) -> bool:
    """Say whether an effect is a limit."""
    return any(row["limit"] for row in rows)


def primate_forest_caption(primate: xr.DataTree) -> str:
    """Say n of each comparison, what bars, band and marks are, and what the verdicts are of."""
    table = primate_forest_table(primate)
    own = table[table["of"] == "network"].to_dict("records")
    counts = "; ".join(
        f"{row['comparison']}, n = {row['n_units']}" + (f" and {row['n_cells']}" if row["n_cells"] else "")
        for row in own
    )
    adjusted = (
        f" Thin bars: {own[0]['adjusted_what']}."
        if any(finite_pair(row, "adjusted") for row in own)
        else " No interval that is adjusted for the number of comparisons is in this result."
    )
    controls = [name for name in unique(table, "of") if name != "network"]
    beside = f" Small grey marks: {listed(controls)}, the same difference without an error bar." if controls else ""
    pointed = " Triangles point to where the truth lies, of which a limit alone is known." if own_limits(own) else ""
    return (
        f"Units of block 1 of {network_name(primate)} minus cells of macaque V1, in the unit under each panel. Points, "
        f"differences; thick bars, {own[0]['inner_what']} over units and cells.{adjusted}{pointed} "
        "Grey bands: the largest "
        "difference that is called like, fixed from published differences before any network was seen; where there is "
        f"no band, the sign alone is asked or no bound is known.{beside} Right, the verdict, by intervals adjusted for "
        "the number of comparisons; built in: an untrained network or the norms alone do the same. Numbers of units "
        f"and of cells, where stated: {counts}. The units are of one network: with one training seed nothing is said "
        "of other networks."
    )


PRIMATE_FOREST = FigureKind(
    "primate_forest",
    "primate",
    primate_forest_table,
    draw_primate_forest,
    primate_forest_caption,
    {
        "comparison": ("what was compared", "1"),
        "effect_unit": ("unit of the effect", "1"),
        "of": ("network, or the control", "1"),
        "effect": ("model minus data", "effect_unit"),
        "limit": ("1 where the effect is known to lie above that alone, -1 below, else 0", "1"),
        "inner_low": ("lower limit of the thick bar", "effect_unit"),
        "inner_high": ("upper limit of the thick bar", "effect_unit"),
        "inner_what": ("what the thick bar is", "1"),
        "adjusted_low": ("lower limit of the thin bar", "effect_unit"),
        "adjusted_high": ("upper limit of the thin bar", "effect_unit"),
        "adjusted_what": ("what the thin bar is", "1"),
        "bound": ("largest difference that is called like; nan where there is none", "effect_unit"),
        "verdict": ("like, unlike or cannot tell", "1"),
        "n_units": ("units of the network", "1"),
        "n_cells": ("published cells; 0 where not stated", "1"),
    },
)
