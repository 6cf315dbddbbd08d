"""The statistics that are compared, along the last axis, so that all bootstrap draws are done at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["STATISTICS", "mean", "median", "skewness", "skewness_error", "spread", "spread_error"]

Floats = NDArray[np.float64]


def spread(values: Floats) -> Floats:
    """Give the standard deviation; NaN of one value, which has none.

    Examples
    --------
    >>> spread(np.array([[1.0, 3.0]])).round(3).tolist(), spread(np.array([[1.0]])).tolist()
    ([1.414], [nan])
    """
    if values.shape[-1] < 2:
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(values.std(-1, ddof=1), dtype=np.float64)


def skewness(values: Floats) -> Floats:
    """Give the third standardised moment; 0 where all values are one.

    Examples
    --------
    >>> skewness(np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])).tolist()
    [0.0, 0.0]
    """
    centred = values - values.mean(-1, keepdims=True)
    second = (centred**2).mean(-1)
    return np.asarray((centred**3).mean(-1) / np.maximum(second, 1e-200) ** 1.5, dtype=np.float64)


def median(values: Floats) -> Floats:
    """Give the median."""
    return np.asarray(np.median(values, -1), dtype=np.float64)


def mean(values: Floats) -> Floats:
    """Give the mean."""
    return np.asarray(values.mean(-1), dtype=np.float64)


def spread_error(values: Floats) -> Floats:
    """Give the standard error of log standard deviation, by its influence function (z^2 - 1) / 2.

    Examples
    --------
    >>> bool(abs(spread_error(np.random.default_rng(0).normal(size=4000)) * np.sqrt(2 * 4000) - 1) < 0.05)
    True
    """
    centred = values - values.mean(-1, keepdims=True)
    second = (centred**2).mean(-1, keepdims=True)
    influence = centred**2 / np.maximum(second, 1e-300) / 2
    return np.asarray(spread(influence) / np.sqrt(values.shape[-1]), dtype=np.float64)


def skewness_error(values: Floats) -> Floats:
    """Give the standard error of arsinh of skewness, by the influence function z^3 - 3 z - 3/2 g (z^2 - 1) - g.

    Examples
    --------
    >>> bool(abs(skewness_error(np.random.default_rng(0).normal(size=9000)) * np.sqrt(9000 / 6) - 1) < 0.1)
    True
    """
    g = skewness(values)
    centred = values - values.mean(-1, keepdims=True)
    z = centred / np.sqrt(np.maximum((centred**2).mean(-1, keepdims=True), 1e-300))
    influence = z**3 - 3 * z - 1.5 * g[..., None] * (z**2 - 1) - g[..., None]
    error = spread(influence) / np.sqrt(values.shape[-1])
    return np.asarray(error / np.sqrt(1 + g**2), dtype=np.float64)


STATISTICS = {"sd": spread, "skewness": skewness, "median": median, "mean": mean}
