"""Patches of a whole recording: checked before anything is run, named in the provenance, and cut to a batch."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.model.network import Network
from dcnbio.model.ode_block import ResidualBlock
from dcnbio.model.patch import Patch
from dcnbio.recording import fingerprint

__all__ = ["Interventions", "check_apart", "described", "settle"]

Size = tuple[int, int, int]
SAME_TIME = 1e-9


@dataclass(frozen=True, eq=False)
class Interventions:
    """The patches of a recording.

    Attributes
    ----------
    patches : tuple of Patch
        Their values may be for all images, along the first axis, or recordings.
    sizes : dict of int to (channel, y, x)
        Of each block's maps.
    stimulus : int array [n]
        The images of the recording.
    """

    patches: tuple[Patch, ...]
    sizes: dict[int, Size]
    stimulus: NDArray[np.int64]

    def of(self, rows: NDArray[np.intp]) -> list[Patch]:
        """Give the patches of some images, with their own values; of no image none."""
        return [] if not len(rows) else [self.cut(patch, rows) for patch in self.patches]

    def cut(self, patch: Patch, rows: NDArray[np.intp]) -> Patch:
        """Give one patch of some images."""
        if isinstance(patch.value, xr.DataTree):
            return replace(patch, value=recorded_maps(patch, self.stimulus[rows], self.sizes[patch.block]))
        return replace(patch, value=values(patch)[rows]) if per_image(patch) else patch

    def unfit(self, rows: NDArray[np.intp]) -> dict[int, str]:
        """Say of which of these images a patch has no numbers, by their place in `rows`."""
        found: dict[int, str] = {}
        for patch in self.patches:
            if isinstance(patch.value, xr.DataTree) or per_image(patch):
                good = finite(self.cut(patch, rows), len(rows), self.sizes[patch.block])
                problem = f"the patch of block {patch.block} has non-finite values"
                found |= dict.fromkeys(np.flatnonzero(~good).tolist(), problem)
        return found


def values(patch: Patch) -> NDArray[Any]:
    """Give a patch's value as an array."""
    value = patch.value
    return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


def per_image(patch: Patch) -> bool:
    """Whether a patch has other values for each image."""
    if patch.value is None or isinstance(patch.value, xr.DataTree):
        return False
    shape = np.shape(values(patch))
    return len(shape) == 4 and shape[0] != 1


def finite(patch: Patch, n: int, size: Size) -> NDArray[np.bool_]:
    """Say of which images a patch makes numbers, of maps that are 0."""
    with torch.no_grad():
        changed = patch.applied(torch.zeros((n, *size), dtype=torch.float64))
    found: NDArray[np.bool_] = torch.isfinite(changed).flatten(1).all(1).numpy()
    return found


def place_of_time(patch: Patch, node: xr.Dataset) -> int:
    """Find the patch's time among those of a recording."""
    times = node["time"].values if "time" in node.coords else np.array([])
    near = np.flatnonzero(np.abs(times - patch.time) <= SAME_TIME * max(1.0, abs(patch.time)))
    if not len(near):
        raise InputError(
            f"value of a patch is a recording without block{patch.block} at t = {patch.time:g}; it has "
            f"{', '.join(f'{t:g}' for t in times) or 'the accepted steps'}: record it with times=[{patch.time:g}, ...]."
        )
    return int(near[0])


def recorded_maps(patch: Patch, stimulus: NDArray[np.int64], size: Size) -> NDArray[np.float64]:
    """Read whole maps of a block from a recording, NaN where it has none."""
    tree: xr.DataTree = patch.value
    node = tree.children[f"block{patch.block}"].to_dataset()
    place = {int(number): row for row, number in enumerate(tree.to_dataset()["stimulus"].values)}
    rows = [place[int(number)] for number in stimulus]
    h = node["h"].isel(time=place_of_time(patch, node))
    # a slice where that does: picking images by a list costs a store many times the memory
    picked = slice(rows[0], rows[-1] + 1) if rows == list(range(rows[0], rows[-1] + 1)) else rows
    maps = np.full((len(rows), *size), np.nan)
    within = np.ix_(np.arange(len(rows)), *(node[dim].values for dim in ("channel", "y", "x")))
    maps[within] = h.isel(stimulus=picked).values
    return maps


def check_recording(patch: Patch, stimulus: NDArray[np.int64], size: Size) -> None:
    """Refuse a recording that lacks what a patch takes from it."""
    tree: xr.DataTree = patch.value
    name = f"block{patch.block}"
    if "provenance" not in tree.attrs or "stimulus" not in tree.coords:
        raise InputError(
            "value of a patch is a DataTree that is no recording; give one from dcnbio.probe or dcnbio.open."
        )
    if patch.how != "replace":
        raise InputError(f"value of a patch is a recording, and how is {patch.how!r}; use how='replace'.")
    if name not in tree.children or "h" not in tree.children[name].data_vars:
        raise InputError(f"value of a patch is a recording without the maps of {name}; record that block with maps.")
    node = tree.children[name].to_dataset()
    place_of_time(patch, node)
    missing = sorted(set(stimulus.tolist()) - set(tree.to_dataset()["stimulus"].values.tolist()))
    if missing:
        raise InputError(
            f"value of a patch is a recording without {len(missing)} of the images, the first stimulus {missing[0]}; "
            "record the same images."
        )
    kept = [node[dim].values for dim in ("channel", "y", "x")]
    if any(len(have) and have.max() >= most for have, most in zip(kept, size, strict=True)):
        raise InputError(f"value of a patch is a recording of a block with other maps than {size}; use the same row.")
    there = np.full(size, np.nan)
    there[np.ix_(*kept)] = 0
    if not finite(replace(patch, value=there), 1, size).all():
        raise InputError(
            f"value of a patch is a recording that holds a part of {name} alone, and the patch takes more; give the "
            "patch the channels and the region that were recorded, or record whole maps."
        )


def check_apart(patches: Sequence[Patch], path: Path | None) -> None:
    """Refuse to record where a patch takes its maps from: they are read batch by batch, and would be gone by then.

    Parameters
    ----------
    patches : sequence of Patch
    path : Path, optional
        Where the recording goes.

    Raises
    ------
    InputError
        If a patch's value is read from that very store or file. A recording that was loaded into memory is none.
    """
    for patch in patches:
        if isinstance(patch.value, xr.DataTree) and path is not None and path.exists():
            for node in patch.value.subtree:
                if any(os.path.samefile(source, path) for source in sources(node.to_dataset(inherit=False))):
                    raise InputError(
                        f"value of a patch is the recording {path}, which the result would replace while it is read; "
                        "give the result another name (out, --out)."
                    )


def sources(dataset: xr.Dataset) -> set[str]:
    """Name the stores and files from which variables are still to be read."""
    unread = [variable for variable in dataset.variables.values() if not variable._in_memory]
    named = {str(variable.encoding["source"]) for variable in unread if "source" in variable.encoding}
    return {source for source in named if os.path.exists(source)}


def settle(net: Network, patches: Sequence[Patch], stimulus: NDArray[np.int64], sizes: Sequence[Size]) -> Interventions:
    """Check patches against the network and the images.

    Parameters
    ----------
    net : Network
    patches : sequence of Patch
    stimulus : int array [n]
    sizes : sequence of (channel, y, x)
        Of the blocks, in order.

    Returns
    -------
    Interventions

    Raises
    ------
    InputError
        If a patch does not fit the network, or its values do not fit the images.
    """
    by_block = dict(enumerate(sizes, 1))
    for patch in patches:
        block = net.block(patch.block)
        patch.check(block.integration_time, ends_only=isinstance(block, ResidualBlock))
        if isinstance(patch.value, xr.DataTree):
            check_recording(patch, stimulus, by_block[patch.block])
            continue
        if per_image(patch) and len(values(patch)) != len(stimulus):
            raise InputError(
                f"value of a patch has {len(values(patch))} images where {len(stimulus)} are recorded; give maps for "
                "each, in their order, or one for all."
            )
        one = replace(patch, value=values(patch)[:1]) if per_image(patch) else patch
        if not finite(one, 1, by_block[patch.block]).all() and not per_image(patch):
            raise InputError("value of a patch is not finite; give numbers.")
    return Interventions(tuple(patches), by_block, stimulus)


def digest(array: NDArray[Any]) -> str:
    """SHA-256 of an array's type, shape and values."""
    told = f"{array.dtype.str} {array.shape} ".encode()
    return hashlib.sha256(told + np.ascontiguousarray(array).tobytes()).hexdigest()


def described(patch: Patch) -> dict[str, Any]:
    """Name what a patch is, in plain values: arrays by their SHA-256, recordings by what their numbers follow from.

    Examples
    --------
    >>> described(Patch(2, 0.5, "scale", 2.0))["value"]
    2.0
    """
    value: Any = None
    if isinstance(patch.value, xr.DataTree):
        value = {"recording": fingerprint(json.loads(patch.value.attrs["provenance"]))}
    elif patch.value is not None:
        array = values(patch)
        value = array.item() if array.ndim == 0 else {"shape": list(array.shape), "sha256": digest(array)}
    region: Any = None
    if isinstance(patch.region, tuple):
        region = [f"{'' if s.start is None else s.start}:{'' if s.stop is None else s.stop}" for s in patch.region]
    elif patch.region is not None:
        region = {"sha256": digest(np.asarray(patch.region))}
    return {
        "block": patch.block,
        "time": patch.time,
        "how": patch.how,
        "channels": None if patch.channels is None else list(patch.channels),
        "region": region,
        "value": value,
    }
