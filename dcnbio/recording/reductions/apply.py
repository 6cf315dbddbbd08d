"""Applies a reduction to maps over time, such as those of a recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.errors import InputError
from dcnbio.recording.reductions.group_norm import group_normalised
from dcnbio.recording.reductions.reduction import Maps, Reduction

__all__ = ["reduce_maps"]


def reduce_maps(reduction: Reduction, h: npt.NDArray[Any], groups: int | None = None) -> npt.NDArray[np.float64]:
    """Reduce stored maps, time by time: the same numbers that the probe gives while solving.

    Parameters
    ----------
    reduction : Reduction
        From ``REDUCTIONS``.
    h : array [image, time, ...]
        What `reduction.maps` says, at each time: maps (channel, y, x), or class scores. For group-normalised
        reductions h itself, with all channels and positions.
    groups : int, optional
        Groups of the block's group norm, for group-normalised reductions.

    Returns
    -------
    float64 array [image, time, ...]

    Raises
    ------
    InputError
        If `groups` is missing.

    Examples
    --------
    >>> from dcnbio.recording.reductions import REDUCTIONS
    >>> reduce_maps(REDUCTIONS["h_norm"], np.ones((1, 2, 4, 3, 3))).tolist()
    [[6.0, 6.0]]
    """
    moments: list[npt.NDArray[Any]] = [h[:, time] for time in range(h.shape[1])]
    if reduction.maps in (Maps.NORMALISED, Maps.INTACT_NORMALISED):
        if groups is None:
            raise InputError(f"groups is not given, and {reduction.name} needs it; give those of the block's norm.")
        moments = [group_normalised(maps, groups) for maps in moments]
    return np.stack([reduction.function(maps) for maps in moments], axis=1)
