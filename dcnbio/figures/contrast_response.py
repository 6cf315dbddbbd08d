"""Figure 5 of the paper: accuracy and evaluations against contrast, with T fixed and with T scaled along."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.figures.curve_grid import Panel, draw_curve_grid
from dcnbio.figures.hidden_lines import DASHES_MEAN
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import network_name
from dcnbio.figures.page import styled
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["CONTRAST_RESPONSE"]

NAN = float("nan")
ALONE = 1.0


def panel_name(measure: str, network: str, several: bool) -> str:
    """Name a panel: the measure, and the network where there are several."""
    return f"{network}: {measure}" if several else measure


def network_rows(network: xr.DataTree, several: bool) -> list[dict[str, Any]]:
    """List accuracy and evaluations of block 1 against contrast; contrast 1 belongs to both protocols."""
    data, name = network["curves"].to_dataset(), network_name(network)
    rows = []
    for protocol in data["protocol"].values.astype(str):
        one = data.sel(protocol=protocol)
        reference = float(one["reference_accuracy"])
        limits = np.clip(one["difference_interval"].values + reference, 0, 1)  # no accuracy lies beyond
        accuracy = [*zip(one["contrast"].values, one["accuracy"].values, limits[:, 0], limits[:, 1], strict=True)]
        accuracy.append((ALONE, reference, NAN, NAN))
        about = {"panel": panel_name("accuracy", name, several), "series": protocol}
        rows += [
            {**about, "x": float(c), "value": 100 * float(v), "low": 100 * float(low), "high": 100 * float(high)}
            for c, v, low, high in sorted(accuracy)
        ]
        work = list(zip(one["contrast"].values, one["nfe"].sel(block=1).values, strict=True))
        work.append((ALONE, float(one["reference_nfe"].sel(block=1))))
        about = {"panel": panel_name("nfe", name, several), "series": protocol}
        rows += [{**about, "x": float(c), "value": float(v), "low": NAN, "high": NAN} for c, v in sorted(work)]
    return rows


def contrast_response_table(contrast: xr.DataTree) -> Table:
    """List accuracy and evaluations of block 1 against contrast.

    Parameters
    ----------
    contrast : xarray.DataTree
        Result of ``dcnbio analyze contrast``.
    """
    networks = networks_of(contrast)
    return table_of(row for network in networks for row in network_rows(network, len(networks) > 1))


@styled
def draw_contrast_response(table: Table) -> Figure:
    """Draw accuracy and evaluations, a row per network.

    Parameters
    ----------
    table : pandas.DataFrame
        `contrast_response_table`.
    """
    most = float(np.nanmax(table[table["panel"].str.endswith("nfe")]["value"]))
    panels = []
    for name in unique(table, "panel"):
        accuracy = name.endswith("accuracy")
        title = name.rpartition(":")[0]
        label = "Accuracy (%)" if accuracy else "NFE, block 1 (count)"
        limits = (-3.0, 104.0) if accuracy else (0.0, 1.1 * most)
        panels.append(Panel(name, "Contrast c (1)", label, title=title, log=True, bars=True, limits=limits))
    return draw_curve_grid(table, panels, 2.1, 2)


def contrast_response_caption(contrast: xr.DataTree) -> str:
    """Say n, and what the bars are."""
    networks = networks_of(contrast)
    parts = [f"{network_name(one)} ({one.attrs['row']}, n = {int(one.attrs['n']):,} images)" for one in networks]
    return (
        f"Images multiplied by c shown to {', '.join(parts)}, solved with tolerance "
        f"{float(networks[0].attrs['rtol']):g}, own steps for each image. T fixed, integration time as trained; T-hat, "
        "that of block 1 multiplied by c too. Left, accuracy; bars, 95 % intervals of the change from contrast 1, "
        "paired by image, cut at 0 and 100 %. Right, mean evaluations of block 1's vector field, without error bars. "
        "That T-hat keeps accuracy follows from the group norms of block 1 in any such network; it explains no "
        f"difference between networks.{DASHES_MEAN}"
    )


CONTRAST_RESPONSE = FigureKind(
    "contrast_response",
    "contrast",
    contrast_response_table,
    draw_contrast_response,
    contrast_response_caption,
    {
        "panel": ("accuracy or nfe, after the network where there are several", "1"),
        "series": ("protocol", "1"),
        "x": ("contrast", "1"),
        "value": ("accuracy, or mean evaluations of block 1", "% or 1"),
        "low": ("lower 95 % limit of the paired change, added to the accuracy at contrast 1", "%"),
        "high": ("upper 95 % limit of the paired change, added to the accuracy at contrast 1", "%"),
    },
)
