"""Figures 4 and A6 of the paper: D(t), the difference between masked and intact maps, in time."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import listed, network_name, residual_note
from dcnbio.figures.network_rows import block_panel, draw_network_rows
from dcnbio.figures.page import styled
from dcnbio.figures.panel_room import readable
from dcnbio.figures.result_claims import images_of
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of

__all__ = ["DIFFERENCE_COURSE"]

MEAN, NULL = "D", "amplitude alone"


def difference_course_table(completion: xr.DataTree) -> Table:
    """List D(t) with its standard deviation, and what the amplitude alone makes of it, per block.

    Parameters
    ----------
    completion : xarray.DataTree
        Result of ``dcnbio analyze completion``.
    """
    networks, rows = networks_of(completion), []
    for network in networks:
        data = network.to_dataset().sel(reading="A(t)")
        for block in data["block"].values:
            one = data.sel(block=block)
            panel = block_panel(network_name(network), int(block), len(networks) > 1)
            times, mean, spread = (one[name].values for name in ("solver_time", "D", "D_sd"))
            none = np.full(mean.shape, np.nan)
            lines = ((MEAN, mean, mean - spread, mean + spread), (NULL, one["null"].values * mean[0], none, none))
            rows += [
                {
                    "panel": panel,
                    "series": name,
                    "x": float(t),
                    "value": float(value),
                    "low": float(low),
                    "high": float(high),
                }
                for name, values, lows, highs in lines
                for t, value, low, high in zip(times, values, lows, highs, strict=True)
            ]
    return table_of(rows)


@readable
@styled
def draw_difference_course(table: Table) -> Figure:
    """Draw one panel per block, a row per network: bands of several in one panel would hide each other.

    Parameters
    ----------
    table : pandas.DataFrame
        `difference_course_table`.
    """
    top = 1.05 * float(np.nanmax(table[["value", "high"]].to_numpy()))
    return draw_network_rows(table, "D(t) (1)", top, (NULL,))


def difference_course_caption(completion: xr.DataTree) -> str:
    """Say n, what D is, and what its bands are."""
    networks = networks_of(completion)
    names = listed(
        [f"{network_name(one)} (n = {images_of(completion, network_name(one)):,} images)" for one in networks]
    )
    main = networks[0].attrs["main"]
    return (
        "D(t) of eq. 4, the sum of |h of the intact image - h of the masked one| over the intact map's amplitude A at "
        f"t, under a central {main} x {main} square of zeros, in {names}. Lines, means over images; bands, plus and "
        f"minus one standard deviation over images: a spread, not an interval of the mean. Dashed grey, {NULL}: "
        "D(0) times the mean of A(0) / A(t), what D(t) would be if the difference itself stayed as it is at t = 0 and "
        f"only A changed. A fall of D(t) is no completion where A grows.{residual_note(networks)}"
    )


DIFFERENCE_COURSE = FigureKind(
    "difference_course",
    "completion",
    difference_course_table,
    draw_difference_course,
    difference_course_caption,
    {
        "panel": ("block, and network where there are several", "1"),
        "series": ("D, and what the amplitude alone makes of it", "1"),
        "x": ("time", "solver time"),
        "value": ("D, mean over images; of the amplitude alone D(0) times the mean of A(0) / A(t)", "1"),
        "low": ("mean minus one standard deviation over images", "1"),
        "high": ("mean plus one standard deviation over images", "1"),
    },
)
