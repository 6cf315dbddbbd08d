"""How far the maps of a masked or patched image are from those of the same image intact."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["intact_amplitude", "intact_difference", "intact_distance"]


def intact_difference(pair: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give sum |h_intact - h| over channels and positions: the numerator of the paper's D(t) (eq. 4 of [1]_).

    Parameters
    ----------
    pair : array [image, 2, channel, y, x]
        h and the h of the intact image.

    Returns
    -------
    float64 array [image]

    Notes
    -----
    The paper divides by A, the amplitude of the intact image (`intact_amplitude`). |h| grows whatever the image, so D
    with A at t falls even where nothing is completed: show A(0) / A(t) beside it.

    References
    ----------
    .. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML. arXiv:2402.01557.

    Examples
    --------
    >>> intact_difference(np.array([1.0, 2.0, 0.0, 4.0]).reshape(1, 2, 2, 1, 1)).tolist()
    [3.0]
    """
    rows = as_rows(pair, 2)
    total: npt.NDArray[np.float64] = np.abs(rows[:, 1] - rows[:, 0]).sum(1)
    return total


def intact_amplitude(pair: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give sum |h_intact| over channels and positions.

    Examples
    --------
    >>> intact_amplitude(np.array([1.0, 2.0, 0.0, -4.0]).reshape(1, 2, 2, 1, 1)).tolist()
    [4.0]
    """
    total: npt.NDArray[np.float64] = np.abs(as_rows(pair, 2)[:, 1]).sum(1)
    return total


def intact_distance(pair: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give the Euclidean distance of h from that of the intact image.

    Examples
    --------
    >>> intact_distance(np.array([3.0, 0.0, 0.0, -4.0]).reshape(1, 2, 2, 1, 1)).tolist()
    [5.0]
    """
    rows = as_rows(pair, 2)
    distance: npt.NDArray[np.float64] = np.sqrt(np.square(rows[:, 1] - rows[:, 0]).sum(1))
    return distance
