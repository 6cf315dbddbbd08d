"""Rho(t): how far changed images' maps lie from the intact ones, measured by the distance between images."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from dcnbio.figures.hidden_lines import DASHES_MEAN
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import listed, network_name, residual_note
from dcnbio.figures.network_rows import block_panel, draw_network_rows
from dcnbio.figures.page import styled
from dcnbio.figures.panel_room import readable
from dcnbio.figures.result_claims import images_of
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of

__all__ = ["RELATIVE_DISTANCE"]

NOISE = ("white noise", "equal spectrum")


def shown_conditions(network: xr.DataTree) -> dict[str, str]:
    """Choose the main mask and the perturbations of its norm, by what they are called on the figure."""
    main, there = int(network.attrs["main"]), [str(name) for name in network.to_dataset()["shown"].values]
    wanted = {f"mask {main}": f"mask of {main}", f"mask {main} grey": "grey mask"} | dict(
        zip(NOISE, NOISE, strict=True)
    )
    return {name: text for name, text in wanted.items() if name in there}


def relative_distance_table(completion: xr.DataTree) -> Table:
    """List rho(t) of the main mask and of noise, per network and block.

    Parameters
    ----------
    completion : xarray.DataTree
        Result of ``dcnbio analyze completion``.
    """
    networks, rows = networks_of(completion), []
    for network in networks:
        data = network.to_dataset().sel(region="whole")
        for block in data["block"].values:
            panel = block_panel(network_name(network), int(block), len(networks) > 1)
            for condition, series in shown_conditions(network).items():
                one = data.sel(block=block, shown=condition)
                rows += [
                    {"panel": panel, "series": series, "x": float(t), "value": float(value), "low": NAN, "high": NAN}
                    for t, value in zip(one["solver_time"].values, one["rho"].values, strict=True)
                ]
    return table_of(rows)


NAN = float("nan")


@readable
@styled
def draw_relative_distance(table: Table) -> Figure:
    """Draw one panel per block, a row per network.

    Parameters
    ----------
    table : pandas.DataFrame
        `relative_distance_table`.
    """
    return draw_network_rows(table, r"$\rho$(t) (1)", 1.1 * float(table["value"].max()))


def relative_distance_caption(completion: xr.DataTree) -> str:
    """Say n, and what rho is."""
    networks = networks_of(completion)
    names = listed(
        [f"{network_name(one)} (n = {images_of(completion, network_name(one)):,} images)" for one in networks]
    )
    return (
        "rho(t), the distance of a changed image's group-normalised maps from those of its own intact image, over the "
        f"mean distance between different intact images, in {names}: 1 means as far as another image. Mask, a central "
        "square of zeros (grey: of 0.5); white noise and equal spectrum, perturbations at the same place with the "
        "mask's norm, without structure and with that of natural images. Lines are ratios of sums over images, drawn "
        "without error bars; the intervals of their change from 0 to T stand in the result's claims."
        f"{residual_note(networks)}{DASHES_MEAN}"
    )


RELATIVE_DISTANCE = FigureKind(
    "relative_distance",
    "completion",
    relative_distance_table,
    draw_relative_distance,
    relative_distance_caption,
    {
        "panel": ("block, and network where there are several", "1"),
        "series": ("how images were changed", "1"),
        "x": ("time", "solver time"),
        "value": ("rho", "1"),
        "low": ("no interval", "1"),
        "high": ("no interval", "1"),
    },
)
