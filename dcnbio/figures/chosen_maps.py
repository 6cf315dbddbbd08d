"""Which image, channel and times of a recording a figure shows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xarray as xr

from dcnbio.errors import InputError

__all__ = ["blocks_with_maps", "chosen_channel", "chosen_stimulus", "chosen_times", "stimuli_of"]


def blocks_with_maps(recording: xr.DataTree) -> dict[str, xr.Dataset]:
    """Give the blocks whose maps were recorded at common times.

    Raises
    ------
    InputError
        If there is none.
    """
    found = {}
    for name, node in recording.children.items():
        data = node.to_dataset()
        if "h" in data and "time" in data.coords:
            found[name] = data
    if not found:
        raise InputError(
            "this recording holds no maps h at common times; record some with dcnbio probe --times 21, without "
            "--no-maps."
        )
    return found


def chosen_stimulus(recording: xr.DataTree) -> int:
    """Give the position of the first image that every block solved.

    Raises
    ------
    InputError
        If there is none.
    """
    solved = np.ones(recording.sizes["stimulus"], dtype=bool)
    for node in recording.children.values():
        solved &= node["status"].values == 0
    if not solved.any():
        raise InputError("no image of this recording was solved in every block; record with more steps (--max-steps).")
    return int(solved.argmax())


def stimuli_of(recording: xr.DataTree) -> npt.NDArray[np.int64]:
    """Give the index of each image in its source."""
    return np.asarray(recording.to_dataset()["stimulus"].values, dtype=np.int64)


def chosen_channel(h: xr.DataArray) -> int:
    """Give the position of the channel with the widest range over the map at the last time.

    Parameters
    ----------
    h : xarray.DataArray, dimensions (time, channel, y, x)
    """
    last = h.isel(time=-1)
    span = last.max(("y", "x")) - last.min(("y", "x"))
    return int(span.values.argmax())


def chosen_times(count: int, most: int) -> list[int]:
    """Spread positions evenly over the recorded times, first and last among them.

    Examples
    --------
    >>> chosen_times(21, 6), chosen_times(2, 6)
    ([0, 4, 8, 12, 16, 20], [0, 1])
    """
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, most)).round()})
