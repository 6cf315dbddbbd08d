"""Binned Kolmogorov-Smirnov similarity: how alike a model's values and a published histogram are, with its ceiling.

The way of Brain-Score's property benchmarks (Marques et al. 2021, doi:10.1101/2021.03.01.433495), without their
mapping of firing rates, so it is no Brain-Score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.primate.published import PublishedHistogram
from dcnbio.errors import InputError

__all__ = ["aligned_similarity", "binned_similarity", "similarity_ceiling"]

DRAWS = 1000

Floats = NDArray[np.float64]


def cumulative(counts: NDArray[np.floating] | NDArray[np.int64]) -> Floats:
    """Give the cumulative shares of counts, along the last axis."""
    return np.asarray(np.cumsum(counts, -1) / np.sum(counts, -1, keepdims=True), dtype=np.float64)


def worst_distance(published: PublishedHistogram) -> float:
    """Give the largest distance that a model with all its values in the first or in the last bin could have."""
    shares = published.counts / published.n
    return float(max(1 - shares[0], 1 - shares[-1]))


def binned(values: Floats, published: PublishedHistogram) -> NDArray[np.int64]:
    """Give the bin of each value; those outside go to the nearest."""
    return np.asarray(np.clip(np.searchsorted(published.edges, values, "right") - 1, 0, len(published.counts) - 1))


def scores(bins: NDArray[np.int64], published: PublishedHistogram) -> Floats:
    """Give the similarity of each row of bins to the published histogram."""
    counts = np.stack([(bins == one).sum(-1) for one in range(len(published.counts))], -1)
    distance = np.abs(cumulative(counts) - cumulative(published.counts)).max(-1)
    return np.asarray(1 - distance / worst_distance(published), dtype=np.float64)


def binned_similarity(
    values: Floats, published: PublishedHistogram, rng: np.random.Generator, draws: int = DRAWS
) -> tuple[float, float]:
    """Give mean and standard deviation of the similarity over draws of as many values as there are published cells.

    similarity = 1 - D / D_worst; D, the largest difference of the two binned cumulative distributions; D_worst, that of
    a model with all values in one end bin.

    Parameters
    ----------
    values : float array [unit]
        In the published unit; log2 of it where the histogram's axis is logarithmic. Values outside the bins are
        clipped to them.
    published : PublishedHistogram
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    tuple of float
        Mean and standard deviation.

    Raises
    ------
    InputError
        If there is no finite value.

    Examples
    --------
    >>> from dcnbio.analysis.primate.published import published_histogram
    >>> data = published_histogram("surround_suppression_index")
    >>> rng = np.random.default_rng(0)
    >>> binned_similarity(data.spread_values(), data, rng)[0] > binned_similarity(np.full(9, 1.9), data, rng)[0]
    True
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        raise InputError("values holds no number, so nothing can be compared; check which units respond.")
    bins = binned(finite, published)
    found = scores(rng.choice(bins, size=(draws, published.n)), published)
    return float(found.mean()), float(found.std())


def aligned_similarity(
    values: Floats, published: PublishedHistogram, rng: np.random.Generator, draws: int = DRAWS
) -> tuple[float, float]:
    """Give the similarity after the medians are aligned: of shape and spread alone, so another measure."""
    shift = np.median(published.spread_values()) - np.median(values[np.isfinite(values)])
    return binned_similarity(values + shift, published, rng, draws)


def similarity_ceiling(
    published: PublishedHistogram, rng: np.random.Generator, draws: int = DRAWS
) -> tuple[float, float]:
    """Give the similarity of the data to itself: mean and standard deviation over samples of its own size.

    Parameters
    ----------
    published : PublishedHistogram
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    tuple of float
        Mean and standard deviation.

    Examples
    --------
    >>> from dcnbio.analysis.primate.published import published_histogram
    >>> ceiling, sd = similarity_ceiling(published_histogram("peak_spatial_frequency"), np.random.default_rng(0))
    >>> 0.9 < ceiling < 1
    True
    """
    bins = rng.choice(len(published.counts), size=(draws, published.n), p=published.counts / published.n)
    found = scores(bins, published)
    return float(found.mean()), float(found.std())
