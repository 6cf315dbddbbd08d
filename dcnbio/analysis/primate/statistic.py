"""The statistics that are compared, along the last axis, so that all bootstrap draws are done at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["STATISTICS", "mean", "median", "skewness", "slope", "spread"]

Floats = NDArray[np.float64]


def spread(values: Floats) -> Floats:
    """Give the standard deviation."""
    return np.asarray(values.std(-1, ddof=1), dtype=np.float64)


def skewness(values: Floats) -> Floats:
    """Give the third standardised moment; 0 where all values are one.

    Examples
    --------
    >>> float(skewness(np.array([1.0, 2.0, 3.0])))
    0.0
    """
    centred = values - values.mean(-1, keepdims=True)
    second = (centred**2).mean(-1)
    return np.asarray((centred**3).mean(-1) / np.maximum(second, 1e-300) ** 1.5, dtype=np.float64)


def median(values: Floats) -> Floats:
    """Give the median."""
    return np.asarray(np.median(values, -1), dtype=np.float64)


def mean(values: Floats) -> Floats:
    """Give the mean."""
    return np.asarray(values.mean(-1), dtype=np.float64)


def slope(pairs: Floats) -> Floats:
    """Give the least-squares slope of the first of two rows on the second: shape (..., 2, unit).

    Examples
    --------
    >>> float(slope(np.array([[1.0, 3.0, 5.0], [0.0, 1.0, 2.0]])))
    2.0
    """
    y, x = (pairs[..., i, :] - pairs[..., i, :].mean(-1, keepdims=True) for i in (0, 1))
    return np.asarray((x * y).sum(-1) / np.maximum((x * x).sum(-1), 1e-300), dtype=np.float64)


STATISTICS = {"sd": spread, "skewness": skewness, "median": median, "mean": mean, "slope": slope}
