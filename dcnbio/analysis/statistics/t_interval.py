"""The t interval of a mean over few training seeds, where a bootstrap has nothing to resample."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.sample import finite_sample

__all__ = ["t_interval"]


def t_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Give Student's interval of the mean: mean +- t sd / sqrt(n), with n - 1 degrees of freedom.

    Parameters
    ----------
    values : array, shape (n,)
        One number per independent unit: per training seed.
    level : float
        Coverage.

    Returns
    -------
    Interval
        None with its reason for one value; a point with its reason for equal values.

    Notes
    -----
    Under six seeds show every point beside it: the interval rests on their being normal.

    Examples
    --------
    >>> found = t_interval([1.0, 2.0, 3.0])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.484, 4.484)
    >>> t_interval([1.0]).reason
    'one value has no spread'
    """
    array = finite_sample(values).ravel()
    if array.size < 2:
        return Interval.none("one value has no spread")
    mean, method = float(array.mean()), f"t interval, n = {array.size}"
    if array.min() == array.max():
        return Interval(mean, mean, level, method, "all values are equal")
    half = float(stdtrit(array.size - 1, (1 + level) / 2)) * float(np.std(array, ddof=1)) / math.sqrt(array.size)
    return Interval(mean - half, mean + half, level, method)
