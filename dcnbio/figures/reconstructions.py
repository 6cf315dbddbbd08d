"""Figure A4 of the paper: images, and what a decoder makes of the maps after the last block."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.figures.image_grid import dress_map
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["RECONSTRUCTIONS"]

SHOWN = 8
PICTURES = {"image": "image", "reconstruction": "reconstruction"}


def reconstructions_table(result: xr.DataTree) -> Table:
    """List the pixels of the first images and of their reconstructions.

    Parameters
    ----------
    result : xarray.DataTree
        From `dcnbio.probe.reconstructed_images.reconstruct`.
    """
    data = result.to_dataset().isel(stimulus=slice(SHOWN)).transpose("stimulus", "channel", "y", "x")
    rows = []
    for one in range(data.sizes["stimulus"]):
        own = data.isel(stimulus=one)
        about = {"stimulus": int(own["stimulus"]), "mse": float(own["mse"])}
        for name in PICTURES:
            red, green, blue = own[name].values.astype(np.float64)
            rows += [
                {**about, "picture": name, "y_pixels": y, "x_pixels": x, "red": r, "green": g, "blue": b}
                for y, line in enumerate(np.stack([red, green, blue], axis=-1).tolist())
                for x, (r, g, b) in enumerate(line)
            ]
    return table_of(rows)


@styled
def draw_reconstructions(table: Table) -> Figure:
    """Draw images above, reconstructions below.

    Parameters
    ----------
    table : pandas.DataFrame
        `reconstructions_table`.
    """
    stimuli = unique(table, "stimulus")
    cell = current_page().venue.page / (len(stimuli) + 0.6)
    figure = new_figure(2 * cell + 0.3, columns=2)
    grid = figure.subplots(2, len(stimuli), squeeze=False)
    for line, name in zip(grid, PICTURES, strict=True):
        line[0].set_ylabel(PICTURES[name])
        for axes, stimulus in zip(line, stimuli, strict=True):
            own = table[(table["stimulus"] == stimulus) & (table["picture"] == name)]
            height, width = int(own["y_pixels"].max()) + 1, int(own["x_pixels"].max()) + 1
            pixels = own[["red", "green", "blue"]].to_numpy().reshape(height, width, 3)
            axes.imshow(np.clip(pixels, 0, 1))
            dress_map(axes)
            if name == "reconstruction":
                axes.set_xlabel(f"MSE {own['mse'].iloc[0]:.3f}")
    return figure


def reconstructions_caption(result: xr.DataTree) -> str:
    """Say n, and what the error is."""
    data = result.to_dataset()
    n, shown = data.sizes["stimulus"], min(SHOWN, data.sizes["stimulus"])
    mse = data["mse"].values
    return (
        "Images (above) and their reconstructions (below) from the maps after the last block of this network "
        f"({data.attrs.get('row', 'unknown')}), by the decoder that was given. The first "
        f"{shown} of n = {n} images, central 28 x 28 pixels; values outside 0 to 1 are cut for display. MSE, mean "
        f"square error over channels and pixels of the uncut output; over the n images it runs from {mse.min():.4f} to "
        f"{mse.max():.4f}. Pictures are single images: there is no error bar."
    )


RECONSTRUCTIONS = FigureKind(
    "reconstructions",
    "reconstructions",
    reconstructions_table,
    draw_reconstructions,
    reconstructions_caption,
    {
        "stimulus": ("index of the image in its source", "1"),
        "mse": ("mean square error over channels and pixels", "1"),
        "picture": ("image or reconstruction", "1"),
        "y_pixels": ("row", "pixels"),
        "x_pixels": ("column", "pixels"),
        "red": ("red, before it is cut to 0 to 1", "1"),
        "green": ("green, before it is cut to 0 to 1", "1"),
        "blue": ("blue, before it is cut to 0 to 1", "1"),
    },
)
