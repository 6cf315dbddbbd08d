"""Slopes of samples in which some ordinates are limits, all bootstrap draws at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

__all__ = ["censored_slopes"]

Floats = NDArray[np.float64]
STEPS, CLOSE = 100, 1e-4


def fitted_line(y: Floats, x: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Give slope and fitted values of weighted least squares, for each row of weights."""
    total = weights.sum(1, keepdims=True)
    mean_x, mean_y = (weights * x).sum(1, keepdims=True) / total, (weights * y).sum(1, keepdims=True) / total
    spread = (weights * (x - mean_x) ** 2).sum(1, keepdims=True)
    slope = (weights * (x - mean_x) * (y - mean_y)).sum(1, keepdims=True) / np.maximum(spread, 1e-300)
    return slope[:, 0], mean_y + slope * (x - mean_x)


def hazard(z: Floats) -> Floats:
    """Give the mean of a standard normal beyond z."""
    return np.asarray(np.sqrt(2 / np.pi) / erfcx(z / np.sqrt(2)), dtype=np.float64)


def censored_slopes(y: Floats, x: Floats, side: NDArray[np.int_], weights: Floats) -> Floats:
    """Estimate slopes of y on x by least squares, where limits count as their expected value beyond the limit.

    The expectation-maximisation of a line with normal residuals (Schmee and Hahn 1979, doi:10.2307/1268280, with the
    variance of what lies beyond the limit added).

    Parameters
    ----------
    y, x : float array [unit]
    side : int array [unit]
        0 where y is known; 1 where the truth lies above it; -1 below.
    weights : float array [draw, unit]

    Returns
    -------
    float array [draw]

    Examples
    --------
    >>> x = np.arange(6.0)
    >>> censored_slopes(2 * x, x, np.zeros(6, int), np.ones((1, 6))).tolist()
    [2.0]
    """
    filled = np.broadcast_to(y, weights.shape).copy()
    slopes, line = fitted_line(filled, x, weights)
    limits = np.flatnonzero(side)
    if not len(limits):
        return slopes
    sign, known = side[limits], weights.sum(1, keepdims=True)
    added = np.zeros_like(filled)
    for _ in range(STEPS):
        sigma = np.sqrt((weights * ((filled - line) ** 2 + added)).sum(1, keepdims=True) / known)
        sigma = np.maximum(sigma, 1e-9)
        z = np.clip(sign * (y[limits] - line[:, limits]) / sigma, -30, 30)
        beyond = hazard(z)
        filled[:, limits] = line[:, limits] + sign * sigma * beyond
        added[:, limits] = sigma**2 * np.maximum(1 + z * beyond - beyond**2, 0)
        before = slopes
        slopes, line = fitted_line(filled, x, weights)
        if np.abs(slopes - before).max() < CLOSE * max(1.0, float(np.abs(slopes).max())):
            break
    return slopes
