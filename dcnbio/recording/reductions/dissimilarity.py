"""Representational dissimilarity: how far apart the maps of every two images are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dcnbio.recording.reductions.reduction import as_rows

__all__ = ["correlation_distance", "euclidean_distance"]

Matrix = npt.NDArray[np.float64]


def gram(rows: Matrix) -> Matrix:
    """Give the inner products of all pairs, the same number for (i, j) and (j, i)."""
    products = rows @ rows.T
    return (products + products.T) / 2


def euclidean_distance(maps: npt.NDArray[Any]) -> Matrix:
    """Give the Euclidean distance between the maps of every two images.

    Parameters
    ----------
    maps : array [image, channel, y, x]

    Returns
    -------
    float64 array [image, image]
        NaN where one of the two images has no numbers.

    Notes
    -----
    From |a|^2 + |b|^2 - 2 a.b, so a distance below about 1e-8 of the norms is rounding.

    Examples
    --------
    >>> euclidean_distance(np.array([0.0, 0.0, 3.0, 4.0]).reshape(2, 2, 1, 1)).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    products = gram(as_rows(maps, 1))
    squares = products.diagonal()
    found = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0.0))
    found[np.diag_indices_from(found)] = np.where(np.isfinite(squares), 0.0, np.nan)
    return found


def correlation_distance(maps: npt.NDArray[Any]) -> Matrix:
    """Give 1 - r of the maps of every two images, r Pearson's correlation over channels and positions.

    Parameters
    ----------
    maps : array [image, channel, y, x]

    Returns
    -------
    float64 array [image, image]
        From 0 to 2; NaN where an image's maps are all one value, or no numbers.

    Examples
    --------
    >>> found = correlation_distance(np.array([1.0, 2.0, 2.0, 1.0, 1.0, 3.0]).reshape(3, 2, 1, 1))
    >>> found.round(6).tolist()
    [[0.0, 2.0, 0.0], [2.0, 0.0, 2.0], [0.0, 2.0, 0.0]]
    """
    rows = as_rows(maps, 1)
    rows = rows - rows.mean(1, keepdims=True)
    lengths = np.sqrt(np.square(rows).sum(1, keepdims=True))
    rows = rows / np.where(lengths > 0, lengths, np.nan)
    found = 1 - np.clip(gram(rows), -1.0, 1.0)
    found[np.diag_indices_from(found)] = np.where(np.isfinite(rows[:, 0]), 0.0, np.nan)
    return found
