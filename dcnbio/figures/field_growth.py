"""Size of local receptive fields against solver time, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.direct_labels import label_end
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.page import figure_of, styled
from dcnbio.figures.palette import colour
from dcnbio.figures.table import Table, table_of, unique
from dcnbio.figures.zero_axis import zero_axis

__all__ = ["FIELD_GROWTH"]


def field_growth_table(responses: xr.DataTree) -> Table:
    """List the median size of local fields over time, and what it would be if variances added once.

    Parameters
    ----------
    responses : xarray.DataTree
        Result of ``dcnbio analyze responses``.

    Raises
    ------
    InputError
        If fields over time were not measured.
    """
    if "growth" not in responses.children:
        raise InputError("fields over time were not measured in this result; leave --no-growth out.")
    data = responses["growth"].to_dataset()
    rows: list[dict[str, Any]] = []
    for block in data["block"].values:
        one = data.sel(block=block)
        sigma, times = one["sigma"].values, one["time"].values
        about = {"block": int(block)}
        rows += [
            {**about, "part": "measured", "time": float(t), "sigma_pixels": float(s)}
            for t, s in zip(times, sigma, strict=True)
        ]
        rows.append({**about, "part": "linear", "time": float(times[0]), "sigma_pixels": float(sigma[0])})
        rows.append({**about, "part": "linear", "time": float(times[-1]), "sigma_pixels": float(one["linear"])})
    return table_of(row for row in rows if np.isfinite(row["sigma_pixels"]))


@styled
def draw_field_growth(table: Table, axes: Axes | None = None) -> Figure:
    """Draw one line per block, and dashed the growth that linear blurring gives.

    Parameters
    ----------
    table : pandas.DataFrame
        `field_growth_table`.
    axes : matplotlib.axes.Axes, optional
        To draw into.
    """
    figure, axes = figure_of(axes, 2.4)
    for number, block in enumerate(unique(table, "block")):
        own, shade = table[table["block"] == block], colour(number)
        measured, linear = own[own["part"] == "measured"], own[own["part"] == "linear"]
        axes.plot(linear["time"], linear["sigma_pixels"], "--", color=shade, lw=0.8)
        axes.plot(measured["time"], measured["sigma_pixels"], "o-", color=shade)
        label_end(axes, measured["time"].iloc[-1], measured["sigma_pixels"].iloc[-1], f"block {block}", shade)
    zero_axis(axes, table["sigma_pixels"])
    axes.set_xlabel("t / T (1)")
    axes.set_ylabel("Field $\\sigma$ (pixels)")
    return figure


def field_growth_caption(responses: xr.DataTree) -> str:
    """Say n, and what the dashed lines are."""
    data = responses["growth"].to_dataset()
    counts = ", ".join(f"n = {int(n)} in block {int(b)}" for b, n in zip(data["block"], data["units"], strict=True))
    limits = [int(b) for b in data["block"] if "limit" in data and data["limit"].sel(block=b).values.any()]
    said = f" In block {' and '.join(map(str, limits))} half the fields or more leave the image: a lower limit."
    return (
        "Size of local receptive fields (sigma by second moments, norm statistics held) against solver time: medians "
        f"over units of {responses['measures'].attrs['network']} ({counts}), without error bars. Dashed, from the size "
        "at 0 to what it would be at T if the block blurred linearly and once, so that variances of its two "
        f"convolutions add.{said if limits else ''}"
    )


FIELD_GROWTH = FigureKind(
    "field_growth",
    "responses",
    field_growth_table,
    draw_field_growth,
    field_growth_caption,
    {
        "block": ("block", "1"),
        "part": ("measured, or linear: variances add once", "1"),
        "time": ("solver time over T", "1"),
        "sigma_pixels": ("size of the field, median over units", "pixels"),
    },
)
