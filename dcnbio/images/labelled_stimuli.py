"""Stimuli as a labelled data set, in the format of `load_images`: this file and `dataset` alone need xarray."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcnbio.errors import InputError
from dcnbio.images.class_names import CIFAR10_CLASSES
from dcnbio.images.dataset import to_dataset
from dcnbio.images.frequencies import frequency_flag
from dcnbio.images.image_set import ImageSet

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["label_stimuli"]

MADE = "made in [0, 1], no mean or sd"
UNITS = {
    "orientation": ("orientation of the bars, counter-clockwise from horizontal", "degrees"),
    "spatial_frequency": ("spatial frequency", "cycles/pixel"),
    "phase": ("phase at the centre", "degrees"),
    "contrast": ("contrast", "1"),
    "diameter": ("diameter", "pixels"),
    "gap": ("width of the grey ring", "pixels"),
    "edge": ("width of the soft edge", "pixels"),
    "centre_y": ("row of the centre", "pixels"),
    "centre_x": ("column of the centre", "pixels"),
    "luminance": ("luminance of the grey", "1"),
}
PREFIXES = {"mask_": "mask: ", "surround_": "surround: ", "inner_": "hole: "}
TAKEN = ("image", "label", "file", "stimulus", "channel", "y", "x", "flag")


def label_stimuli(
    images: NDArray[np.float32],
    parameters: Mapping[str, ArrayLike] | None = None,
    files: Sequence[str] | None = None,
    source: str = "stimuli",
) -> xr.Dataset:
    """Give stimuli, such as noise, the format of `load_images`.

    Parameters
    ----------
    images : array of float32 [n, 3, y, x]
        Values in [0, 1].
    parameters : mapping of str to array [n], optional
        Coordinates along `stimulus`; those that `battery` knows get their units, frequencies their flags.
    files : sequence of str, optional
        A readable name of each stimulus; empty if left out.
    source : str
        What they are and how they were drawn, with the seed.

    Returns
    -------
    xarray.Dataset
        As from `load_images`, with labels -1.

    Raises
    ------
    InputError
        When the shapes do not agree or a coordinate's name is taken.

    Examples
    --------
    >>> from dcnbio.images import white_noise
    >>> noise = white_noise(5, np.random.default_rng(3))
    >>> label_stimuli(noise, {"contrast": [0.25] * 5}, source="white noise, seed 3").contrast.attrs
    {'long_name': 'contrast', 'units': '1'}
    """
    if images.ndim != 4 or images.shape[1] != 3 or images.dtype != np.float32:
        raise InputError(f"images is {images.dtype} of shape {images.shape}: give float32 [n, 3, y, x] in [0, 1]")
    n = len(images)
    columns = {name: np.asarray(column) for name, column in (parameters or {}).items()}
    for name, column in columns.items():
        if name in TAKEN:
            raise InputError(f"parameters has {name!r}, a name that is taken, as are {', '.join(TAKEN)}: give another")
        if column.shape != (n,):
            raise InputError(
                f"parameters has {name!r} of shape {column.shape} for {n} stimuli: give one value for each"
            )
    if files is not None and len(files) != n:
        raise InputError(f"files holds {len(files)} names for {n} stimuli: give one for each")
    flags = _frequency_flags(columns, n)
    flagged = sum(flag != "" for flag in flags)
    notices = (f"{flagged} of {n} stimuli have a spatial frequency to read with care: see flag",) if flagged else ()
    names = np.array(files if files is not None else [""] * n, dtype=object)
    numbers = np.arange(n, dtype=np.int64)
    labels = np.full(n, -1, dtype=np.int64)
    data = to_dataset(ImageSet(images, labels, names, numbers, CIFAR10_CLASSES, source, notices))
    data.attrs["transform"] = MADE
    coordinates = {name: ("stimulus", column, _attributes(name)) for name, column in columns.items()}
    flag = ("stimulus", np.array(flags, dtype=object), {"long_name": "why to read with care"})
    return data.assign_coords({**coordinates, "flag": flag})


def _attributes(name: str) -> dict[str, str]:
    """What a parameter is and its unit, where it is known."""
    prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), "")
    known = UNITS.get(name.removeprefix(prefix))
    return {"long_name": PREFIXES.get(prefix, "") + known[0], "units": known[1]} if known else {"long_name": name}


def _frequency_flags(columns: Mapping[str, NDArray[Any]], n: int) -> list[str]:
    """Why each stimulus has to be read with care."""
    frequencies = {name: column for name, column in columns.items() if name.endswith("spatial_frequency")}
    flags = []
    for i in range(n):
        found = {name: frequency_flag(float(column[i])) for name, column in frequencies.items()}
        flags.append("; ".join(f"{name} {flag}" for name, flag in found.items() if flag))
    return flags
