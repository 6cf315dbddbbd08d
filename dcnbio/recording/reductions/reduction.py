"""What a reduction is: a function of the maps at one time, with the name, dimensions and unit of what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Maps", "Reduction", "as_rows"]

Values = npt.NDArray[np.float64]


class Maps(Enum):
    """What a reduction takes at one time.

    Parameters
    ----------
    value : str
        What it is, in words.

    Examples
    --------
    >>> Maps.SLOPE.value
    'dh/dt'
    """

    STATE = "h"
    """The recorded part of h, [image, channel, y, x]."""
    NORMALISED = "group-normalised h"
    """The same part of h after group norm without weights, see `group_normalised`."""
    INTACT = "h and the intact image's h"
    """The same part of h and of the h that the image has without mask and patches, [image, 2, channel, y, x]."""
    INTACT_NORMALISED = "group-normalised h and the intact image's"
    """The same after group norm without weights."""
    SLOPE = "dh/dt"
    """The same part of the vector field at h and t."""
    READOUT = "class scores of the readout"
    """Class scores [image, class] that the readout gives for the last block's h."""
    ONWARD = "class scores of the rest of the network"
    """Class scores [image, class] that the rest of the network gives for h."""


@dataclass(frozen=True)
class Reduction:
    """A number, or a few, that stand for an image's maps at each recorded time.

    Attributes
    ----------
    name : str
        Of the variable, and of what is asked for.
    function : callable
        From what `maps` says, at one time, to [image, ...], in float64.
    dims : tuple of str
        Dimensions after ``stimulus`` and ``time``.
    long_name, units : str
    maps : Maps
    together : bool
        Whether all images of the recording are needed at once.

    Examples
    --------
    >>> mean = Reduction("mean", lambda maps: as_rows(maps, 1).mean(1), "mean of h over channels and positions")
    >>> mean.function(np.ones((2, 4, 3, 3))).tolist()
    [1.0, 1.0]
    """

    name: str
    function: Callable[[npt.NDArray[Any]], Values]
    long_name: str
    units: str = "1"
    dims: tuple[str, ...] = ()
    maps: Maps = Maps.STATE
    together: bool = False


def as_rows(maps: npt.NDArray[Any], keep: int) -> Values:
    """Give maps in float64 with the dimensions after the first `keep` joined, in one order in memory.

    So that a sum over them is the same number wherever the maps come from.

    Examples
    --------
    >>> as_rows(np.zeros((2, 3, 4, 4), np.float32), keep=2).shape
    (2, 3, 16)
    """
    return np.ascontiguousarray(maps, dtype=np.float64).reshape(*maps.shape[:keep], -1)
