"""Tuning of units to the orientation and spatial frequency of gratings."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dcnbio.analysis.responses.phase_modulation import phase_modulation
from dcnbio.analysis.responses.rectified import response
from dcnbio.errors import InputError
from dcnbio.figures.decade_axis import decade_axis
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import unit_pairs, unit_title, units_text
from dcnbio.figures.page import new_figure, styled
from dcnbio.figures.palette import colour
from dcnbio.figures.stored_part import stored_part
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["TUNING_CURVES"]

SHOWN, FEW_TICKS = 6, 3
Floats = NDArray[np.float64]
AXES = ("orientation", "spatial_frequency", "phase")


def gratings_of(result: xr.DataTree | xr.Dataset) -> xr.Dataset:
    """Take the responses to gratings out of a result of ``dcnbio analyze responses``, or as they are."""
    data = stored_part(result, "gratings")
    missing = [name for name in AXES if name not in data.dims]
    if missing:
        raise InputError(f"these responses have no dimension {missing[0]}; record gratings of all three, crossed.")
    return data


def most_responsive(modulation: Floats) -> list[int]:
    """Choose the units with the largest response to any grating, in the order of their channels."""
    largest = modulation.reshape(len(modulation), -1).max(1)
    chosen = [int(unit) for unit in np.argsort(-largest, kind="stable")[:SHOWN] if largest[unit] > 0]
    if not chosen:
        raise InputError("no unit responds to any grating above the blank, so there is no tuning to draw.")
    return sorted(chosen)


def tuning_curves_table(gratings: xr.DataTree | xr.Dataset) -> Table:
    """List the responses of the most responsive units through their best grating.

    Parameters
    ----------
    gratings : xarray.DataTree or xarray.Dataset
        Result of ``dcnbio analyze responses``, or responses from `dcnbio.probe.responses.record_units`, their stimuli
        unstacked to orientation, spatial_frequency and phase.

    Raises
    ------
    InputError
        If the result keeps no responses, a dimension is missing, or no unit responds.
    """
    data = gratings_of(gratings)
    r = response(data).isel(time=-1).transpose("unit", *AXES)
    modulation = phase_modulation(r.values).modulation
    rows: list[dict[str, Any]] = []
    for unit in most_responsive(modulation):
        turned, scaled = np.unravel_index(modulation[unit].argmax(), modulation[unit].shape)
        about = {"block": int(r["block"][unit]), "channel": int(r["channel"][unit])}
        curves = {
            "orientation": (r["orientation"].values, modulation[unit][:, scaled]),
            "spatial_frequency": (r["spatial_frequency"].values, modulation[unit][turned]),
        }
        rows += [
            {**about, "panel": panel, "x": float(x), "response": float(value)}
            for panel, (xs, values) in curves.items()
            for x, value in zip(xs, values, strict=True)
        ]
    return table_of(rows)


@styled
def draw_tuning_curves(table: Table) -> Figure:
    """Draw orientation above, spatial frequency below, a column per unit.

    Parameters
    ----------
    table : pandas.DataFrame
        `tuning_curves_table`.
    """
    units = unit_pairs(table)
    figure = new_figure(3.05, columns=2)
    grid = figure.subplots(2, len(units), squeeze=False, sharey=True)
    for column, (block, channel) in zip(grid.T, units, strict=True):
        own = table[(table["block"] == block) & (table["channel"] == channel)]
        for axes, panel in zip(column, unique(own, "panel"), strict=True):
            curve = own[own["panel"] == panel]
            axes.plot(curve["x"], curve["response"] / float(own["response"].max()), "o-", color=colour(0), ms=2.2)
            axes.set_ylim(0, 1.1)
        column[0].set_title(unit_title(block, channel), loc="left")
        column[0].set_xticks([0, 90, 180])
        column[0].set_xlim(-5, 185)
        decade_axis(column[1], "x")
        ticks, names = column[1].get_xticks(), [text.get_text() for text in column[1].get_xticklabels()]
        if len(ticks) > FEW_TICKS:  # a panel is narrow
            column[1].set_xticks(ticks[::2], names[::2])
    for axes in grid[:, 0]:
        axes.set_ylabel("Response (1)")
    for axes in grid[0]:
        axes.set_xlabel("Angle (deg)")
    for axes in grid[1]:
        axes.set_xlabel("f (c/px)")
    return figure


def tuning_curves_caption(gratings: xr.DataTree | xr.Dataset) -> str:
    """Say n, and what a response is."""
    data = gratings_of(gratings)
    n, table = data.sizes["unit"], tuning_curves_table(gratings)
    return (
        f"Tuning of {len(unit_pairs(table))} of n = {n} units, {units_text(table)}: those whose response to their best "
        "grating is largest, so they are no typical units. Curves run through each unit's best grating: above, to the "
        "orientation of its bars in degrees; below, to its spatial frequency in cycles per pixel. The response is the "
        "unit's activation above that to the blank at the last time, never below 0, over "
        f"{data.sizes['phase']} phases: its mean or its first harmonic, whichever is larger at each grating, over the "
        "unit's largest. Points are single numbers of this network: there is no error bar."
    )


TUNING_CURVES = FigureKind(
    "tuning_curves",
    "responses",
    tuning_curves_table,
    draw_tuning_curves,
    tuning_curves_caption,
    {
        "block": ("block of the unit", "1"),
        "channel": ("channel of the unit", "1"),
        "panel": ("orientation or spatial_frequency", "1"),
        "x": ("orientation of the bars, or spatial frequency", "degrees or cycles/pixel"),
        "response": ("mean over phase or first harmonic, the larger", "1"),
    },
)
