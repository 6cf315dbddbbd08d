"""Figure 1 of the paper: the filters that training made, layer by layer, the strongest of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from dcnbio.analysis.filters.energy import filter_energy
from dcnbio.analysis.filters.sampled_gaussian import half_width, sampled_taps
from dcnbio.analysis.shapes import Floats
from dcnbio.figures.image_grid import colour_bar, dress_map
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import layer_title, network_name
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.palette import DIVERGING
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["FILTERS"]

SHOWN = 10
MAGNIFIED = 3.0  # more than this between the narrowest and the widest kernel, and each layer has its own scale


def layer_arrays(layer: xr.Dataset) -> tuple[Floats, Floats, Floats, int]:
    """Give alpha (function, input, output), sigma, the taps and the half-width of a layer at solver time 0."""
    first = layer.isel(time=0)
    alpha = first["alpha"].transpose("function", "input", "output").values.astype(np.float64)
    log2_sigma = first["log2_sigma"]
    pair = log2_sigma.transpose("input", "output") if layer.attrs["per_pair"] else log2_sigma
    sigma = np.exp2(pair.values.astype(np.float64))
    if layer.attrs["per_pair"]:
        half = (int(layer.attrs["pair_size"]) - 1) // 2
    else:
        half = int(half_width(sigma, float(layer.attrs["window"])))
    return alpha, sigma, sampled_taps(sigma, int(layer["order_y"].max()), half), half


def kernel_of(alpha: Floats, taps: Floats, layer: xr.Dataset, pair: tuple[int, int]) -> Floats:
    """Sum the basis functions of one filter (eq. 1), shape (y, x)."""
    own = taps[pair] if taps.ndim == 4 else taps
    orders = zip(layer["order_y"].values, layer["order_x"].values, strict=True)
    weights = alpha[:, pair[0], pair[1]]
    parts = [weight * np.outer(own[y], own[x]) for weight, (y, x) in zip(weights, orders, strict=True)]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


def strongest(alpha: Floats, taps: Floats, skip: int) -> list[tuple[int, int]]:
    """Give (input, output) of the filters of most energy, one per output channel, the time channel left out."""
    energy = filter_energy(alpha, taps)
    energy[:skip] = -1.0
    best = energy.argmax(0)
    order = np.argsort(-energy[best, np.arange(energy.shape[1])], kind="stable")[:SHOWN]
    return [(int(best[output]), int(output)) for output in order]


def layer_rows(name: str, layer: xr.Dataset) -> list[dict[str, Any]]:
    """List the pixels of a layer's strongest filters."""
    alpha, sigma, taps, half = layer_arrays(layer)
    rows = []
    for rank, pair in enumerate(strongest(alpha, taps, int(layer.attrs["time_channel"])), 1):
        about = {
            "layer": name,
            "filter": rank,
            "input_channel": pair[0] - int(layer.attrs["time_channel"]),
            "output_channel": pair[1],
            "sigma_pixels": float(sigma[pair] if sigma.ndim else sigma),
        }
        kernel = kernel_of(alpha, taps, layer, pair)
        grid = np.arange(-half, half + 1)
        rows += [
            {**about, "y_pixels": int(y), "x_pixels": int(x), "weight": float(kernel[i, j])}
            for i, y in enumerate(grid)
            for j, x in enumerate(grid)
        ]
    return rows


def filters_table(filters: xr.DataTree) -> Table:
    """List the pixels of the strongest filters of every layer.

    Parameters
    ----------
    filters : xarray.DataTree
        From `dcnbio.probe.filters.record_filters`.
    """
    return table_of(row for name, node in filters.children.items() for row in layer_rows(name, node.to_dataset()))


def reaches(table: Table) -> dict[str, float]:
    """Give half the width that each layer's filters are drawn in: one for all, unless small ones would be specks."""
    own = {layer: float(table[table["layer"] == layer]["x_pixels"].max()) + 0.5 for layer in unique(table, "layer")}
    largest = max(own.values())
    return dict.fromkeys(own, largest) if largest <= MAGNIFIED * min(own.values()) else own


def row_label(own: Table) -> str:
    """Name a layer, the scale of its filters and the width of their kernels."""
    sigmas, width = own["sigma_pixels"], 2 * int(own["x_pixels"].max()) + 1
    shared = sigmas.max() == sigmas.min()
    scale = f"= {sigmas.iloc[0]:.2f}" if shared else f"{sigmas.min():.1f}-{sigmas.max():.1f}"
    return f"{layer_title(own['layer'].iloc[0])}\n$\\sigma$ {scale} px ({width} x {width})"


def draw_row(axes: Axes, own: Table, reach: float) -> AxesImage:
    """Draw a layer's filters side by side, each over its largest weight."""
    pitch = 2.25 * reach
    drawn: list[AxesImage] = []
    for place, rank in enumerate(unique(own, "filter")):
        pixels = own[own["filter"] == rank]
        kernel = pixels.pivot(index="y_pixels", columns="x_pixels", values="weight").to_numpy()
        half, centre, peak = kernel.shape[0] / 2, place * pitch, np.abs(kernel).max() or 1.0
        extent = (centre - half, centre + half, half, -half)
        drawn.append(axes.imshow(kernel / peak, cmap=DIVERGING, vmin=-1, vmax=1, extent=extent))
    dress_map(axes)
    axes.set_xlim(-reach, (SHOWN - 1) * pitch + reach)
    axes.set_ylim(reach, -reach)
    return drawn[-1]


@styled
def draw_filters(table: Table) -> Figure:
    """Draw one row of filters per layer.

    Parameters
    ----------
    table : pandas.DataFrame
        `filters_table`.
    """
    reach = reaches(table)
    cell = current_page().venue.page / (SHOWN + 3.2)
    figure = new_figure(1.1 * cell * len(reach) + 0.2, columns=2)
    grid = list(figure.subplots(len(reach), 1, squeeze=False).ravel())
    for axes, layer in zip(grid, reach, strict=True):
        own = table[table["layer"] == layer]
        axes.set_ylabel(row_label(own), rotation=0, ha="right", va="center")
        drawn = draw_row(axes, own, reach[layer])
    colour_bar(figure, drawn, grid, "Weight over largest (1)")
    return figure


def filters_caption(filters: xr.DataTree) -> str:
    """Say what is shown, and of how many."""
    counts = [
        int((node.sizes["input"] - int(node.attrs["time_channel"])) * node.sizes["output"])
        for node in filters.children.values()
    ]
    same = len(set(reaches(filters_table(filters)).values())) == 1
    drawn = "All are drawn at one scale of pixels" if same else "Each layer is drawn at its own scale of pixels"
    name, row = network_name(filters), str(filters.attrs["row"])
    name = name if name == row else f"{name}, a {row}"
    return (
        f"Filters of {name}, one row per layer in order of depth (eq. 1 of "
        f"the paper). Shown are the {SHOWN} output channels with the strongest filter, and of each that filter, "
        f"strongest first, out of {min(counts):,} to {max(counts):,} filters per layer; strength is the sum of the "
        f"squared weights. The filters of the time channel are left out. {drawn}; sigma is of the filters shown; "
        "colours are weights over the filter's largest absolute weight, so strengths cannot be compared. They are the "
        "weights of this network themselves: there is no error bar."
    )


FILTERS = FigureKind(
    "filters",
    "filters",
    filters_table,
    draw_filters,
    filters_caption,
    {
        "layer": ("layer, in order of depth", "1"),
        "filter": ("rank by sum of squared weights", "1"),
        "input_channel": ("index of the input channel", "1"),
        "output_channel": ("index of the output channel", "1"),
        "sigma_pixels": ("nominal scale", "pixels"),
        "y_pixels": ("row from the centre", "pixels"),
        "x_pixels": ("column from the centre", "pixels"),
        "weight": ("weight of the pixel", "1"),
    },
)
