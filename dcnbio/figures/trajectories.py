"""Trajectories: h(t) at a few places of a map, and the norm of each image's maps, against solver time."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.figures.chosen_maps import (
    blocks_with_maps,
    channel_text,
    chosen_stimulus,
    shown_channel,
    stimuli_of,
    stimulus_text,
)
from dcnbio.figures.direct_labels import label_end
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import block_title
from dcnbio.figures.page import new_figure, styled
from dcnbio.figures.palette import colour, tint
from dcnbio.figures.recorded_case import recorded_case
from dcnbio.figures.table import Table, table_of, unique
from dcnbio.figures.zero_axis import zero_axis
from dcnbio.recording.reductions.norm import norm

__all__ = ["TRAJECTORIES"]

MOST_IMAGES = 50
PLACES = ((0.25, 0.25), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (0.75, 0.75))


def place_rows(about: dict[str, Any], h: xr.DataArray) -> list[dict[str, Any]]:
    """List h(t) of one image and channel at five places of the map."""
    rows = []
    for down, across in PLACES:
        y, x = int(down * (h.sizes["y"] - 1)), int(across * (h.sizes["x"] - 1))
        one = h.isel(y=y, x=x)
        series = f"y {int(h['y'][y])}, x {int(h['x'][x])}"
        values = zip(h["time"].values, one.values, strict=True)
        rows += [{**about, "series": series, "time": float(t), "value": float(value)} for t, value in values]
    return rows


def norm_rows(block: str, data: xr.Dataset, positions: np.ndarray) -> list[dict[str, Any]]:
    """List the Euclidean norm of the recorded maps of every image, over time."""
    rows = []
    h = data["h"].isel(stimulus=positions).transpose("time", "stimulus", "channel", "y", "x")
    for time in range(h.sizes["time"]):
        values = norm(h.isel(time=time).values)
        rows += [
            {
                "panel": "norm",
                "block": block,
                "channel": -1,
                "series": str(int(stimulus)),
                "time": float(t),
                "value": float(v),
            }
            for t, stimulus, v in zip([h["time"].values[time]] * len(values), h["stimulus"].values, values, strict=True)
            if np.isfinite(v)
        ]
    return rows


def shown_positions(recording: xr.DataTree) -> np.ndarray:
    """Give the images whose norms are shown."""
    return np.arange(min(MOST_IMAGES, recording.sizes["stimulus"]))


def trajectories_table(recording: xr.DataTree) -> Table:
    """List h(t) at five places of one image, and norms of images, per block.

    Parameters
    ----------
    recording : xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`.
    """
    position = chosen_stimulus(recording)
    rows = []
    for name, data in blocks_with_maps(recording).items():
        data = data.assign_coords(stimulus=recording["stimulus"])
        own = data["h"].isel(stimulus=position)
        channel = shown_channel(recording, name)
        about = {"panel": "places", "block": name, "channel": int(own["channel"][channel])}
        rows += place_rows(about, own.isel(channel=channel))
        rows += norm_rows(name, data, shown_positions(recording))
    return table_of(rows)


def draw_lines(axes: Axes, own: Table, shades: list[str], named: bool) -> None:
    """Draw one line per series, and name it at its end."""
    for number, series in enumerate(unique(own, "series")):
        line = own[own["series"] == series]
        x, y = line["time"].to_numpy(), line["value"].to_numpy()
        shade = shades[number % len(shades)]
        axes.plot(x, y, color=shade, lw=1.2 if named else 0.6)
        if named:
            label_end(axes, x[-1], y[-1], series, shade)
    axes.margins(x=0.02)
    axes.set_xlabel("t (solver time)")


@styled
def draw_trajectories(table: Table) -> Figure:
    """Draw h(t) above and norms below, one column per block.

    Parameters
    ----------
    table : pandas.DataFrame
        `trajectories_table`.
    """
    blocks = unique(table, "block")
    figure = new_figure(3.6, columns=2)
    grid = figure.subplots(2, len(blocks), squeeze=False)
    for (upper, lower), block in zip(grid.T, blocks, strict=True):
        own = table[table["block"] == block]
        places = own[own["panel"] == "places"]
        draw_lines(upper, places, [colour(i) for i in range(5)], named=True)
        upper.set_title(f"{block_title(block)}, channel {places['channel'].iloc[0]}", loc="left")
        upper.set_ylabel("h at a place (1)")
        draw_lines(lower, own[own["panel"] == "norm"], [tint(colour(0), 0.5)], named=False)
        lower.set_ylabel("Norm of h (1)")
        zero_axis(lower, own[own["panel"] == "norm"]["value"])
    return figure


def trajectories_caption(recording: xr.DataTree) -> str:
    """Say n, and what lines are."""
    position = chosen_stimulus(recording)
    n = len(shown_positions(recording))
    return (
        f"Above, h(t) of image {int(stimuli_of(recording)[position])} ({stimulus_text(recording)}) at five places of "
        f"the map (rows y and columns x in pixels). {channel_text(recording)} Below, Euclidean norm of the recorded "
        f"maps, one line per image, n = {n} images.{recorded_case(recording)} Lines are single images, so there is no "
        "error bar. The norm grows whatever the image: the last group norm in the vector field fixes the speed of the "
        "flow."
    )


TRAJECTORIES = FigureKind(
    "trajectories",
    "recording",
    trajectories_table,
    draw_trajectories,
    trajectories_caption,
    {
        "panel": ("places: h at one place; norm: Euclidean norm of the recorded maps", "1"),
        "block": ("block", "1"),
        "channel": ("index of the channel, -1 for all", "1"),
        "series": ("place, or index of the image in its source", "1"),
        "time": ("solver time", "solver time"),
        "value": ("h, or norm of h", "1"),
    },
)
