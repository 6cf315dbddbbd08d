"""Figure 3c of the paper: accuracy against the size of a central mask."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dcnbio.errors import InputError
from dcnbio.figures.curve_grid import Panel, dashes_of, draw_curves
from dcnbio.figures.hidden_lines import DASHES_MEAN
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.names import listed, network_name
from dcnbio.figures.page import figure_of, styled
from dcnbio.figures.result_claims import images_of
from dcnbio.figures.sigma_depth import networks_of
from dcnbio.figures.table import Table, table_of

__all__ = ["MASK_ACCURACY"]

TWINS = {"flow": "", "one_Euler_step": "one Euler step", "no_time": "no dynamics"}
PANEL = "accuracy"


def series_name(network: str, twin: str, several: bool) -> str:
    """Name a line: the network where there are several, and how it was run where that is not its own way."""
    if not several:
        return twin or "own dynamics"
    return f"{network}, {twin}" if twin else network


def chance_of(network: xr.DataTree) -> float:
    """Give the accuracy of guessing, in percent."""
    return 100 / int(json.loads(str(network.attrs["spec"]))["classes"])


def variant_rows(series: str, chance: float, data: xr.Dataset) -> list[dict[str, Any]]:
    """List accuracy intact and under each mask of zeros, with the paired limits of the change."""
    shown = [str(name) for name in data["shown"].values]
    sides = {name: int(name.split()[1]) for name in shown if name.startswith("mask ") and name.split()[1:][1:] == []}
    intact = float(data["accuracy"].sel(shown="intact"))
    rows = []
    for name, side in sorted({"intact": 0, **sides}.items(), key=lambda pair: pair[1]):
        change = data["accuracy_drop_interval"].sel(shown=name).values if side else np.full(2, np.nan)
        low, high = np.clip(intact + change, 0, 1)  # no accuracy lies beyond
        rows.append(
            {
                "panel": PANEL,
                "series": series,
                "x": side,
                "value": 100 * float(data["accuracy"].sel(shown=name)),
                "low": 100 * float(low),
                "high": 100 * float(high),
                "chance": chance,
            }
        )
    return rows


def mask_accuracy_table(completion: xr.DataTree) -> Table:
    """List accuracy against the side of the mask, of each network and its twins without dynamics.

    Parameters
    ----------
    completion : xarray.DataTree
        Result of ``dcnbio analyze completion``.

    Raises
    ------
    InputError
        If the images had no labels.
    """
    networks, rows = networks_of(completion), []
    for network in networks:
        # with several networks their twins would hide them
        variants = TWINS if len(networks) == 1 else {"flow": ""}
        for node, twin in variants.items():
            if node in network.children:
                name = series_name(network_name(network), twin, len(networks) > 1)
                rows += variant_rows(name, chance_of(network), network[node].to_dataset())
    if not any(np.isfinite(row["value"]) for row in rows):
        raise InputError("the images had no labels, so there is no accuracy under masks; analyse labelled images.")
    return table_of(rows)


@styled
def draw_mask_accuracy(table: Table, axes: Axes | None = None) -> Figure:
    """Draw accuracy against the side of the mask.

    Parameters
    ----------
    table : pandas.DataFrame
        `mask_accuracy_table`.
    axes : matplotlib.axes.Axes, optional
        To draw into.
    """
    figure, axes = figure_of(axes, 2.4)
    chance = (float(table["chance"].iloc[0]), "chance")
    panel = Panel(PANEL, "Side of the mask (pixels)", "Accuracy (%)", bars=True, limits=(-3, 104), reference=chance)
    draw_curves(axes, table, panel, dashes_of(table, [panel]))
    axes.set_xticks(sorted(set(table["x"])))
    return figure


def borders_note(networks: Sequence[xr.DataTree]) -> str:
    """Say whose training images had borders of another kind, for a black square is like black borders.

    Examples
    --------
    >>> borders_note([xr.DataTree(xr.Dataset(attrs={"name": "a", "training_border": "black"}))])
    ''
    """
    of_kind = {
        kind: [network_name(network) for network in networks if network.attrs.get("training_border") == kind]
        for kind in ("black", "mirror")
    }
    if not all(of_kind.values()):
        return ""
    return (
        f" Images moved in training had black borders for {listed(of_kind['black'])} and mirrored ones for "
        f"{listed(of_kind['mirror'])}, which met no black areas at the end: compare those of one kind."
    )


def mask_accuracy_caption(completion: xr.DataTree) -> str:
    """Say n, and what the bars are."""
    networks = networks_of(completion)
    n = sorted({images_of(completion, network_name(network)) for network in networks})
    names = listed([network_name(network) for network in networks])
    twins = (
        " One Euler step and no dynamics are the same weights with block dynamics reduced to one step or left out."
        if len(networks) == 1 and len(networks[0].children) > 2
        else ""
    )
    return (
        f"Accuracy of {names} against the side of a central square of zeros; 0 is the intact image. n = "
        f"{listed([f'{one:,}' for one in n])} images, the same for all sides.{twins} Bars, 95 % intervals of the "
        "change from the intact images, paired by image, bootstrap over images, cut at 0 and 100 %; they say nothing "
        f"of other training seeds. Odd sides are means over their four placements.{borders_note(networks)}{DASHES_MEAN}"
    )


MASK_ACCURACY = FigureKind(
    "mask_accuracy",
    "completion",
    mask_accuracy_table,
    draw_mask_accuracy,
    mask_accuracy_caption,
    {
        "panel": ("accuracy", "1"),
        "series": ("network, or how it was run", "1"),
        "x": ("side of the mask, 0 for the intact image", "pixels"),
        "value": ("accuracy", "%"),
        "low": ("lower 95 % limit of the paired change, added to the intact accuracy, at least 0", "%"),
        "high": ("upper 95 % limit of the paired change, added to the intact accuracy, at most 100", "%"),
        "chance": ("accuracy of guessing", "%"),
    },
)
