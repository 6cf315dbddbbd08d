"""Joint binned similarity of nx and ny: the two-dimensional form of the binned Kolmogorov-Smirnov similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.primate.published import published_shape

__all__ = ["joint_ceiling", "joint_distance", "joint_similarity"]

DRAWS = 1000

Floats = NDArray[np.float64]


def joint_distance(first: Floats, second: Floats) -> Floats:
    """Give the largest difference of mass in any quadrant at any corner of the bins, over the last two axes.

    The statistic of Peacock (1983, doi:10.1093/mnras/202.3.615) on bins.

    Parameters
    ----------
    first, second : float array [..., nx, ny]
        Shares that sum to 1.

    Examples
    --------
    >>> apart = np.zeros((2, 2, 2))
    >>> apart[0, 0, 0] = apart[1, 1, 1] = 1
    >>> float(joint_distance(*apart))
    1.0
    """
    gap = np.asarray(first) - np.asarray(second)
    largest = np.zeros(gap.shape[:-2])
    for turned in (gap, gap[..., ::-1, :], gap[..., ::-1], gap[..., ::-1, ::-1]):
        summed = turned.cumsum(-1).cumsum(-2)
        largest = np.maximum(largest, np.abs(summed).max((-1, -2)))
    return np.asarray(largest, dtype=np.float64)


def scored(places: NDArray[np.int64]) -> tuple[float, float]:
    """Give mean and standard deviation of the similarity of draws of bins, numbered along nx and then ny."""
    counts = published_shape()[1]
    shares, bins = counts / counts.sum(), counts.size
    drawn = np.stack([np.bincount(row, minlength=bins) for row in places]).reshape(-1, *counts.shape)
    corners = np.zeros((4, *counts.shape))
    for one, (i, j) in zip(corners, ((0, 0), (0, -1), (-1, 0), (-1, -1)), strict=True):
        one[i, j] = 1
    found = 1 - joint_distance(drawn / places.shape[1], shares) / joint_distance(corners, shares).max()
    return float(found.mean()), float(found.std())


def joint_similarity(pairs: Floats, rng: np.random.Generator, draws: int = DRAWS) -> tuple[float, float]:
    """Give the similarity of a network's fields to the published joint histogram.

    similarity = 1 - D / D_worst; D_worst, of a model with all its fields in the corner bin that is farthest.

    Parameters
    ----------
    pairs : float array [2, unit]
        log2 of nx and ny; values outside the bins are clipped to them.
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    tuple of float
        Mean and standard deviation over draws of as many fields as there are published cells.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> joint_similarity(np.full((2, 9), -1.5), rng)[0] > joint_similarity(np.full((2, 9), 1.0), rng)[0]
    True
    """
    edges, counts = published_shape()
    x, y = (np.clip(np.searchsorted(edges, one, "right") - 1, 0, len(counts) - 1) for one in pairs)
    return scored(rng.choice(x * len(counts) + y, size=(draws, int(counts.sum()))))


def joint_ceiling(rng: np.random.Generator, draws: int = DRAWS) -> tuple[float, float]:
    """Give the similarity of the published cells to themselves, over samples of their own number.

    Examples
    --------
    >>> 0.85 < joint_ceiling(np.random.default_rng(0))[0] < 1
    True
    """
    counts = published_shape()[1]
    return scored(rng.choice(counts.size, size=(draws, int(counts.sum())), p=counts.ravel() / counts.sum()))
