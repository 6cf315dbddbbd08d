"""The picture of the README: feature maps of an image and of the same image with its centre hidden, and their distance.

    python analyses/readme_picture.py --overwrite    a minute or two on one core; writes docs/static/hidden_centre.png

Above, h(t) of one image in one channel of a block, intact and under a central mask. Below, how far masked images are
from their own intact ones in each block, and, as control, images with noise of the same norm in the mask's place.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from script import end_in_words, refuse_existing

import dcnbio
from dcnbio.analysis.completion import analyze_completion
from dcnbio.figures.chosen_maps import chosen_channel
from dcnbio.figures.curve_grid import Panel, dashes_of, draw_curves
from dcnbio.figures.export.formats import rendered
from dcnbio.figures.image_grid import colour_bar, dress_map
from dcnbio.figures.page import new_figure, on_page, styled
from dcnbio.figures.palette import BLACK, DIVERGING
from dcnbio.figures.relative_distance import relative_distance_table
from dcnbio.figures.table import Table, unique
from dcnbio.images import central_boxes
from dcnbio.images.masks import mask_images
from dcnbio.model.network import Network
from dcnbio.probe.completion import CompletionSettings, completion_experiment
from dcnbio.recording.reductions.group_norm import group_normalised

PICTURE = Path(__file__).parents[1] / "docs" / "static" / "hidden_centre.png"
CHECKPOINT, BLOCK, MASK, DPI = "dcn-ode", 1, 14, 200
TIMES = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)  # maps change most at first
DISTANCE_TIMES = 11
ROWS = ("intact", "centre hidden")


@dataclass(frozen=True, eq=False)
class Shown:
    """What the picture shows.

    Attributes
    ----------
    pixels : tuple of array, (y, x, channel)
        The image, and the image under the mask.
    maps : tuple of xarray.DataArray, (time, y, x)
        h(t) of both, in one channel.
    distances : Table
        rho(t) per block, of masked images and of the controls.
    """

    pixels: tuple[npt.NDArray[np.float32], ...]
    maps: tuple[xr.DataArray, ...]
    distances: Table


def record_maps(net: Network, image: xr.Dataset) -> tuple[xr.DataArray, ...]:
    """Record h(t) of one image, intact and masked, as the next norm gives it on: in standard deviations.

    The channel is the one that varies most on the intact image at the last time.
    """
    settings: dict[str, Any] = {"times": TIMES, "blocks": [BLOCK]}
    recorded = [dcnbio.probe(net, image, mask=mask, **settings) for mask in (None, MASK)]
    own = [tree[f"block{BLOCK}"]["h"].isel(stimulus=0) for tree in recorded]
    channel, groups = chosen_channel(own[0]), net.spec.groups(own[0].sizes["channel"])
    return tuple(h.copy(data=group_normalised(h.values, groups)).isel(channel=channel) for h in own)


def measure_distances(net: Network, images: xr.Dataset) -> Table:
    """Measure rho(t) of masked images and of noise of equal norm, over all the images."""
    settings = CompletionSettings((MASK,), MASK, controls=False, times=DISTANCE_TIMES, mechanism=0)
    found = completion_experiment(net, images, settings)
    table = relative_distance_table(analyze_completion({CHECKPOINT: found}, resamples=99).to_tree())
    return table.replace({"series": {f"mask of {MASK}": ROWS[1]}})


def measure(images: xr.Dataset, position: int) -> Shown:
    """Gather what the picture shows: maps of the image at a position, and distances of all images."""
    net = dcnbio.load(CHECKPOINT)
    image = images.isel(stimulus=[position])
    whole = image["image"].transpose("stimulus", "channel", "y", "x").values
    both = (whole, mask_images(whole, central_boxes(MASK)[0], 0.0))
    pixels = tuple(np.moveaxis(one[0], 0, -1) for one in both)
    return Shown(pixels, record_maps(net, image), measure_distances(net, images))


def outline_mask(axes: Axes, border: int) -> None:
    """Draw where the mask lies, on a map that has lost a border of so many pixels."""
    box = central_boxes(MASK)[0]
    corner = (box.left - border - 0.5, box.top - border - 0.5)
    axes.add_patch(Rectangle(corner, box.width, box.height, fill=False, ec=BLACK, lw=0.7, ls=(0, (2, 2))))


def draw_maps(figure: Figure, grid: npt.NDArray[Any], shown: Shown) -> None:
    """Draw the images on the left and their maps in time beside them, all on one scale."""
    limit = max(float(np.abs(h.values).max()) for h in shown.maps)
    drawn = None
    for line, pixels, h, name in zip(grid, shown.pixels, shown.maps, ROWS, strict=True):
        line[0].imshow(pixels)
        line[0].set_ylabel(name)
        for axes, frame in zip(line[1:], h, strict=True):
            drawn = axes.imshow(frame.values, cmap=DIVERGING, vmin=-limit, vmax=limit)
            outline_mask(axes, (pixels.shape[0] - frame.shape[0]) // 2)
        for axes in line:
            dress_map(axes)
    grid[0, 0].set_title("image")
    for axes, time in zip(grid[0, 1:], TIMES, strict=True):
        axes.set_title(f"t = {time:g}")
    if drawn is not None:
        colour_bar(figure, drawn, list(grid[:, 1:].ravel()), f"block {BLOCK}, h(t) (sd)")


def draw_distances(grid: npt.NDArray[Any], table: Table) -> None:
    """Draw rho(t), a panel per block; lines are named in the last, and what 1 means in the first."""
    blocks = unique(table, "panel")
    panels = [
        Panel(
            name,
            "t (solver time)",
            r"distance $\rho$(t) (1)" if name == blocks[0] else "",
            title=name,
            limits=(0, 1.12),
            reference=(1.0, "another image" if name == blocks[0] else ""),
            named=name == blocks[-1],
        )
        for name in blocks
    ]
    styles = dashes_of(table, panels)
    for axes, panel in zip(grid, panels, strict=True):
        draw_curves(axes, table[table["panel"] == panel.name], panel, styles)


@styled
def draw(shown: Shown) -> Figure:
    """Draw maps above and distances below."""
    figure = new_figure(4.15, columns=2)
    above, below = figure.subfigures(2, 1, height_ratios=(1.12, 1))
    draw_maps(above, above.subplots(len(ROWS), 1 + len(TIMES)), shown)
    draw_distances(below.subplots(1, len(unique(shown.distances, "panel"))), shown.distances)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=100, help="shipped images that distances are measured of")
    parser.add_argument("--position", type=int, default=15, help="of these, the one whose maps are shown")
    parser.add_argument("--out", type=Path, default=PICTURE)
    parser.add_argument("--overwrite", action="store_true")
    options = parser.parse_args(arguments)
    if not 0 <= options.position < options.limit:
        parser.error(f"--position is {options.position}; give one from 0 to {options.limit - 1}")
    refuse_existing(options.out, options.overwrite)
    shown = measure(dcnbio.load_images(limit=options.limit), options.position)
    with on_page("screen"):
        options.out.write_bytes(rendered(draw(shown), "png", DPI, options.out.stem))
    print(f"written to {options.out}")


if __name__ == "__main__":
    end_in_words(main)
