"""Figures 4 and A5 of the paper: one channel of each block's feature maps in time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.figures.chosen_maps import (
    blocks_with_maps,
    channel_text,
    chosen_stimulus,
    chosen_times,
    shown_channel,
    stimuli_of,
    stimulus_text,
)
from dcnbio.figures.image_grid import colour_bar, dress_map
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import block_title
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.palette import DIVERGING
from dcnbio.figures.recorded_case import recorded_case
from dcnbio.figures.table import Table, table_of, unique
from dcnbio.figures.time_text import short_numbers

__all__ = ["FEATURE_MAPS"]

TIMES = 6
SHARED = ("stimulus", "block", "channel")


def feature_maps_table(recording: xr.DataTree) -> Table:
    """List h of one image and one channel per block at a few times.

    Parameters
    ----------
    recording : xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`.
    """
    position = chosen_stimulus(recording)
    rows = []
    for name, data in blocks_with_maps(recording).items():
        own = data["h"].isel(stimulus=position)
        channel = shown_channel(recording, name)
        # read before times are chosen: xarray 2025.9 and zarr 3.1.3 take no channel and list of times at once
        maps = own.isel(channel=channel).load().isel(time=chosen_times(own.sizes["time"], TIMES))
        about = {
            "stimulus": int(stimuli_of(recording)[position]),
            "block": name,
            "channel": int(own["channel"][channel]),
        }
        limit = float(np.abs(maps.values).max()) or 1.0
        rows += [
            {
                **about,
                "time": float(frame["time"]),
                "y_pixels": int(y),
                "x_pixels": int(x),
                "h": float(value),
                "h_limit": limit,
            }
            for frame in maps
            for y, line in zip(frame["y"].values, frame.values, strict=True)
            for x, value in zip(frame["x"].values, line, strict=True)
        ]
    return table_of(rows)


def one_scale(drawn: Sequence[tuple[xr.DataTree, Table]]) -> list[Table]:
    """Give rows of the same network, image, block and channel one scale of colours: two of different scales mislead.

    Parameters
    ----------
    drawn : sequence of (recording, its `feature_maps_table`)
        That are drawn together.
    """

    def rows(recording: xr.DataTree, table: Table) -> list[tuple[Any, ...]]:
        weights = json.loads(str(recording.attrs.get("provenance", "{}"))).get("weights")
        return [(weights, *key) for key in zip(*(table[name] for name in SHARED), strict=True)]

    limits: dict[tuple[Any, ...], float] = {}
    for recording, table in drawn:
        for key, limit in zip(rows(recording, table), table["h_limit"], strict=True):
            limits[key] = max(limit, limits.get(key, 0.0))
    return [table.assign(h_limit=[limits[key] for key in rows(recording, table)]) for recording, table in drawn]


@styled
def draw_feature_maps(table: Table) -> Figure:
    """Draw one row per block, one map per time.

    Parameters
    ----------
    table : pandas.DataFrame
        `feature_maps_table`.
    """
    blocks = unique(table, "block")
    most = max(len(unique(table[table["block"] == block], "time")) for block in blocks)
    cell = current_page().venue.page / (max(most, TIMES) + 2.0)
    figure = new_figure((cell + 0.16) * len(blocks) + 0.15, columns=2)
    grid = figure.subplots(len(blocks), most, squeeze=False)
    for line, block in zip(grid, blocks, strict=True):
        own = table[table["block"] == block]
        limit, times = float(own["h_limit"].iloc[0]), unique(own, "time")
        line[0].set_ylabel(f"{block_title(block)}\nchannel {own['channel'].iloc[0]}")
        drawn = None
        for axes, time, text in zip(line, times, short_numbers(times), strict=False):
            pixels = own[own["time"] == time].pivot(index="y_pixels", columns="x_pixels", values="h").to_numpy()
            drawn = axes.imshow(pixels, cmap=DIVERGING, vmin=-limit, vmax=limit)
            axes.set_title(f"t = {text}")
        for axes in line:
            dress_map(axes)
        if drawn is not None:
            colour_bar(figure, drawn, list(line), "h (1)")
    return figure


def feature_maps_caption(recording: xr.DataTree) -> str:
    """Say which image and channel, and how they were chosen."""
    position = chosen_stimulus(recording)
    return (
        "Feature maps h(t) of one channel per block while the network looks at image "
        f"{int(stimuli_of(recording)[position])} (n = 1 image, {stimulus_text(recording)}, of "
        f"{recording.sizes['stimulus']} recorded).{recorded_case(recording)} {channel_text(recording)} "
        "t is solver time; colours have one scale per row, white is 0, and recordings of one network that are drawn "
        "together share it where they show the same image and channel. The maps are points on the solution path of "
        "this network themselves: there is no error bar."
    )


FEATURE_MAPS = FigureKind(
    "feature_maps",
    "recording",
    feature_maps_table,
    draw_feature_maps,
    feature_maps_caption,
    {
        "stimulus": ("index of the image in its source", "1"),
        "block": ("block", "1"),
        "channel": ("index of the channel in the block", "1"),
        "time": ("solver time", "solver time"),
        "y_pixels": ("row of the map", "pixels"),
        "x_pixels": ("column of the map", "pixels"),
        "h": ("hidden state", "1"),
        "h_limit": ("end of the row's colours, from its negative", "1"),
    },
    one_scale,
)
