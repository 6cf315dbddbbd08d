"""Accuracy over contrast and integration time, beside what the scaling law predicts from contrast 1 alone."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import listed, network_name
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.palette import SEQUENTIAL
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of, unique
from dcnbio.figures.time_text import short_numbers

__all__ = ["CONTRAST_SURFACE"]

TITLES = {"accuracy": "Measured", "predicted": "Predicted: contrast 1 at T / c"}


def contrast_surface_table(contrast: xr.DataTree) -> Table:
    """List accuracy, measured and predicted, over contrast and time.

    Parameters
    ----------
    contrast : xarray.DataTree
        Result of ``dcnbio analyze contrast``.
    """
    return table_of(
        {
            "network": network_name(network),
            "panel": panel,
            "contrast": float(c),
            "time": float(t),
            "accuracy": 100 * float(data[panel][i, j]),
        }
        for network in networks_of(contrast)
        for data in [network["surface"].to_dataset().transpose("contrast", "time")]
        for panel in TITLES
        for i, c in enumerate(data["contrast"].values)
        for j, t in enumerate(data["time"].values)
    )


def draw_surface(axes: Axes, own: Table) -> AxesImage:
    """Draw one surface, a cell per contrast and time, its accuracy in it."""
    contrasts, times = sorted(unique(own, "contrast")), sorted(unique(own, "time"))
    values = own.pivot(index="contrast", columns="time", values="accuracy").to_numpy()
    drawn = axes.imshow(values, cmap=SEQUENTIAL, vmin=0, vmax=100, origin="lower", aspect="auto")
    for i, j in np.ndindex(*values.shape):
        shade = "white" if values[i, j] < 50 else "black"
        axes.text(j, i, f"{values[i, j]:.0f}", ha="center", va="center", color=shade, size=current_page().venue.small)
    axes.set_xticks(range(len(times)), short_numbers(times))
    axes.set_yticks(range(len(contrasts)), short_numbers(contrasts))
    axes.set_xlabel("T of block 1 (solver time)")
    axes.set_ylabel("Contrast c (1)")
    return drawn


@styled
def draw_contrast_surface(table: Table) -> Figure:
    """Draw measured and predicted accuracy, a row per network.

    Parameters
    ----------
    table : pandas.DataFrame
        `contrast_surface_table`.
    """
    networks = unique(table, "network")
    figure = new_figure(2.5 * len(networks), columns=2)
    grid = figure.subplots(len(networks), 2, squeeze=False)
    for line, network in zip(grid, networks, strict=True):
        for axes, panel in zip(line, TITLES, strict=True):
            drawn = draw_surface(axes, table[(table["network"] == network) & (table["panel"] == panel)])
            # on a line of its own: the two together would reach over the bar
            name = f"{network}\n" if len(networks) > 1 else ""
            axes.set_title(f"{name}{TITLES[panel]}", loc="left")
    bar = figure.colorbar(drawn, ax=list(grid.ravel()), shrink=0.8, pad=0.02)
    bar.set_label("Accuracy (%)")
    return figure


def contrast_surface_caption(contrast: xr.DataTree) -> str:
    """Say n, and what is predicted."""
    networks = networks_of(contrast)
    parts = [f"{network_name(one)} (n = {int(one['surface'].attrs['n']):,} images)" for one in networks]
    return (
        f"Accuracy of {listed(parts)} for images multiplied by c and block 1 integrated to T. Left, measured; right, "
        "that of the same images at contrast 1 and T / c, which the scaling law of block 1 predicts. Numbers are "
        "percent of images, drawn without error bars; the share of equal answers stands with its interval in the "
        "result's claims."
    )


CONTRAST_SURFACE = FigureKind(
    "contrast_surface",
    "contrast",
    contrast_surface_table,
    draw_contrast_surface,
    contrast_surface_caption,
    {
        "network": ("name of the network", "1"),
        "panel": ("accuracy: measured; predicted: at contrast 1 and T / c", "1"),
        "contrast": ("factor of the image", "1"),
        "time": ("integration time of block 1", "solver time"),
        "accuracy": ("accuracy", "%"),
    },
)
