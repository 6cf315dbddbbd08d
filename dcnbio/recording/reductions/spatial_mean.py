"""The mean of each channel over the map."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["spatial_mean"]


def spatial_mean(maps: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give the mean over positions, per channel.

    Parameters
    ----------
    maps : array [image, channel, y, x]

    Returns
    -------
    float64 array [image, channel]

    Examples
    --------
    >>> spatial_mean(np.array([1.0, 3.0, 5.0, 5.0]).reshape(1, 2, 1, 2)).tolist()
    [[2.0, 5.0]]
    """
    mean: npt.NDArray[np.float64] = as_rows(maps, 2).mean(2)
    return mean
