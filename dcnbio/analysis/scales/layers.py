"""The scales of a network's layers in order of depth (figure 3a): nominal, effective, before and after training."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.filters.kinds import KINDS
from dcnbio.analysis.scales.initialisation import start_octaves
from dcnbio.analysis.scales.measures import spatial_inputs

__all__ = ["layer_table"]

OCTAVES = "octaves (log2 of pixels)"


def mean_log2(layer: xr.Dataset, name: str) -> float:
    """Give the mean of log2 sigma over a layer's filters at the first recorded time; NaN where it is not known."""
    if name not in layer:
        return float("nan")
    values = spatial_inputs(layer)[name]
    values = values.isel(time=0) if "time" in values.dims else values
    return float(values.mean())


def layer_row(layer: xr.Dataset, measures: xr.Dataset, start: str) -> dict[str, float]:
    """Sum one layer up, of a network whose scales began at `start`."""
    after = spatial_inputs(layer)["log2_sigma"]
    energy = float(measures["energy"].sum())
    kinds = {
        f"share_{kind}".replace("-", "_"): float((measures["kind"] == code).mean()) for code, kind in enumerate(KINDS)
    }
    return {
        "block": float(layer.attrs["block"]),
        "per_pair": float(layer.attrs["per_pair"]),
        "filters": float(measures["sigma"].size),
        "log2_sigma": mean_log2(layer, "log2_sigma"),
        "log2_sigma_initial": mean_log2(layer, "log2_sigma_initial"),
        "log2_sigma_at_end": float(after.isel(time=-1).mean()),
        "start_sd": start_octaves(start, in_time=layer.sizes["time"] > 1),
        "sigma": float(measures["sigma"].median()),
        "effective_sigma": float(measures["effective_sigma"].median()),
        "kernel_size": float(measures["kernel_size"].max()),
        "energy_cut": float((measures["energy_cut"] * measures["energy"]).sum()) / energy if energy > 0 else 0.0,
        "peak_frequency": float(measures["peak_frequency"].median()),
        "centroid_frequency": float(measures["centroid_frequency"].median()),
        "low_pass": float((measures["peak_frequency"] == 0).mean()),
        **kinds,
    }


ABOUT = {
    "block": ("block of the layer, 0 outside", "1"),
    "per_pair": ("1 where each filter has its own scale, 0 where the layer shares one", "1"),
    "filters": ("filters whose input is a map", "1"),
    "log2_sigma": ("mean log2 scale at solver time 0", OCTAVES),
    "log2_sigma_initial": ("mean log2 scale before training, NaN where not known", OCTAVES),
    "log2_sigma_at_end": ("mean log2 scale at solver time T", OCTAVES),
    "start_sd": ("standard deviation of log2 scale over untrained networks", "octaves"),
    "sigma": ("median nominal scale", "pixels"),
    "effective_sigma": ("median scale of the sampled and cut Gaussian", "pixels"),
    "kernel_size": ("width of the widest kernel", "pixels"),
    "energy_cut": ("share of the layer's filter energy outside the windows", "1"),
    "peak_frequency": ("median spatial frequency of the largest response", "cycles/pixel"),
    "centroid_frequency": ("median of the filters' mean spatial frequency", "cycles/pixel"),
    "low_pass": ("share of filters that respond most to a uniform image", "1"),
}


def layer_table(filters: xr.DataTree, measures: dict[str, xr.Dataset]) -> xr.Dataset:
    """Gather a network's layers in one table.

    Parameters
    ----------
    filters : xarray.DataTree
        From `dcnbio.probe.filters.record_filters`.
    measures : dict of str to xarray.Dataset
        `filter_measures` of each layer.

    Returns
    -------
    xarray.Dataset
        Per ``layer``, in order of depth: mean log2 scale now and before training, ``change`` (octaves), median nominal
        and effective scale, kernel size, energy cut by the windows, spatial frequency, and shares of filter kinds.
    """
    start = str(filters.attrs.get("initial_sigma", "paper"))
    rows = {name: layer_row(node.to_dataset(), measures[name], start) for name, node in filters.children.items()}
    names = list(rows)
    table = xr.Dataset(coords={"layer": names, "depth": ("layer", np.arange(1, len(names) + 1))})
    for key in rows[names[0]]:
        long_name, units = ABOUT.get(key, (f"share of filters of kind {key.removeprefix('share_')}", "1"))
        table[key] = ("layer", [rows[name][key] for name in names], {"long_name": long_name, "units": units})
    table["change"] = table["log2_sigma"] - table["log2_sigma_initial"]
    table["change"].attrs = {"long_name": "mean log2 of scale over scale before training", "units": "octaves"}
    return table
