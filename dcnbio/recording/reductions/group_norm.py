"""Group norm without weights: maps as the next layer sees them, whatever their scale and offset."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.errors import RecordingError

__all__ = ["EPSILON", "group_normalised"]

EPSILON = 1e-5
"""Added to the variance, as the networks' own group norms do."""


def group_normalised(maps: npt.NDArray[Any], groups: int, epsilon: float = EPSILON) -> npt.NDArray[np.float64]:
    """Give (h - mean) / sqrt(variance + epsilon), with mean and variance of each image and group of channels.

    Parameters
    ----------
    maps : array [..., channel, y, x]
        All channels and positions of a block.
    groups : int
        Into how many groups of neighbours the channels are divided.
    epsilon : float

    Returns
    -------
    float64 array [..., channel, y, x]

    Raises
    ------
    RecordingError
        If the channels do not divide into the groups.

    Notes
    -----
    Every group then has variance 1: with one channel to a group, as in block 1 of dcn-ode, the spatial variance of the
    result is 1 whatever the image.

    Examples
    --------
    >>> group_normalised(np.array([1.0, 3.0]).reshape(1, 1, 1, 2), groups=1).round(3).ravel().tolist()
    [-1.0, 1.0]
    """
    *before, channels, _, _ = maps.shape
    if groups < 1 or channels % groups:
        raise RecordingError(f"groups is {groups}, which does not divide {channels} channels; give the block's own")
    rows = np.ascontiguousarray(maps, dtype=np.float64).reshape(*before, groups, -1)
    centred = rows - rows.mean(-1, keepdims=True)
    scaled = centred / np.sqrt(np.square(centred).mean(-1, keepdims=True) + epsilon)
    normalised: npt.NDArray[np.float64] = scaled.reshape(maps.shape)
    return normalised
