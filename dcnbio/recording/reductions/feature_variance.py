"""How much activity varies from channel to channel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["feature_variance"]


def feature_variance(maps: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give the variance over channels at each position, averaged over positions.

    Parameters
    ----------
    maps : array [image, channel, y, x]

    Returns
    -------
    float64 array [image]
        The population variance (divisor: channels).

    Notes
    -----
    It misleads where channels differ in their means alone: that counts as variance over features at every position.

    Examples
    --------
    >>> feature_variance(np.array([1.0, 3.0, 5.0, 5.0]).reshape(1, 2, 1, 2)).tolist()
    [2.5]
    """
    variance: npt.NDArray[np.float64] = as_rows(maps, 2).var(1).mean(1)
    return variance
