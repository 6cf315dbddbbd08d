"""A recording in the shape in which recordings of neurons are scored: presentation x neuroid x time bin."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError, RecordingError
from dcnbio.recording.export.chosen import chosen_variable
from dcnbio.recording.export.new_file import new_file

__all__ = ["presentation_assembly", "write_assembly"]


Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]


def checked_edges(edges: Sequence[float], span: tuple[float, float]) -> Floats:
    """Refuse bins that are none, or that reach beyond what was recorded."""
    bins = np.asarray(edges, dtype=np.float64)
    if bins.ndim != 1 or bins.size < 2 or not np.isfinite(bins).all() or (np.diff(bins) <= 0).any():
        raise InputError(f"bins (--bins) are {list(edges)}; give two or more ascending edges in milliseconds.")
    slack = 1e-9 * max(1.0, abs(span[1]))
    if bins[0] < span[0] - slack or bins[-1] > span[1] + slack:
        raise InputError(
            f"bins (--bins) reach from {bins[0]:g} to {bins[-1]:g} ms, and the recording from {span[0]:g} to "
            f"{span[1]:g} ms; choose edges within it."
        )
    return bins


def check_request(tree: xr.DataTree, layer: str, milliseconds_per_unit: float) -> None:
    """Refuse a time scale that is none, and a node without h at fixed times."""
    if not (math.isfinite(milliseconds_per_unit) and milliseconds_per_unit > 0):
        raise InputError(f"milliseconds_per_unit is {milliseconds_per_unit}; give a positive number, such as 50.")
    if layer not in tree.children or "h" not in tree[layer] or "time" not in tree[layer].coords:
        raise InputError(
            f"layer is {layer!r}; give a block of the recording that has h at fixed times, such as block1."
        )


def presentation_assembly(
    tree: xr.DataTree,
    layer: str,
    *,
    milliseconds_per_unit: float,
    bins: Sequence[float],
    channels: Sequence[int] | None = None,
) -> xr.DataArray:
    """Give a block's units as neurons: the mean of h over each time bin.

    A unit is one place of one channel of the map. h between recorded times is taken as a straight line, and a bin's
    value is the mean of that line over the bin, (1 / (b - a)) times the integral of h from a to b.

    Parameters
    ----------
    tree : xarray.DataTree
        A recording with h.
    layer : str
        Its node, such as "block1".
    milliseconds_per_unit : float
        Milliseconds that a unit of solver time is taken for. A network does not say: it is an assumption of the person
        who compares, and it is kept in the attributes.
    bins : sequence of float, milliseconds
        Edges of the bins, ascending.
    channels : sequence of int, optional
        Channels whose units are taken; all by default.

    Returns
    -------
    xarray.DataArray
        (presentation, neuroid, time_bin); coordinates ``stimulus_id`` and ``label`` (presentation), ``neuroid_id``,
        ``layer``, ``channel``, ``y``, ``x`` (neuroid), ``time_bin_start`` and ``time_bin_end`` (time_bin).

    Raises
    ------
    InputError
        If the node has no h at fixed times, or the bins are not within the recorded times.

    Notes
    -----
    It misleads where recorded times are far apart against a bin, since the line between them is then no trajectory:
    record more times. Values of an image that failed are NaN.

    Examples
    --------
    >>> h = xr.DataArray(np.arange(3.0).reshape(1, 3, 1, 1, 1), dims=("stimulus", "time", "channel", "y", "x"))
    >>> names = {"time": [0.0, 1.0, 2.0], "stimulus": [7], "channel": [0], "y": [0], "x": [0]}
    >>> tree = xr.DataTree.from_dict({"/block1": xr.Dataset({"h": h.assign_coords(names)})})
    >>> presentation_assembly(tree, "block1", milliseconds_per_unit=50, bins=[0, 50, 100]).values.tolist()
    [[[0.5, 1.5]]]
    """
    check_request(tree, layer, milliseconds_per_unit)
    block = tree[layer].to_dataset()
    h, times = chosen_variable(tree, f"{layer}/h", channels), block["time"].values * milliseconds_per_unit
    edges = checked_edges(bins, (float(times[0]), float(times[-1])))
    coordinates = {
        "stimulus_id": ("presentation", [str(one) for one in h["stimulus"].values]),
        **({"label": ("presentation", h["label"].values)} if "label" in h.coords else {}),
        **neuroids(h, layer),
        "time_bin_start": ("time_bin", edges[:-1], {"units": "ms"}),
        "time_bin_end": ("time_bin", edges[1:], {"units": "ms"}),
    }
    attributes = {
        "long_name": "mean of the hidden state over the time bin",
        "units": "1",
        "milliseconds_per_unit": float(milliseconds_per_unit),
        "provenance": str(tree.attrs.get("provenance", "{}")),
    }
    means = bin_means(h, times, edges)
    return xr.DataArray(means, coordinates, ("presentation", "neuroid", "time_bin"), "response", attributes)


def bin_means(h: xr.DataArray, times: Floats, edges: Floats) -> NDArray[np.float32]:
    """Average every unit over every bin, one image after the other, so that one image's h is held at a time."""
    weights = np.stack([line_weights(times, a, b) for a, b in itertools.pairwise(edges)], axis=1)
    values = np.empty((h.sizes["stimulus"], h[0, 0].size, len(edges) - 1), dtype=np.float32)
    for position in range(len(values)):
        one = h.isel(stimulus=position).transpose("channel", "y", "x", "time").values
        values[position] = one.reshape(len(values[0]), -1).astype(np.float64) @ weights
    return values


def neuroids(h: xr.DataArray, layer: str) -> dict[str, tuple[Any, ...]]:
    """Name every unit by layer, channel, row and column."""
    axes = [h[dim].values for dim in ("channel", "y", "x")]
    channel, y, x = (grid.ravel() for grid in np.meshgrid(*axes, indexing="ij"))
    return {
        "neuroid_id": (
            "neuroid",
            [f"{layer}.{c}.{row}.{column}" for c, row, column in zip(channel, y, x, strict=True)],
        ),
        "layer": ("neuroid", [layer] * len(channel)),
        "channel": ("neuroid", channel),
        "y": ("neuroid", y, {"units": "pixels"}),
        "x": ("neuroid", x, {"units": "pixels"}),
    }


def line_weights(times: Floats, start: float, end: float) -> Floats:
    """Weigh recorded values so that their sum is the mean over [start, end] of the straight lines between them.

    Examples
    --------
    >>> line_weights(np.array([0.0, 1.0, 2.0]), 0.0, 2.0).tolist()
    [0.25, 0.5, 0.25]
    """
    inside = times[(times > start) & (times < end)]
    knots = np.concatenate([[start], inside, [end]])
    widths = np.diff(knots)
    at_knots = np.zeros(len(knots))
    at_knots[:-1] += widths / 2
    at_knots[1:] += widths / 2
    # each knot's value is a mixture of the two recorded ones beside it
    each = np.stack([np.interp(knots, times, row) for row in np.eye(len(times))])
    found: Floats = each @ at_knots / (end - start)
    return found


def write_assembly(array: xr.DataArray, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a presentation x neuroid x time-bin array as a netCDF file.

    Parameters
    ----------
    array : xarray.DataArray
        (presentation, neuroid, time_bin), from `presentation_assembly`.
    path : path
        Ends in .nc.
    overwrite : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    Path

    Raises
    ------
    RecordingError
        If the name does not end in .nc, a file is in the way, or the disk refuses.

    Examples
    --------
    >>> write_assembly(xr.DataArray(0), "a.csv")
    Traceback (most recent call last):
    ...
    dcnbio.errors.RecordingError: a.csv is no name for the array; it is netCDF, so end it in .nc
    """
    path = Path(path)
    if path.suffix.lower() != ".nc":
        raise RecordingError(f"{path} is no name for the array; it is netCDF, so end it in .nc")
    with new_file(path, overwrite) as part:
        array.to_dataset(name=array.name or "response").to_netcdf(part, engine="h5netcdf")
    return path
