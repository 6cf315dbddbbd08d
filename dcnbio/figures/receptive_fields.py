"""Receptive fields of units in time, by gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.image_grid import colour_bar, dress_map
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import unit_pairs, unit_title, units_text
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.palette import DIVERGING
from dcnbio.figures.stored_part import stored_part
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["RECEPTIVE_FIELDS"]

SHOWN = 6
FAINT = 0.02  # of the largest value: what is under it everywhere is cut off
MARGIN = 1.5  # pixels


def fields_of(result: xr.DataTree | xr.Dataset) -> xr.DataArray:
    """Take the local fields out of a result of ``dcnbio analyze responses``, or of recorded fields."""
    data = stored_part(result, "fields")
    if "local" not in data:
        raise InputError(
            "this result holds no receptive fields; record some with dcnbio.probe.responses.record_fields."
        )
    return data["local"].transpose("time", "unit", "y", "x")


def strongest(fields: xr.DataArray) -> list[int]:
    """Choose of each block the units whose last field has the most energy, in the order of blocks and channels."""
    energy = (fields.isel(time=-1).values.astype(np.float64) ** 2).sum((1, 2))
    blocks = fields["block"].values
    share = max(1, SHOWN // len(np.unique(blocks)))
    # gradients of later blocks are of another size: energies are compared within a block alone
    chosen = [sorted(np.flatnonzero(blocks == b), key=lambda unit: -energy[unit])[:share] for b in np.unique(blocks)]
    return [int(unit) for units in chosen for unit in sorted(units)]


def receptive_fields_table(fields: xr.DataTree | xr.Dataset) -> Table:
    """List the pixels of the fields of a few units at every recorded time.

    Parameters
    ----------
    fields : xarray.DataTree or xarray.Dataset
        Result of ``dcnbio analyze responses``, or fields from `dcnbio.probe.responses.record_fields`.
    """
    local = fields_of(fields)
    rows: list[dict[str, Any]] = []
    for unit in strongest(local):
        about = {"block": int(local["block"][unit]), "channel": int(local["channel"][unit])}
        for i, time in enumerate(local["time"].values):
            values = local.values[i, unit].astype(np.float64)
            rows += [
                {**about, "time": float(time), "y_pixels": y, "x_pixels": x, "field": float(values[y, x])}
                for y, x in np.ndindex(*values.shape)
            ]
    return table_of(rows)


def shown_square(table: Table) -> tuple[float, float, float, float]:
    """Give left, right, bottom and top of the smallest square that holds every field, with a margin."""
    size = table["field"].abs()
    # gradients of later blocks are of another size
    strong = table[size > FAINT * size.groupby([table["block"], table["channel"]]).transform("max")]
    rows, columns = strong["y_pixels"], strong["x_pixels"]
    middle = (columns.min() + columns.max()) / 2, (rows.min() + rows.max()) / 2
    reach = max(columns.max() - columns.min(), rows.max() - rows.min()) / 2 + MARGIN
    return middle[0] - reach, middle[0] + reach, middle[1] + reach, middle[1] - reach


@styled
def draw_receptive_fields(table: Table) -> Figure:
    """Draw a row per time, a column per unit, each unit in colours of its own scale.

    Parameters
    ----------
    table : pandas.DataFrame
        `receptive_fields_table`.
    """
    units = unit_pairs(table)
    times, square = unique(table, "time"), shown_square(table)
    cell = current_page().venue.page / (max(len(units), 4) + 1.6)
    figure = new_figure(cell * len(times) + 0.45, columns=2)
    grid = figure.subplots(len(times), len(units), squeeze=False)
    for column, (block, channel) in zip(grid.T, units, strict=True):
        own = table[(table["block"] == block) & (table["channel"] == channel)]
        peak = float(np.abs(own["field"]).max()) or 1.0
        for axes, time in zip(column, times, strict=True):
            pixels = own[own["time"] == time].pivot(index="y_pixels", columns="x_pixels", values="field").to_numpy()
            drawn = axes.imshow(pixels / peak, cmap=DIVERGING, vmin=-1, vmax=1)
            dress_map(axes)
            axes.set_xlim(*square[:2])
            axes.set_ylim(*square[2:])
        column[0].set_title(unit_title(block, channel))
    for axes, time in zip(grid[:, 0], times, strict=True):
        axes.set_ylabel(f"t = {time:g} T")
    colour_bar(figure, drawn, list(grid.ravel()), "Field over largest (1)")
    return figure


def receptive_fields_caption(fields: xr.DataTree | xr.Dataset) -> str:
    """Say n, and what a field is."""
    local, table = fields_of(fields), receptive_fields_table(fields)
    units, count = units_text(table), len(unit_pairs(table))
    return (
        f"Local receptive fields of {count} of n = {local.sizes['unit']} units of this network, "
        f"{units}: those of each block with the most energy (sum of squares) at the last time, so they are no "
        "typical units. Gradient of the unit's h(t) to the luminance of each pixel, with the norms' statistics held at "
        "the image's own. Colours are the field over the unit's largest absolute value over all times; the margin of "
        "the image where all are under 2 % of that is cut off. The network is not linear: the field is that about the "
        "images it was recorded on. Single units: there is no error bar."
    )


RECEPTIVE_FIELDS = FigureKind(
    "receptive_fields",
    "responses",
    receptive_fields_table,
    draw_receptive_fields,
    receptive_fields_caption,
    {
        "block": ("block of the unit", "1"),
        "channel": ("channel of the unit", "1"),
        "time": ("solver time over T", "1"),
        "y_pixels": ("row of the image", "pixels"),
        "x_pixels": ("column of the image", "pixels"),
        "field": ("gradient of h to luminance", "h / luminance"),
    },
)
