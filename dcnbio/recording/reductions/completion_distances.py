"""Distances that pattern completion rests on: to an image's own intact map, and to those of other images."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.dissimilarity import euclidean_distance
from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["between_distance", "nearer_others", "own_distance"]

Values = npt.NDArray[np.float64]

ROUNDING = 2e-5  # of a product of float32 maps, as a share of their sums of squares


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


def nearer_others(
    own: Values, maps: npt.NDArray[np.float32], others: npt.NDArray[np.float32], same: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Count the other intact images that lie nearer than the own one: 0 where an image is retrieved.

    Parameters
    ----------
    own : array [image]
        Squared distance to the own intact image.
    maps : float32 array [image, ...]
    others : float32 array [other, ...]
        Of intact images.
    same : bool array [image, other]
        Where the other is the own one.

    Returns
    -------
    int64 array [image]
        Ties count as nearer: a state that is no nearer to its own image than to others retrieves nothing.

    Notes
    -----
    |a - b|^2 = |a|^2 + |b|^2 - 2 a b, with the products in float32; pairs that are too near to the own distance to be
    told so are subtracted in float64.

    Examples
    --------
    >>> maps, others = np.float32([[0.0]]), np.float32([[1.0], [1.5], [3.0]])
    >>> nearer_others(np.array([2.25]), maps, others, np.array([[False, True, False]])).tolist()
    [1]
    """
    a, b = maps.reshape(len(maps), -1), others.reshape(len(others), -1)
    sizes = square_sums(a)[:, None] + square_sums(b)[None]
    squares = sizes - 2 * (a @ b.T).astype(np.float64)
    unsure = (np.abs(squares - own[:, None]) <= ROUNDING * sizes) & ~same
    for image in np.flatnonzero(unsure.any(1)):
        near = unsure[image]
        squares[image, near] = np.square(b[near].astype(np.float64) - a[image]).sum(1)
    counted: npt.NDArray[np.int64] = ((squares <= own[:, None]) & ~same).sum(1)
    return counted


def square_sums(rows: npt.NDArray[np.float32]) -> Values:
    """Give the sum of squares of each row in float64, without a copy in float64."""
    found: Values = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return found
