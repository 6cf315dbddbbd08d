"""Figure 3b of the paper: the scales of a convolution's filters, with the fitted log-normal and where they started."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.analysis.scales.initialisation import INITIAL_OCTAVES
from dcnbio.errors import InputError
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import layer_title, listed, network_name
from dcnbio.figures.octave_axis import octave_axis
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.page_legend import page_legend
from dcnbio.figures.palette import BLACK, GREY, colour, tint
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["SIGMA_DISTRIBUTIONS"]

WIDEST_BIN = 1 / 4  # octaves
BINS_TO_A_SIDE = 30  # of the median: a few filters that moved far must not make of all others one bar
COLUMNS = 3


def normal_density(x: np.ndarray, mean: float, sd: float) -> np.ndarray:
    """Give the density of log2 sigma, per octave."""
    return np.asarray(np.exp(-((x - mean) ** 2) / (2 * sd**2)) / (sd * math.sqrt(2 * math.pi)))


def curve(about: dict[str, Any], part: str, x: np.ndarray, mean: float, sd: float) -> list[dict[str, Any]]:
    """List the points of a density."""
    density = normal_density(x, mean, sd)
    return [
        {**about, "part": part, "sigma_pixels": float(2**a), "value": float(b)} for a, b in zip(x, density, strict=True)
    ]


def bin_edges(logs: np.ndarray) -> np.ndarray:
    """Choose bins of log2 sigma: about three to the middle half of the filters, and no more than are to be seen.

    Examples
    --------
    >>> normal = np.random.default_rng(0).normal(0, 2 / 3, 4096)
    >>> float(np.diff(bin_edges(normal))[0]), float(np.diff(bin_edges(normal / 100))[0])
    (0.25, 0.001953125)
    >>> float(np.diff(bin_edges(np.append(normal / 100, 1.0)))[0])
    0.001953125
    """
    low, middle, high = np.quantile(logs, [0.25, 0.5, 0.75])
    width = min(WIDEST_BIN, 2.0 ** math.floor(math.log2((high - low) / 3))) if high > low else WIDEST_BIN
    centre = round(middle / width)
    first = max(math.floor(logs.min() / width), centre - BINS_TO_A_SIDE)
    last = min(math.floor(logs.max() / width) + 1, centre + BINS_TO_A_SIDE)
    return np.arange(first, last + 1) * width


def convolution_rows(network: xr.DataTree, layer: str) -> list[dict[str, Any]]:
    """List the histogram, the fit, the start and the numbers of one convolution."""
    found = network["distributions"].to_dataset().sel(convolution=layer)
    filters = found.sel(weighting="filters")
    logs = np.log2(network[layer].to_dataset()["sigma"].values.ravel())
    edges = bin_edges(logs)
    counts, _ = np.histogram(logs, edges)
    width = float(edges[1] - edges[0])
    share = counts / (logs.size * width)  # of all filters, those beyond the bins included
    about = {"network": network_name(network), "layer": layer, "n": int(found["n"])}
    rows = [
        {**about, "part": "histogram", "sigma_pixels": float(2 ** (left + width / 2)), "value": float(value)}
        for left, value in zip(edges[:-1], share, strict=True)
    ]
    x = np.linspace(edges[0] - width, edges[-1] + width, 121)
    if float(found["s"]) > 0:
        rows += curve(about, "fit", x, math.log2(float(found["median"])), float(found["s"]) / math.log(2))
    if str(network.attrs.get("initial_sigma", "paper")) == "paper":
        rows += curve(about, "start", x, 0.0, INITIAL_OCTAVES)
    low, high = filters["log2_mean_interval"].values
    mean = float(filters["log2_mean"])
    for part, value in (("mean", mean), ("mean_low", float(low)), ("mean_high", float(high))):
        rows.append({**about, "part": part, "sigma_pixels": float(2**value), "value": float("nan")})
    distance, limit = float(filters["largest"]), float(filters["largest_interval"].sel(bound="high"))
    numbers = {
        "distance": distance,
        "distance_high": limit,
        "skewness": float(filters["skewness"]),
        "bin": width,
        "beyond": float(logs.size - counts.sum()),
    }
    for part, value in numbers.items():
        rows.append({**about, "part": part, "sigma_pixels": float("nan"), "value": value})
    return rows


def sigma_distributions_table(scales: xr.DataTree) -> Table:
    """List histograms, fits and starts of every convolution with a scale per filter.

    Parameters
    ----------
    scales : xarray.DataTree
        Result of ``dcnbio analyze scales``.

    Raises
    ------
    InputError
        If no network has a scale for each channel pair.
    """
    networks = [one for one in networks_of(scales) if "distributions" in one.children]
    if not networks:
        names = listed([network_name(one) for one in networks_of(scales)])
        raise InputError(
            f"{names} has one scale per layer and no distribution of scales; analyse a dcn-sigma-ji for this figure."
        )
    return table_of(
        row
        for network in networks
        for layer in network["distributions"].to_dataset()["convolution"].values.astype(str)
        for row in convolution_rows(network, layer)
    )


def draw_convolution(axes: Axes, own: Table, title: str) -> None:
    """Draw one convolution, its numbers under its name."""
    shade = colour(0)
    part = {name: own[own["part"] == name] for name in unique(own, "part")}
    bars = part["histogram"]
    half = float(part["bin"]["value"].iloc[0]) / 2
    left, right = bars["sigma_pixels"] * 2**-half, bars["sigma_pixels"] * 2**half
    axes.bar(left, bars["value"], right - left, align="edge", color=tint(shade, 0.35), edgecolor="white", linewidth=0.3)
    if "start" in part:
        axes.plot(part["start"]["sigma_pixels"], part["start"]["value"], "--", color=GREY, lw=1.0)
    if "fit" in part:
        axes.plot(part["fit"]["sigma_pixels"], part["fit"]["value"], color=colour(1))
    top = 1.08 * float(own[own["part"].isin(["histogram", "fit", "start"])]["value"].max())
    ends = [float(part[name]["sigma_pixels"].iloc[0]) for name in ("mean", "mean_low", "mean_high")]
    axes.plot(ends[1:], [top, top], "|-", color=BLACK, lw=1.0, ms=4)
    axes.plot(ends[0], top, "o", color=BLACK, ms=2.5)
    axes.set_ylim(0, 1.08 * top)
    octave_axis(axes, "x")
    number = {name: float(part[name]["value"].iloc[0]) for name in ("distance", "distance_high", "skewness")}
    # above the panel: inside, curves would run through them on a narrow page
    notes = f"n = {int(own['n'].iloc[0]):,}, skew {number['skewness']:.1f}\n"
    notes += f"D {number['distance']:.3f} (< {number['distance_high']:.3f})"
    size = current_page().venue.small
    axes.annotate(notes, (0, 1), (0, 2), "axes fraction", "offset points", va="bottom", size=size)
    axes.set_title(title, loc="left", pad=2.7 * size + 5)
    axes.set_xlabel("Scale $\\sigma$ (pixels)")
    axes.set_ylabel("Density\n(1/octave)")


@styled
def draw_sigma_distributions(table: Table) -> Figure:
    """Draw one panel per convolution.

    Parameters
    ----------
    table : pandas.DataFrame
        `sigma_distributions_table`.
    """
    networks = unique(table, "network")
    panels = [(name, layer) for name in networks for layer in unique(table[table["network"] == name], "layer")]
    lines = -(-len(panels) // COLUMNS)
    figure = new_figure(1.95 * lines + 0.25, columns=2)
    grid = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for place, (name, layer) in enumerate(panels):
        title = layer_title(layer) if len(networks) == 1 else f"{name}:\n{layer_title(layer)}"
        draw_convolution(grid[place], table[(table["network"] == name) & (table["layer"] == layer)], title)
        # what every panel shows is said at the page's left and foot, so that many panels have room to be seen
        if place % COLUMNS:
            grid[place].set_ylabel("")
        if place + COLUMNS < len(panels):
            grid[place].set_xlabel("")
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    handles = [
        figure.axes[0].plot([], [], color=colour(1))[0],
        figure.axes[0].plot([], [], "--", color=GREY)[0],
        figure.axes[0].plot([], [], "|-", color=BLACK, ms=4)[0],
    ]
    names = ["log-normal fit", "start, before training", "mean, 95 % interval"]
    page_legend(figure, handles, names)
    return figure


def of_panel(row: Any) -> str:
    """Say how many filters of a convolution are not among its bars."""
    return f"{int(row['value']):,} of {row['network']}, {layer_title(row['layer'])} (n = {int(row['n']):,})"


def sigma_distributions_caption(scales: xr.DataTree) -> str:
    """Say n, and what curves, bars and numbers are."""
    networks = [one for one in networks_of(scales) if "distributions" in one.children]
    counts = [int(n) for one in networks for n in one["distributions"].to_dataset()["n"].values]
    table = sigma_distributions_table(scales)
    beyond = table[(table["part"] == "beyond") & (table["value"] > 0)]
    far = (
        f" Beyond the axes lie so many filters: {listed([of_panel(row) for _, row in beyond.iterrows()])}."
        if len(beyond)
        else ""
    )
    return (
        f"Scales of the filters of {listed([network_name(one) for one in networks])}, one panel per convolution, each "
        f"filter counted once (n = {min(counts):,} to {max(counts):,} filters per convolution). Line, "
        "maximum-likelihood log-normal; dashed, the distribution that scales are drawn from before training, which is "
        "log-normal too, so that log-normality alone is no result of learning. Point and bar on top, geometric mean "
        "and its 95 % interval; D, largest distance between the scales' distribution and the fit, in brackets its "
        "upper 95 % limit; all from a bootstrap clustered by output and input channels ("
        f"{int(scales.attrs['resamples']):,} resamples, seed {int(scales.attrs['seed'])}).{far} Filters of one network "
        "are no sample of networks: the figure speaks of these weights."
    )


SIGMA_DISTRIBUTIONS = FigureKind(
    "sigma_distributions",
    "scales",
    sigma_distributions_table,
    draw_sigma_distributions,
    sigma_distributions_caption,
    {
        "network": ("name of the network", "1"),
        "layer": ("convolution", "1"),
        "n": ("filters", "1"),
        "part": (
            "histogram (centre of a bin), fit, start; mean and its limits; distance, its limit; skewness; bin; beyond",
            "1",
        ),
        "sigma_pixels": ("scale", "pixels"),
        "value": (
            "density per octave; distance (1); skewness of sigma (1); bin (octaves); filters beyond",
            "1/octave or 1",
        ),
    },
)
