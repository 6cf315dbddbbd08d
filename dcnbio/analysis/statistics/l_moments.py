"""L-moments: location, spread and shape from order statistics, steady where the tail is heavy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.sample import finite_sample
from dcnbio.errors import InputError

__all__ = ["NORMAL_L_KURTOSIS", "LMoments", "l_moments", "ratios"]

NORMAL_L_KURTOSIS = 30 / math.pi * math.atan(math.sqrt(2)) - 9
"""L-kurtosis of every normal distribution, 0.1226; its L-skewness is 0."""


@dataclass(frozen=True)
class LMoments:
    """The first four L-moments of a sample.

    Attributes
    ----------
    location, scale : float
        L1 (the mean) and L2 (half the mean distance of two values), in the values' unit.
    skewness, kurtosis : float
        L3 / L2 and L4 / L2, between -1 and 1; NaN where all values are equal.
    n : int
    """

    location: float
    scale: float
    skewness: float
    kurtosis: float
    n: int


def ratios(b: Floats) -> Floats:
    """Turn probability-weighted moments b0 to b3, shape (4, ...), into L1, L2, L3 / L2, L4 / L2.

    Parameters
    ----------
    b : float array, shape (4, ...)
        Probability-weighted moments b0 to b3.

    Returns
    -------
    float array, shape (4, ...)
        L1 and L2 in the data's unit, L-skewness and L-kurtosis without one, which are NaN where all values are equal.

    Examples
    --------
    >>> ratios(np.array([1 / 2, 1 / 3, 1 / 4, 1 / 5])).round(12).tolist()  # uniform on [0, 1]
    [0.5, 0.166666666667, 0.0, 0.0]
    """
    second = 2 * b[1] - b[0]
    third = 6 * b[2] - 6 * b[1] + b[0]
    fourth = 20 * b[3] - 30 * b[2] + 12 * b[1] - b[0]
    flat = second <= 1e-14 * np.abs(b[0])  # equal values leave rounding alone
    divisor = np.where(flat, np.nan, second)
    return np.stack([b[0], np.where(flat, 0.0, second), third / divisor, fourth / divisor])


def l_moments(values: ArrayLike) -> LMoments:
    """Give the unbiased sample L-moments.

    b_r = mean over the ordered x_j of x_j (j-1)(j-2)...(j-r) / ((n-1)(n-2)...(n-r)); L2 = 2 b1 - b0,
    L3 = 6 b2 - 6 b1 + b0, L4 = 20 b3 - 30 b2 + 12 b1 - b0.

    Parameters
    ----------
    values : array, any shape
        At least four values.

    Raises
    ------
    InputError
        If there are fewer than four values, or some are not finite.

    References
    ----------
    .. [1] Hosking, J. R. M. (1990). L-moments. Journal of the Royal Statistical Society B 52, 105-124.
       doi:10.1111/j.2517-6161.1990.tb01775.x.

    Examples
    --------
    >>> found = l_moments([1, 2, 3, 4])
    >>> found.location, round(found.scale, 6), found.n
    (2.5, 0.833333, 4)
    """
    x = np.sort(finite_sample(values).ravel())
    n = x.size
    if n < 4:
        raise InputError(f"values has {n} values; four L-moments need at least 4, so pool networks or layers.")
    weight = np.ones(n)
    b = [x.mean()]
    for r in range(1, 4):
        weight = weight * (np.arange(n) - r + 1) / (n - r)
        b.append(float(np.mean(weight * x)))
    location, scale, skew, kurtosis = (float(value) for value in ratios(np.array(b)))
    if x[0] == x[-1]:
        scale, skew, kurtosis = 0.0, math.nan, math.nan
    return LMoments(location, scale, skew, kurtosis, n)
