"""Picks one variable or coordinate of a recording, and channels of it, by name."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from dcnbio.errors import InputError

__all__ = ["chosen_variable"]


def chosen_variable(tree: xr.DataTree, name: str, channels: Sequence[int] | None = None) -> xr.DataArray:
    """Give a variable of a recording; its values are not read.

    Parameters
    ----------
    tree : xarray.DataTree
        A recording.
    name : str
        The variable or coordinate with its node, such as "block1/h" or "block1/recorded_time"; "logits" for one of the
        root.
    channels : sequence of int, optional
        Indices in the block of the channels that are wanted; all by default.

    Returns
    -------
    xarray.DataArray
        With the stimuli's labels and files as coordinates.

    Raises
    ------
    InputError
        If there is no such variable or channel.

    Examples
    --------
    >>> import numpy as np
    >>> tree = xr.DataTree.from_dict({"/": xr.Dataset({"logits": (("stimulus", "class"), np.zeros((2, 10)))})})
    >>> chosen_variable(tree, "logits").sizes["class"]
    10
    """
    node, _, variable = name.strip("/").rpartition("/")
    datasets = {one.path: one.to_dataset(inherit=False) for one in tree.subtree}
    known = [f"{path}/{one}".strip("/") for path, dataset in datasets.items() for one in dataset.data_vars]
    beside = [f"{path}/{one}".strip("/") for path, dataset in datasets.items() for one in dataset.coords]
    if name.strip("/") not in (*known, *beside):
        raise InputError(
            f"variable (--variable) is {name!r}; this recording has {', '.join(known)}, and the coordinates "
            f"{', '.join(beside)}."
        )
    array: xr.DataArray = tree[node or "/"].to_dataset()[variable]
    # a node inherits the stimuli of the root, and not what is known of them
    root = tree.to_dataset()
    known_of = {str(n): one for n, one in root.coords.items() if one.dims == ("stimulus",) and n not in array.coords}
    array = array.assign_coords(known_of) if "stimulus" in array.dims else array
    if channels is None:
        return array
    there = array["channel"].values.tolist() if "channel" in array.dims and "channel" in array.coords else []
    missing = [channel for channel in channels if channel not in there]
    if missing:
        has = f"has channels {there[0]} to {there[-1]}, {len(there)} in all" if there else "has no channels"
        raise InputError(f"channels (--channels) has {missing[0]}; {name} {has}.")
    return array.sel(channel=list(channels))
