"""One network's filters, measured once for everything that is said about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from dcnbio.analysis.scales.layers import layer_table
from dcnbio.analysis.scales.measures import filter_measures, time_inputs
from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["PAPER", "NetworkScales", "independent_kinds", "measure_network"]

PAPER = "paper"
"""The start of the scales that is the paper's, which is log-normal."""


@dataclass(frozen=True)
class NetworkScales:
    """A network and its filters' measures.

    Attributes
    ----------
    name, row : str
        What it is called, and its kind: the paper's row, and the start of its scales where that is not the paper's,
        so that a control is never counted among the seeds of a row. Of networks that began from the same seed each is
        a kind of its own (`independent_kinds`).
    filters : xarray.DataTree
        From `dcnbio.probe.filters.record_filters`.
    measures : dict of str to xarray.Dataset
        `filter_measures` of each layer.
    table : xarray.Dataset
        `layer_table`.
    """

    name: str
    row: str
    filters: xr.DataTree
    measures: dict[str, xr.Dataset]
    table: xr.Dataset

    @property
    def start(self) -> str:
        """Where the scales began: "paper", "constant", "log2-uniform"."""
        return start_of(self.filters)

    @property
    def is_control(self) -> bool:
        """Whether it was trained from scales that were not log-normal before."""
        return self.start != PAPER and bool(int(self.filters.attrs.get("trained", 1)))

    @property
    def passes(self) -> int | None:
        """Images that it was trained on, or None where it is not recorded."""
        return int(self.filters.attrs["passes"]) if "passes" in self.filters.attrs else None

    @property
    def per_pair_layers(self) -> list[str]:
        """Layers with a scale for each channel pair."""
        return [str(name) for name in self.table["layer"].values[self.table["per_pair"].values == 1]]

    def scales_before(self, layer: str) -> Floats | None:
        """Give the scales of a per-pair layer's filters before training, (output, input), or None."""
        dataset = self.filters[layer].to_dataset()
        if "log2_sigma_initial" not in dataset:
            return None
        start = dataset["log2_sigma_initial"].isel(input=slice(int(dataset.attrs["time_channel"]), None))
        values: Floats = np.exp2(start.transpose("output", "input").values.astype(np.float64))
        return values

    def time_channel_scales(self, layer: str) -> Floats | None:
        """Give the scales of a per-pair layer's time channel, (output, 1), or None."""
        dataset = time_inputs(self.filters[layer].to_dataset())
        if dataset.sizes["input"] == 0:
            return None
        values = dataset["log2_sigma"].isel(time=0).transpose("output", "input").values
        scales: Floats = np.exp2(values.astype(np.float64))
        return scales


def measure_network(name: str, filters: xr.DataTree) -> NetworkScales:
    """Measure all filters of a network.

    Parameters
    ----------
    name : str
        What the network is called in results.
    filters : xarray.DataTree
        From `dcnbio.probe.filters.record_filters`.

    Raises
    ------
    InputError
        If the tree holds no layers, or a layer's record is incomplete.
    """
    if not filters.children:
        raise InputError(f"the record of {name} holds no layers; make it with dcnbio.probe.filters.record_filters.")
    measures = {layer: filter_measures(node.to_dataset()) for layer, node in filters.children.items()}
    return NetworkScales(name, kind_of(filters), filters, measures, layer_table(filters, measures))


def start_of(filters: xr.DataTree) -> str:
    """Name where the scales of a network began."""
    return str(filters.attrs.get("initial_sigma", PAPER))


def kind_of(filters: xr.DataTree) -> str:
    """Name a network's row, and how it differs from the others of that row.

    Examples
    --------
    >>> kind_of(xr.DataTree(xr.Dataset(attrs={"row": "dcn-sigma-ji", "initial_sigma": "constant"})))
    'dcn-sigma-ji (scales from constant)'
    """
    row, start = str(filters.attrs.get("row", "unknown")), start_of(filters)
    if not int(filters.attrs.get("trained", 1)):
        return f"{row} (untrained)"
    return row if start == PAPER else f"{row} (scales from {start})"


def independent_kinds(networks: Sequence[NetworkScales]) -> list[NetworkScales]:
    """Count networks of one kind that began from the same seed as kinds of their own, called by their names.

    They began with the same values: one that went on from another, or the same by two recipes, is no second seed.

    Parameters
    ----------
    networks : sequence of NetworkScales

    Returns
    -------
    list of NetworkScales
        In the same order. A network whose seed is not recorded stays as it is.

    Examples
    --------
    >>> def network(name: str, seed: int) -> NetworkScales:
    ...     filters = xr.DataTree(xr.Dataset(attrs={"seed": seed}))
    ...     return NetworkScales(name, "dcn-ode", filters, {}, xr.Dataset())
    >>> [one.row for one in independent_kinds([network("a", 0), network("a, gone on", 0), network("b", 1)])]
    ['a', 'a, gone on', 'dcn-ode']
    """
    began = Counter((network.row, network.filters.attrs.get("seed")) for network in networks)
    return [
        replace(network, row=network.name)
        if "seed" in network.filters.attrs and began[network.row, network.filters.attrs["seed"]] > 1
        else network
        for network in networks
    ]
