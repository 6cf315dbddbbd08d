"""Figure 3b of the paper: the scales of a convolution's filters, with the fitted log-normal and where they started."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import layer_title, listed, network_name
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.panel_room import readable
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.sigma_panel import add_legend, draw_convolution
from dcnbio.figures.sigma_starts import normal_density, start_curve, start_of, starts_text
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["SIGMA_DISTRIBUTIONS"]

WIDEST_BIN = 1 / 4  # octaves
BINS_TO_A_SIDE = 30  # of the median: a few filters that moved far must not make of all others one bar
COLUMNS = 3
MORE = (6, 4)  # columns, where rows of three would have no room: of a wide page and of a narrow one
LEAST_COLUMN = 1.1  # inches: with less, six are too narrow
ROW = 1.95  # inches


def curve(about: dict[str, Any], part: str, x: np.ndarray, density: np.ndarray) -> list[dict[str, Any]]:
    """List the points of a density."""
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
        density = normal_density(x, math.log2(float(found["median"])), float(found["s"]) / math.log(2))
        rows += curve(about, "fit", x, density)
    rows += curve(about, "start", *start_curve(start_of(network), x))
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


def grid_of(table: Table) -> list[list[tuple[str, str]]]:
    """Lay out network and convolution of every panel in rows.

    Each network begins a row of its own, of three; where that has no room on the page, of six; and where six have none,
    its panels follow those of the one before in rows of four.
    """
    layers = {name: unique(table[table["network"] == name], "layer") for name in unique(table, "network")}
    panels = [[(name, layer) for layer in own] for name, own in layers.items()]
    venue, (six, four) = current_page().venue, MORE
    usual = [row for own in panels for row in in_rows(own, COLUMNS)]
    if ROW * len(usual) + 0.25 <= venue.tallest:
        return usual
    if venue.page >= six * LEAST_COLUMN:
        return [row for own in panels for row in in_rows(own, six)]
    return in_rows([panel for own in panels for panel in own], four)


def in_rows(panels: list[tuple[str, str]], across: int) -> list[list[tuple[str, str]]]:
    """Part panels into rows.

    Examples
    --------
    >>> in_rows([("a", "1"), ("a", "2"), ("b", "1")], 2)
    [[('a', '1'), ('a', '2')], [('b', '1')]]
    """
    return [panels[first : first + across] for first in range(0, len(panels), across)]


@readable
@styled
def draw_sigma_distributions(table: Table) -> Figure:
    """Draw one panel per convolution.

    Parameters
    ----------
    table : pandas.DataFrame
        `sigma_distributions_table`.
    """
    rows, named = grid_of(table), set() if len(unique(table, "network")) > 1 else {*unique(table, "network")}
    across = max(len(row) for row in rows)
    figure = new_figure(ROW * len(rows) + 0.25, columns=2)
    grid = figure.subplots(len(rows), across, squeeze=False)
    for number, (line, row) in enumerate(zip(grid, rows, strict=True)):
        for place, (name, layer) in enumerate(row):
            over = "" if name in named else name
            named.add(name)
            own = table[(table["network"] == name) & (table["layer"] == layer)]
            narrow, last = across == MORE[0], place + 1 == across
            draw_convolution(line[place], own, (layer_title(layer), over), narrow, last)
            # what every panel shows is said at the page's left and foot, so that many panels have room to be seen
            if place == 0:
                line[place].set_ylabel("Density\n(1/octave)")
            if number + 1 == len(rows) or place >= len(rows[number + 1]):
                line[place].set_xlabel("Scale $\\sigma$ (pixels)")
        for axes in line[len(row) :]:
            axes.set_visible(False)
    add_legend(figure, unique(table, "part"))
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
    over = " A network's name stands over the first of its panels." if len(networks) > 1 else ""
    return (
        f"Scales of the filters of {listed([network_name(one) for one in networks])}, one panel per convolution, each "
        f"filter counted once (n = {min(counts):,} to {max(counts):,} filters per convolution).{over} Line, "
        f"maximum-likelihood log-normal. {starts_text(networks)} Point and bar on top, geometric mean and its 95 % "
        "interval; D, largest distance between the scales' distribution and the fit, in brackets its upper 95 % "
        "limit; all from a bootstrap clustered by output and input channels ("
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
            "histogram (centre of a bin), fit, start (nan where all began as one); mean and its limits; distance, its "
            "limit; skewness; bin; beyond",
            "1",
        ),
        "sigma_pixels": ("scale", "pixels"),
        "value": (
            "density per octave; distance (1); skewness of sigma (1); bin (octaves); filters beyond",
            "1/octave or 1",
        ),
    },
)
