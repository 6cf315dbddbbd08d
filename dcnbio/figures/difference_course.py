"""Figures 4 and A6 of the paper: D(t), the difference between masked and intact maps, in time."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.figures.curve_grid import Panel, draw_curve_grid
from dcnbio.figures.hidden_lines import DASHES_MEAN
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import listed, network_name, residual_note
from dcnbio.figures.page import styled
from dcnbio.figures.result_claims import images_of
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["DIFFERENCE_COURSE"]

NULL = "amplitude alone"


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
        several = len(networks) > 1
        for block in data["block"].values:
            one = data.sel(block=block)
            series = network_name(network) if several else "D"
            times, mean, spread = (one[name].values for name in ("solver_time", "D", "D_sd"))
            lines = [(series, mean, mean - spread, mean + spread)]
            if not several:
                none = np.full(mean.shape, np.nan)
                lines.append((NULL, one["null"].values * mean[0], none, none))
            rows += [
                {
                    "panel": f"block {int(block)}",
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


@styled
def draw_difference_course(table: Table) -> Figure:
    """Draw one panel per block.

    Parameters
    ----------
    table : pandas.DataFrame
        `difference_course_table`.
    """
    blocks = unique(table, "panel")
    top = 1.05 * float(np.nanmax(table[["value", "high"]].to_numpy()))
    panels = [Panel(name, "t (solver time)", "D(t) (1)", title=name, limits=(0, top), muted=(NULL,)) for name in blocks]
    return draw_curve_grid(table, panels, 2.0, max(len(blocks), 2))


def difference_course_caption(completion: xr.DataTree) -> str:
    """Say n, what D is, and what its bands are."""
    networks = networks_of(completion)
    names = listed(
        [f"{network_name(one)} (n = {images_of(completion, network_name(one)):,} images)" for one in networks]
    )
    main = networks[0].attrs["main"]
    null = (
        f" Dashed, {NULL}: what D(t) would be if the difference itself stayed as it is at t = 0 and only A changed."
        if len(networks) == 1
        else ""
    )
    return (
        "D(t) of eq. 4, the sum of |h of the intact image - h of the masked one| over the intact map's amplitude A at "
        f"t, under a central {main} x {main} square of zeros, in {names}. Lines, means over images; bands, plus and "
        f"minus one standard deviation over images: a spread, not an interval of the mean.{null} A fall of D(t) is no "
        "completion where A grows."
        f"{residual_note(networks)}{DASHES_MEAN if len(networks) > 1 else ''}"
    )


DIFFERENCE_COURSE = FigureKind(
    "difference_course",
    "completion",
    difference_course_table,
    draw_difference_course,
    difference_course_caption,
    {
        "panel": ("block", "1"),
        "series": ("network, or D and what the amplitude alone makes of it", "1"),
        "x": ("time", "solver time"),
        "value": ("D, mean over images", "1"),
        "low": ("mean minus one standard deviation over images", "1"),
        "high": ("mean plus one standard deviation over images", "1"),
    },
)
