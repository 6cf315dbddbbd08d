"""Keeps what a long analysis has finished, network by network, so that its command goes on where it was stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import xarray as xr
from tqdm import tqdm

from dcnbio.commands.output import plain
from dcnbio.model.network import Network
from dcnbio.model.weights import weights_id
from dcnbio.probe.stimuli import as_stimuli

__all__ = ["kept_part", "made_of"]


def made_of(net: Network, data: xr.Dataset, settings: Any) -> dict[str, Any]:
    """Name what a network's part follows from."""
    about = {"weights": weights_id(net.state_dict()), "spec": net.spec.to_dict()}
    return {**about, "images": as_stimuli(data).identity, "settings": vars(settings)}


def kept_part(path: Path, about: Mapping[str, Any], make: Callable[[], xr.DataTree]) -> xr.DataTree:
    """Give a part of an analysis: from its file, if that was made of the same things, or else made and kept.

    Parameters
    ----------
    path : Path
        Ends in .nc; its folder is made.
    about : mapping
        All that the part follows from: weights, images, settings. A file of other things is made anew.
    make : callable
    """
    identity = repr(sorted(plain(dict(about)).items()))
    if path.exists():
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            if tree.attrs.get("made_of") == identity:
                tqdm.write(f"{path.name} is there already")
                kept = tree.load()
                del kept.attrs["made_of"]  # as it was made: results do not show whether a part was kept
                return kept
    made = make()
    marked = made.copy()
    marked.attrs = {**made.attrs, "made_of": identity}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    marked.to_netcdf(beside, engine="h5netcdf")
    os.replace(beside, path)
    return made
