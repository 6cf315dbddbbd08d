"""Pattern completion from stored recordings, chunk by chunk: one of intact and one of masked images."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.recording.network_labels import network_labels
from dcnbio.recording.reductions import group_normalised
from dcnbio.recording.reductions.completion_distances import between_distance, own_distance

__all__ = ["completion_of_recordings"]

CHUNK = 50
# what must be equal for two recordings to be of one network, seen in the same way
SAME = ("weights", "spec", "solver", "images_id", "contrast", "dtype", "patches", "interventions")


def completion_of_recordings(intact: xr.DataTree, masked: xr.DataTree, *, chunk: int = CHUNK) -> xr.Dataset:
    """Compare two recordings of one network, of the same images intact and masked.

    Parameters
    ----------
    intact, masked : xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`, for instance with ``mask=14``, of whole maps at the same times. Arrays of
        dask are read chunk by chunk.
    chunk : int
        Images in memory at a time, at least two; each is compared with the others of its chunk.

    Returns
    -------
    xarray.Dataset
        As that of the completion experiment, for the conditions "intact" and "mask N", with ``region`` whole alone, and
        the class scores at T alone: ``distance``, ``between``, ``difference``, ``amplitude``, ``scores``, ``label`` (-1
        where the images' classes are not the network's), ``solved``. `completion_index`, `difference_curves` and
        `difference_fall` of this room take it. Retrieval, regions and the early readout need the network: `dcnbio
        analyze completion`.

    Raises
    ------
    InputError
        If the recordings are of other networks, images, labels or times, lack whole maps, or neither is masked.

    Examples
    --------
    >>> import dcnbio
    >>> net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=2, integration_time=0.1)
    >>> images = np.random.default_rng(0).random((4, 3, 32, 32), dtype=np.float32)
    >>> trees = [dcnbio.probe(net, images, times=2, mask=side) for side in (None, 14)]
    >>> found = completion_of_recordings(*trees)
    >>> found["condition"].values.tolist(), dict(found["distance"].sizes)["stimulus"]
    (['intact', 'mask 14'], 4)
    """
    if chunk < 2:
        raise InputError(f"chunk is {chunk}; at least 2 images are needed to compare images.")
    side = checked(intact, masked)
    blocks = sorted(name for name in intact.children if name.startswith("block"))
    n = root(intact).sizes["stimulus"]
    parts = [[compared(intact, masked, block, rows) for rows in rows_of(n, chunk)] for block in blocks]
    arrays = {
        name: np.stack([np.concatenate([part[name] for part in row], axis=-2) for row in parts], axis=1)
        for name in parts[0][0]
    }
    return labelled(intact, masked, arrays, blocks, side)


def root(tree: xr.DataTree) -> xr.Dataset:
    """Give what a recording says of all images."""
    return tree.to_dataset()


def node(tree: xr.DataTree, block: str) -> xr.Dataset:
    """Give a block of a recording."""
    return tree.children[block].to_dataset()


def rows_of(n: int, chunk: int) -> Iterator[slice]:
    """Cut images into chunks of nearly equal size."""
    edges = np.linspace(0, n, -(-n // chunk) + 1).round().astype(int).tolist()
    return (slice(a, b) for a, b in itertools.pairwise(edges))


def provenance(tree: xr.DataTree) -> dict[str, Any]:
    """Read what a recording follows from."""
    try:
        found: dict[str, Any] = json.loads(tree.attrs["provenance"])
    except (KeyError, ValueError) as error:
        raise InputError("the DataTree is no recording; give one from dcnbio.probe or dcnbio.open.") from error
    for key in ("weights", "spec", "images_id"):
        if key not in found:
            raise InputError(f"a recording lacks {key}; give one from dcnbio.probe or dcnbio.open.")
    return found


def checked(intact: xr.DataTree, masked: xr.DataTree) -> int:
    """Refuse recordings that cannot be compared; give the mask's side."""
    one, two = provenance(intact), provenance(masked)
    shared = one.get("solver", {}).get("stepping") == "shared"
    for key in (*SAME, "batch_size") if shared else SAME:
        if one.get(key) != two.get(key):
            raise InputError(f"the recordings differ in {key}; record intact and masked images with the same settings.")
    if one.get("mask") is not None or two.get("mask") is None:
        raise InputError(
            f"the recordings have the masks {one.get('mask')} and {two.get('mask')}; give that of intact images first, "
            "then one made with --mask."
        )
    if not np.array_equal(root(intact)["stimulus"].values, root(masked)["stimulus"].values):
        raise InputError("the recordings are of other images; record the same ones, in the same order.")
    if any(not np.array_equal(root(intact)[name].values, root(masked)[name].values) for name in ("label", "class")):
        raise InputError("the recordings have other labels of the same images; record both from the same source.")
    for name in intact.children:
        check_block(intact, masked, name)
    return int(two["mask"])


def check_block(intact: xr.DataTree, masked: xr.DataTree, block: str) -> None:
    """Refuse a block that one of the recordings lacks, or has otherwise."""
    if block not in masked.children or any("h" not in node(tree, block) for tree in (intact, masked)):
        raise InputError(f"the recordings lack the maps of {block}; record them in both.")
    one, two = node(intact, block), node(masked, block)
    alike = one["h"].shape == two["h"].shape and "time" in one.coords and "time" in two.coords
    if not alike or not np.array_equal(one["time"].values, two["time"].values):
        raise InputError(f"the recordings have other times or parts of {block}; record both alike, at given times.")


def groups_of(tree: xr.DataTree, block: str) -> int:
    """Give the groups of a block's norms; whole maps alone have the statistics that these need."""
    spec = provenance(tree)["spec"]
    width = spec["widths"][int(block.removeprefix("block")) - 1]
    if tree[block].sizes["channel"] != width:
        raise InputError(
            f"the recordings hold {tree[block].sizes['channel']} of {block}'s {width} channels; record all."
        )
    groups = int(spec["norm_groups"])
    return min(groups, width) if groups else int(width)


def compared(intact: xr.DataTree, masked: xr.DataTree, block: str, rows: slice) -> dict[str, NDArray[np.float64]]:
    """Compare one chunk in one block: arrays [condition, (region), image, time]."""
    own, other = (node(tree, block)["h"].isel(stimulus=rows).values for tree in (intact, masked))
    groups = groups_of(intact, block)
    size = own.shape[:2]
    found = {name: np.zeros((2, *size)) for name in ("difference", "amplitude", "distance", "between")}
    for time in range(size[1]):
        found["difference"][1, :, time] = np.abs(other[:, time].astype(np.float64) - own[:, time]).sum((1, 2, 3))
        found["amplitude"][:, :, time] = np.abs(own[:, time].astype(np.float64)).sum((1, 2, 3))
        a, b = (group_normalised(maps[:, time], groups) for maps in (own, other))
        found["distance"][1, :, time] = own_distance(b, a)
        found["between"][:, :, time] = between_distance(a)
    return {name: values[:, None] if name in ("distance", "between") else values for name, values in found.items()}


def labelled(
    intact: xr.DataTree, masked: xr.DataTree, arrays: dict[str, NDArray[np.float64]], blocks: list[str], side: int
) -> xr.Dataset:
    """Give arrays their names."""
    image, region = ("condition", "block", "stimulus", "time"), ("condition", "block", "region", "stimulus", "time")
    numbers = [int(block.removeprefix("block")) for block in blocks]
    if len({node(intact, block).sizes["time"] for block in blocks}) > 1:
        raise InputError("blocks have different numbers of times; record all with the same count.")
    names = ["intact", f"mask {side}"]
    fill = provenance(masked)["fill"]
    # what completion's own experiment calls the paper's fill
    fill = "zeros" if fill == 0 else str(fill)
    about = {
        "distance": (region, "Euclidean distance from the own intact image, group-normalised maps"),
        "between": (region, "mean Euclidean distance to other intact images of the chunk, group-normalised maps"),
        "difference": (image, "sum of |h_intact - h| over channels and positions"),
        "amplitude": (image, "sum of |h_intact| over channels and positions"),
    }
    scores = np.stack([root(tree)["logits"].values for tree in (intact, masked)])
    fine = np.isfinite(scores).all(axis=2)
    times = np.stack([node(intact, block)["time"].values for block in blocks])
    solver_time = {"long_name": "solver time", "units": "solver time"}
    return xr.Dataset(
        {
            **{name: (dims, arrays[name], {"long_name": text, "units": "1"}) for name, (dims, text) in about.items()},
            "scores": (("condition", "stimulus", "class"), scores, {"long_name": "class scores at T", "units": "1"}),
            "label": ("stimulus", network_labels(root(intact)), {"long_name": "class of the image", "units": "1"}),
            "solved": (("condition", "stimulus"), fine.astype(np.int8), {"long_name": "whether solved", "units": "1"}),
            "solver_time": (("block", "time"), times, solver_time),
        },
        {
            "condition": names,
            "block": numbers,
            "region": ["whole"],
            "stimulus": root(intact)["stimulus"].values,
            "kind": ("condition", ["intact", "mask"]),
            "side": ("condition", [0, side]),
            "fill": ("condition", ["", fill]),
        },
        {"main": side, "row": provenance(intact)["spec"]["row"]},
    )
