"""The Euclidean norm of an image's maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["norm"]


def norm(maps: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give the square root of the sum of squares over channels and positions.

    Parameters
    ----------
    maps : array [image, channel, y, x]

    Returns
    -------
    float64 array [image]

    Notes
    -----
    It grows with the number of channels and positions recorded, so compare it within a block. The norm of h of a DCN
    grows whatever the image: the last group norm in the field fixes the speed of the flow.

    Examples
    --------
    >>> norm(np.array([3.0, 4.0]).reshape(1, 2, 1, 1)).tolist()
    [5.0]
    """
    found: npt.NDArray[np.float64] = np.sqrt(np.square(as_rows(maps, 1)).sum(1))
    return found
