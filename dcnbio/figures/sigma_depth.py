"""Figure 3a of the paper: the scale of each layer against its depth, beside what it was before training."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.figures.direct_labels import label_end
from dcnbio.figures.interval_band import aside
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import layer_tick, listed, network_name
from dcnbio.figures.octave_axis import octave_axis
from dcnbio.figures.page import current_page, figure_of, styled
from dcnbio.figures.page_legend import page_legend
from dcnbio.figures.palette import GREY, colour
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["SIGMA_DEPTH", "networks_of"]

MOST_NAMED = 2  # networks named at the ends of their lines; of more that end near each other, names have no place there
LEGEND_LINE = 0.17  # inches


def networks_of(scales: xr.DataTree) -> list[xr.DataTree]:
    """List the networks of a scales result."""
    return [node for name, node in scales.children.items() if name.startswith("network")]


def limits_of(network: xr.DataTree, layer: str) -> tuple[float, float]:
    """Give the limits of the mean log2 sigma of a layer's filters, NaN where its filters share one scale."""
    if "distributions" in network.children:
        found = network["distributions"].to_dataset()
        if layer in found["convolution"].values:
            low, high = found["log2_mean_interval"].sel(convolution=layer, weighting="filters").values
            return float(low), float(high)
    return float("nan"), float("nan")


def sigma_depth_table(scales: xr.DataTree) -> Table:
    """List the scale of every layer after and before training.

    Parameters
    ----------
    scales : xarray.DataTree
        Result of ``dcnbio analyze scales``.
    """
    rows = []
    for network in networks_of(scales):
        data = network.to_dataset()
        for index, layer in enumerate(data["layer"].values.astype(str)):
            low, high = limits_of(network, layer)
            one = data.isel(layer=index)
            rows.append(
                {
                    "network": network_name(network),
                    "row": str(network.attrs["row"]),
                    "layer": layer,
                    "depth": int(one["depth"]),
                    "sigma_pixels": float(np.exp2(one["log2_sigma"])),
                    "sigma_low_pixels": float(np.exp2(low)),
                    "sigma_high_pixels": float(np.exp2(high)),
                    "sigma_before_pixels": float(np.exp2(one["log2_sigma_initial"])),
                    "effective_sigma_pixels": float(one["effective_sigma"]),
                }
            )
    return table_of(rows)


@styled
def draw_sigma_depth(table: Table, axes: Axes | None = None) -> Figure:
    """Draw one line per network, and its start in grey.

    Parameters
    ----------
    table : pandas.DataFrame
        `sigma_depth_table`.
    axes : matplotlib.axes.Axes, optional
        To draw into.
    """
    given = axes is not None
    networks = unique(table, "network")
    legend = len(networks) > MOST_NAMED
    figure, axes = figure_of(axes, 2.4 + LEGEND_LINE * len(networks) * legend)
    span = (float(table["depth"].min()), float(table["depth"].max()))
    for number, name in enumerate(networks):
        own = table[table["network"] == name]
        shade, y = colour(number), own["sigma_pixels"].to_numpy()
        # points of several networks stand side by side: many have nearly the same scales
        x = aside(own["depth"].to_numpy(), 2 * number - (len(networks) - 1), span, log=False)
        before = own["sigma_before_pixels"].to_numpy()
        # larger, so that they are seen as rings where training changed nothing
        axes.plot(x, before, "o:", color=shade if len(networks) > 1 else GREY, mfc="white", lw=0.8, ms=5)
        axes.plot(x, y, "o-", color=shade, label=name)
        spread = np.stack([y - own["sigma_low_pixels"], own["sigma_high_pixels"] - y])
        if np.isfinite(spread).any():
            axes.errorbar(x, y, yerr=spread, fmt="none", color=shade, ecolor=shade, lw=0.8)
        if not legend:
            label_end(axes, x[-1], y[-1], name if len(networks) > 1 else "trained", shade)
        if len(networks) == 1 and np.isfinite(before[-1]):
            label_end(axes, x[-1], before[-1], "before\ntraining", GREY)
    if legend and given:
        axes.legend(fontsize=current_page().venue.small)
    elif legend:
        page_legend(figure, *axes.get_legend_handles_labels())
    longest = max((table[table["network"] == name] for name in networks), key=len)
    axes.set_xticks(longest["depth"].tolist(), [layer_tick(layer) for layer in longest["layer"]])
    octave_axis(axes, "y")
    axes.set_xlabel("Layer in order of depth (block.convolution)")
    axes.set_ylabel("Scale $\\sigma$ (pixels)")
    return figure


def sigma_depth_caption(scales: xr.DataTree) -> str:
    """Say n, and what the bars are."""
    networks = networks_of(scales)
    rows = [(network_name(one), str(one.attrs["row"])) for one in networks]
    names = listed([name if name == row else f"{name}, a {row}" for name, row in rows])
    pairs = any("distributions" in one.children for one in networks)
    bars = (
        "Where each filter has a scale of its own, points are geometric means over the layer's filters and bars 95 % "
        "intervals of them, from a bootstrap clustered by output and input channels"
        if pairs
        else "Each layer has one scale, so there is no error bar"
    )
    beside = " Points of one layer stand side by side, the networks in order." if len(networks) > 1 else ""
    of = "this network" if len(networks) == 1 else f"these {len(networks)} networks, a line each"
    return (
        f"Scale sigma of each SRF layer against depth, n = {len(networks)} ({names}). Filled points, after training; "
        f"open points on dotted lines, the same layers before training.{beside} {bars}. It speaks of {of}: the unit of "
        "replication is the training seed."
    )


SIGMA_DEPTH = FigureKind(
    "sigma_depth",
    "scales",
    sigma_depth_table,
    draw_sigma_depth,
    sigma_depth_caption,
    {
        "network": ("name of the network", "1"),
        "row": ("row of the paper", "1"),
        "layer": ("name of the layer", "1"),
        "depth": ("place of the layer, from 1", "1"),
        "sigma_pixels": ("geometric mean of the scale after training", "pixels"),
        "sigma_low_pixels": ("lower 95 % limit of it, nan where the layer has one scale", "pixels"),
        "sigma_high_pixels": ("upper 95 % limit of it, nan where the layer has one scale", "pixels"),
        "sigma_before_pixels": ("geometric mean before training, nan where not known", "pixels"),
        "effective_sigma_pixels": ("median scale of the sampled and cut Gaussian", "pixels"),
    },
)
