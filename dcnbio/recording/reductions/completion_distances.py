"""Distances that pattern completion rests on: to an image's own intact map, and to those of other images."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.dissimilarity import euclidean_distance
from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["between_distance", "nearer_others", "own_distance", "squared_distances"]

Values = npt.NDArray[np.float64]


def own_distance(maps: npt.NDArray[Any], intact: npt.NDArray[Any]) -> Values:
    """Give the Euclidean distance of each image's maps from its own intact ones.

    Parameters
    ----------
    maps, intact : array [image, ...]
        Group-normalised, whole or of some positions.

    Returns
    -------
    float64 array [image]

    Examples
    --------
    >>> own_distance(np.array([[3.0, 4.0]]), np.zeros((1, 2))).tolist()
    [5.0]
    """
    distance: Values = np.sqrt(np.square(as_rows(maps, 1) - as_rows(intact, 1)).sum(1))
    return distance


def between_distance(maps: npt.NDArray[Any]) -> Values:
    """Give each image's mean Euclidean distance to the other images: the yardstick of rho(t).

    Parameters
    ----------
    maps : array [image, ...]
        Group-normalised maps of intact images; at least two.

    Returns
    -------
    float64 array [image]
        NaN where there is no other image.

    Examples
    --------
    >>> between_distance(np.array([[0.0], [3.0], [4.0]])).tolist()
    [3.5, 2.0, 2.5]
    """
    if len(maps) < 2:
        return np.full(len(maps), np.nan)
    mean: Values = euclidean_distance(maps).sum(1) / (len(maps) - 1)
    return mean


def squared_distances(maps: npt.NDArray[Any], others: npt.NDArray[Any]) -> Values:
    """Give |a - b|^2 of the maps of each image and each other one.

    Parameters
    ----------
    maps : array [image, ...]
    others : array [other, ...]

    Returns
    -------
    float64 array [image, other]

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 1.0]]), np.array([[0.0, 0.0], [3.0, 1.0]])).tolist()
    [[1.0, 9.0]]
    """
    a, b = as_rows(maps, 1), as_rows(others, 1)
    squares: Values = np.square(a).sum(1)[:, None] + np.square(b).sum(1)[None] - 2 * a @ b.T
    return np.maximum(squares, 0.0, out=squares)


def nearer_others(own: Values, squares: Values, same: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Count the other intact images that lie nearer than the own one: 0 where an image is retrieved.

    Parameters
    ----------
    own : array [image]
        Squared distance to the own intact image.
    squares : array [image, other]
    same : bool array [image, other]
        Where the other is the own one.

    Returns
    -------
    int64 array [image]
        Ties count as nearer: a state that is no nearer to its own image than to others retrieves nothing.

    Examples
    --------
    >>> nearer_others(np.array([2.0]), np.array([[1.0, 2.0, 3.0]]), np.array([[False, True, False]])).tolist()
    [1]
    """
    counted: npt.NDArray[np.int64] = ((squares <= own[:, None]) & ~same).sum(1)
    return counted
