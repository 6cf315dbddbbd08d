"""From a layout and its batches to the labelled tree of a recording, in memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording.batch import Batch
from dcnbio.recording.provenance import provenance_json
from dcnbio.recording.record import Record, batch_index, hidden_state, merge, small_variables
from dcnbio.recording.schema import RECORDED_TIME, BlockLayout, RecordingLayout
from dcnbio.recording.variables import attributes, counter_attributes, state_attributes, status_attributes
from dcnbio.version import __version__

__all__ = ["assemble", "block_dataset", "build_tree", "root_dataset"]

H_DIMS = ("stimulus", "time", "channel", "y", "x")


def _strings(values: Iterable[str]) -> npt.NDArray[np.object_]:
    # object strings: Zarr 3 has no stable type for NumPy's fixed-length text, and warns of it
    return np.array([str(value) for value in values], dtype=object)


def root_dataset(layout: RecordingLayout, positions: npt.NDArray[np.intp], merged: Record) -> xr.Dataset:
    """Build the root node: stimulus, label, file, logits and, with shared stepping, the batch of each image.

    Parameters
    ----------
    layout : RecordingLayout
        What the recording holds.
    positions : array of int [stimulus]
        Positions along the layout's ``stimulus`` that are there.
    merged : dict of str to array
        The small variables at these positions.

    Returns
    -------
    xarray.Dataset
        ``logits`` (stimulus, class) with its coordinates.
    """
    files = [layout.files[position] for position in positions]
    coordinates: dict[str, tuple[Any, ...]] = {
        "stimulus": ("stimulus", layout.stimulus[positions], attributes("stimulus")),
        "label": ("stimulus", layout.labels[positions], attributes("label")),
        "file": ("stimulus", _strings(files), attributes("file")),
        "class": ("class", _strings(layout.class_names), attributes("class")),
    }
    if layout.nfe_per == "batch":
        batch = (positions // layout.batch_size).astype(np.int64)
        coordinates["batch"] = ("stimulus", batch, attributes("batch"))
    variables = {"logits": (("stimulus", "class"), merged["logits"], attributes("logits"))}
    return xr.Dataset(variables, coordinates)


def block_coordinates(layout: RecordingLayout, block: BlockLayout) -> dict[Hashable, tuple[Any, ...]]:
    """Give the coordinates of the dimensions that a block's variables have; channel, y and x keep their indices."""
    row, column = block.origin
    used = set(H_DIMS[1:]) if block.store_h else {"time"}
    used = used.union(*(variable.dims for variable in block.extra))
    values: dict[str, npt.NDArray[Any]] = {
        "channel": block.channels,
        "y": np.arange(row, row + block.shape[1]),
        "x": np.arange(column, column + block.shape[2]),
        "other_stimulus": layout.stimulus,
    }
    if not block.accepted:  # else each image has times of its own
        values["time"] = block.times
    return {dim: (dim, array, attributes(dim)) for dim, array in values.items() if dim in used}


def block_dataset(layout: RecordingLayout, block: BlockLayout, merged: Record) -> xr.Dataset:
    """Build a block's node but for h: solver counts, status, step times, extra variables and the coordinates of h.

    Parameters
    ----------
    layout : RecordingLayout
        What the recording holds.
    block : BlockLayout
        One of its blocks.
    merged : dict of str to array
        The small variables of the stimuli that are there.

    Returns
    -------
    xarray.Dataset
        Variables (stimulus, ...), coordinate ``time`` (``recorded_time`` (stimulus, time) where the accepted steps are
        recorded) and, where maps are stored, ``channel``, ``y`` and ``x``.
    """
    coordinates = block_coordinates(layout, block)
    variables: dict[Hashable, tuple[Any, ...]] = {}
    for name in ("nfe", "accepted", "rejected"):
        described = counter_attributes(name, layout.nfe_per)
        variables[name] = ("stimulus", merged[f"{block.name}/{name}"], described)
    variables["status"] = ("stimulus", merged[f"{block.name}/status"], status_attributes(layout.statuses))
    variables["reason"] = ("stimulus", _strings(merged[f"{block.name}/reason"]), attributes("reason"))
    variables["step_time"] = (("stimulus", "step"), merged[f"{block.name}/step_time"], attributes("step_time"))
    for extra in block.extra:
        described = {"long_name": extra.long_name, "units": extra.units}
        entry = (("stimulus", *extra.dims), merged[f"{block.name}/{extra.name}"], described)
        (coordinates if extra.name == RECORDED_TIME else variables)[extra.name] = entry
    return xr.Dataset(variables, coordinates, {"nfe_per": layout.nfe_per})


def build_tree(
    layout: RecordingLayout,
    positions: npt.NDArray[np.intp],
    merged: Record,
    h: Mapping[str, xr.Variable],
    provenance: Mapping[str, Any],
) -> xr.DataTree:
    """Join the nodes and say in the root's attributes whether every stimulus is there.

    Parameters
    ----------
    layout : RecordingLayout
        What the recording holds.
    positions : array of int [stimulus]
        Positions that are there, ascending.
    merged : dict of str to array
        The small variables at these positions.
    h : mapping of str to xarray.Variable
        Hidden state per block name, (stimulus, time, channel, y, x).
    provenance : mapping
        Where the numbers come from.

    Returns
    -------
    xarray.DataTree
        Root and one node per block.
    """
    nodes: dict[str, xr.Dataset] = {"/": root_dataset(layout, positions, merged)}
    for block in layout.blocks:
        dataset = block_dataset(layout, block, merged)
        if block.name in h:
            dataset = dataset.assign(h=h[block.name])
            dataset["h"].attrs = state_attributes(block.dtype)
        nodes[f"/{block.name}"] = dataset
    complete = len(positions) == layout.n
    nodes["/"].attrs = root_attributes(provenance, complete)
    if not complete:
        nodes["/"].attrs.update(done=len(positions), total=layout.n)
    return xr.DataTree.from_dict(nodes)


def root_attributes(provenance: Mapping[str, Any], complete: bool) -> dict[str, Any]:
    """Give the attributes of the root: plain text and integers, which every file format holds."""
    return {
        "provenance": provenance_json(provenance),
        "complete": int(complete),
        "dcnbio_version": __version__,
    }


def assemble(layout: RecordingLayout, batches: Iterable[Batch], provenance: Mapping[str, Any]) -> xr.DataTree:
    """Build a recording in memory.

    Parameters
    ----------
    layout : RecordingLayout
        What the recording holds.
    batches : iterable of Batch
        Every batch of the layout once, in any order; read one at a time.
    provenance : mapping
        Where the numbers come from, see `gather_provenance`.

    Returns
    -------
    xarray.DataTree
        Root with ``logits`` (stimulus, class); one node per block with ``h`` (stimulus, time, channel, y, x), the
        solver's counts (stimulus) and ``step_time`` (stimulus, step).

    Raises
    ------
    RecordingError
        When a batch is missing, comes twice or does not fit the layout.

    Examples
    --------
    >>> from dcnbio.recording import BlockBatch, BlockLayout
    >>> layout = RecordingLayout([7], [3], ["a.png"], ["cat", "dog"], [BlockLayout("block1", [0.0, 2.0], (1, 2, 2))], 1)
    >>> block = BlockBatch(np.ones((1, 2, 1, 2, 2), "float32"), [14], [2], [0], [0], [[0.5, 2.0]])
    >>> tree = assemble(layout, [Batch(0, np.zeros((1, 2)), {"block1": block})], {"seed": 0})
    >>> tree["block1"].h.dims, int(tree["block1"].nfe[0])
    (('stimulus', 'time', 'channel', 'y', 'x'), 14)
    """
    records: dict[int, Record] = {}
    h = {
        block.name: np.full((layout.n, *block.sizes.values()), np.nan, dtype=block.dtype)
        for block in layout.blocks
        if block.store_h
    }
    for batch in batches:
        index = batch_index(layout, batch)
        if index in records:
            raise RecordingError(f"batch {index} comes twice; give every batch once")
        records[index] = small_variables(layout, batch)
        for block in layout.blocks:
            values = batch.blocks[block.name].h
            if values is not None:
                h[block.name][layout.batch(index)] = hidden_state(values, block)
    missing = [index for index in range(layout.batches) if index not in records]
    if missing:
        raise RecordingError(f"batch {missing[0]} is missing, and {len(missing)} in all; give every batch once")
    merged = merge([records[index] for index in range(layout.batches)])
    states = {name: xr.Variable(H_DIMS, values) for name, values in h.items()}
    return build_tree(layout, np.arange(layout.n), merged, states, provenance)
