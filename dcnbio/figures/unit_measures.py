"""What the units of a network are tuned to: every unit's measures, beside those of the untrained network."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.decade_axis import decade_axis
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.page import new_figure, styled
from dcnbio.figures.palette import GREY, colour
from dcnbio.figures.table import Table, table_of, unique
from dcnbio.figures.zero_axis import zero_axis

__all__ = ["UNIT_MEASURES"]

LABELS = {
    "orientation_half_width": ("Orientation half-width", "(degrees)"),
    "preferred_spatial_frequency": ("Preferred frequency", "(c/px)"),
    "spatial_frequency_bandwidth": ("Frequency bandwidth", "(octaves)"),
    "f1_f0": ("F1 / F0", "(1)"),
    "summation_diameter": ("Summation field", "(pixels)"),
    "suppression_index": ("Suppression index", "(1)"),
    "c50": ("c50, contrast", "(1)"),
    "peak_time": ("Peak time", "(solver time)"),
    "field_sigma_gradient": ("Field sigma", "(pixels)"),
}
RATIOS = ("c50",)  # spread over a decade and more
NETWORKS = {"measures": "trained", "untrained": "untrained"}
ACROSS = 3


def unit_rows(series: str, measure: str, data: xr.Dataset) -> list[dict[str, Any]]:
    """List a measure of every unit that has it."""
    values = data[measure].values
    flag = f"censored_{measure}"
    limits = data[flag].values if flag in data else np.zeros(values.shape, dtype=bool)
    units = zip(data["block"].values, data["channel"].values, values, limits, strict=True)
    return [
        {
            "measure": measure,
            "network": series,
            "block": int(block),
            "channel": int(channel),
            "value": float(value),
            "limit": int(limit),
        }
        for block, channel, value, limit in units
        if np.isfinite(value)
    ]


def unit_measures_table(responses: xr.DataTree) -> Table:
    """List the measures of every unit, of the network and of an untrained one.

    Parameters
    ----------
    responses : xarray.DataTree
        Result of ``dcnbio analyze responses``.

    Raises
    ------
    InputError
        If no unit has any of the measures.
    """
    nodes = {name: responses[name].to_dataset() for name in NETWORKS if name in responses.children}
    rows = [
        row
        for measure in LABELS
        for node, data in nodes.items()
        if measure in data
        for row in unit_rows(series_of(node, data), measure, data)
    ]
    if not rows:
        raise InputError("no unit of this result has a measure; record more stimuli (dcnbio analyze responses).")
    return table_of(rows)


def series_of(node: str, data: xr.Dataset) -> str:
    """Name the network of a table of units."""
    return NETWORKS[node] if int(data.attrs.get("trained", 1)) or node == "untrained" else "this network"


def draw_measure(axes: Axes, own: Table, networks: list[str]) -> None:
    """Draw one measure: a point per unit, side by side in order of size; limits are open."""
    for place, network in enumerate(networks):
        units = own[own["network"] == network].sort_values("value", kind="stable")
        n, shade = len(units), GREY if network == "untrained" else colour(0)
        across = place + 0.7 * (np.arange(n) - (n - 1) / 2) / max(n, 2)
        open_ones = units["limit"].to_numpy() == 1
        values = units["value"].to_numpy()
        axes.plot(across[~open_ones], values[~open_ones], "o", color=shade, ms=2.2, mec="none")
        axes.plot(across[open_ones], values[open_ones], "o", color=shade, ms=2.6, mfc="white", mew=0.6)
    counts = [int((own["network"] == network).sum()) for network in networks]
    names = [f"{network}\nn = {n}" for network, n in zip(networks, counts, strict=True)]
    axes.set_xticks(range(len(networks)), names)
    axes.set_xlim(-0.6, len(networks) - 0.4)
    axes.tick_params(axis="x", length=0)
    if own["measure"].iloc[0] in RATIOS and float(own["value"].min()) > 0:
        decade_axis(axes, "y")
    else:
        zero_axis(axes, own["value"])
        low, high = axes.get_ylim()
        axes.set_ylim(low - 0.03 * (high - low), high)  # a point at 0 would be cut in half


@styled
def draw_unit_measures(table: Table) -> Figure:
    """Draw a panel per measure.

    Parameters
    ----------
    table : pandas.DataFrame
        `unit_measures_table`.
    """
    measures, networks = unique(table, "measure"), unique(table, "network")
    lines = -(-len(measures) // ACROSS)
    figure = new_figure(1.9 * lines, columns=2)
    grid = figure.subplots(lines, ACROSS, squeeze=False).ravel()
    for axes, measure in zip(grid, measures, strict=False):
        draw_measure(axes, table[table["measure"] == measure], networks)
        axes.set_title(LABELS[measure][0], loc="left")
        axes.set_ylabel(LABELS[measure][1])
        axes.set_xlabel("Network (units)")
    for axes in grid[len(measures) :]:
        axes.set_visible(False)
    return figure


def unit_measures_caption(responses: xr.DataTree) -> str:
    """Say n, and what open points are."""
    data = responses["measures"].to_dataset()
    beside = " and of an untrained network of the same row" if "untrained" in responses.children else ""
    return (
        f"Measures of n = {data.sizes['unit']} units of {data.attrs['network']} ({data.attrs['row']}){beside}, one "
        "unit per channel, as of neurons: a point per unit that has the measure, side by side in order of size, their "
        "number under the name; open points are limits alone (the value lies beyond). The response is the unit's "
        "activation as the next layer reads it, above that to the blank; the stimulus is the state at t = 0. Points "
        "are single units: there is no error bar; medians with intervals over units stand in the result's claims, and "
        "units of one network are no sample of networks."
    )


UNIT_MEASURES = FigureKind(
    "unit_measures",
    "responses",
    unit_measures_table,
    draw_unit_measures,
    unit_measures_caption,
    {
        "measure": ("name of the measure", "1"),
        "network": ("trained or untrained", "1"),
        "block": ("block of the unit", "1"),
        "channel": ("channel of the unit", "1"),
        "value": ("the measure", "of the measure: degrees, cycles/pixel, octaves, pixels, solver time or 1"),
        "limit": ("1 where the value is a limit alone", "1"),
    },
)
