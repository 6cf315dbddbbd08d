"""How much activity varies from place to place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["spatial_variance"]


def spatial_variance(maps: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give the variance over positions, averaged over channels.

    Parameters
    ----------
    maps : array [image, channel, y, x]

    Returns
    -------
    float64 array [image]
        The population variance (divisor: positions).

    Examples
    --------
    >>> spatial_variance(np.array([1.0, 3.0, 5.0, 5.0]).reshape(1, 2, 1, 2)).tolist()
    [0.5]
    """
    variance: npt.NDArray[np.float64] = as_rows(maps, 2).var(2).mean(1)
    return variance
