"""What can be read out of the last block as time goes on, of intact and of masked images."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.curve_grid import Panel, draw_curve_grid
from dcnbio.figures.hidden_lines import DASHES_MEAN
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import listed, network_name
from dcnbio.figures.page import styled
from dcnbio.figures.result_claims import images_of
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of, unique

__all__ = ["EARLY_READOUT"]

LOOKS = {
    "accuracy": ("Accuracy (%)", 100.0),
    "top3": ("Among best three (%)", 100.0),
    "margin": ("Margin (logits)", 1.0),
    "retrieval": ("Own map nearest (%)", 100.0),
}


def early_readout_table(completion: xr.DataTree) -> Table:
    """List accuracy, the best three, retrieval and margin against t / T.

    Parameters
    ----------
    completion : xarray.DataTree
        Result of ``dcnbio analyze completion``.

    Raises
    ------
    InputError
        If nothing was read out.
    """
    networks, rows = networks_of(completion), []
    for network in networks:
        data = network.to_dataset()
        for panel in (name for name in LOOKS if name in data):
            for kind in data["image_kind"].values.astype(str):
                if panel == "retrieval" and kind == "intact":
                    continue  # an intact image's own map is itself
                values = LOOKS[panel][1] * data[panel].sel(image_kind=kind).values
                # lines of two kinds of image from each of several networks would be too many for one panel
                where, series = (panel, kind) if len(networks) == 1 else (f"{panel}, {kind}", network_name(network))
                rows += [
                    {"panel": where, "series": series, "x": float(t), "value": float(v), "low": NAN, "high": NAN}
                    for t, v in zip(data["fraction"].values, values, strict=True)
                    if np.isfinite(v)
                ]
    if not rows:
        raise InputError("nothing was read out in time in this result; analyse labelled images.")
    return table_of(rows)


NAN = float("nan")


@styled
def draw_early_readout(table: Table) -> Figure:
    """Draw a panel for each thing that is read out.

    Parameters
    ----------
    table : pandas.DataFrame
        `early_readout_table`.
    """
    shown = {name: name.partition(", ") for name in unique(table, "panel")}
    order = sorted(shown, key=lambda name: (list(LOOKS).index(shown[name][0]), name))
    panels = [panel_of(table, name, *shown[name][::2]) for name in order]
    return draw_curve_grid(table, panels, 1.9, 2)


def panel_of(table: Table, name: str, look: str, kind: str) -> Panel:
    """Lay out one panel; panels of the same thing have the same axis."""
    label, factor = LOOKS[look]
    title = f"{kind} images" if kind else ""
    if factor == 100:
        return Panel(name, "t / T (1)", label, title=title, limits=(-2.0, 102.0))  # 0 and 100 lie on no frame
    values = table[table["panel"].str.startswith(look)]["value"]
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.05 * (high - low or 1.0)
    # below a margin of 0 the answer is wrong
    return Panel(name, "t / T (1)", label, title=title, limits=(low - room, high + room), reference=(0.0, ""))


def early_readout_caption(completion: xr.DataTree) -> str:
    """Say n, and what misleads."""
    networks = networks_of(completion)
    names = listed(
        [f"{network_name(one)} (n = {images_of(completion, network_name(one)):,} images)" for one in networks]
    )
    main = networks[0].attrs["main"]
    return (
        f"What the readout makes of the last block's h(t) in place of h(T), in {names}, for intact images and under a "
        f"central {main} x {main} square of zeros: accuracy; right class among the best three; the right class's logit "
        "minus the best other (below 0 the answer is wrong); and the share of masked images whose own intact map "
        "is the nearest of all. The readout was trained on h(T) alone, so an early failure need not mean that the "
        "class is not there yet. Lines are means over images, drawn without error bars; intervals stand in the "
        f"result's claims.{DASHES_MEAN}"
    )


EARLY_READOUT = FigureKind(
    "early_readout",
    "completion",
    early_readout_table,
    draw_early_readout,
    early_readout_caption,
    {
        "panel": ("accuracy, top3, margin or retrieval; and the kind of image where there are several networks", "1"),
        "series": ("kind of image, or the network where there are several", "1"),
        "x": ("time over T", "1"),
        "value": ("percent of images, or logits", "% or 1"),
        "low": ("no interval", "1"),
        "high": ("no interval", "1"),
    },
)
