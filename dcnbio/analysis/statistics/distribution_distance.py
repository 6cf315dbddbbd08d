"""How far two distributions are apart: the largest distance of their functions, and how far mass must move."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import wasserstein_distance

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.sample import finite_sample, positive_sample

__all__ = ["cdf_distance", "normal_misfit", "octave_distance"]


def cdf_distance(a: ArrayLike, b: ArrayLike) -> float:
    """Give the largest distance between the distribution functions of two samples (Kolmogorov-Smirnov D).

    Parameters
    ----------
    a, b : array_like
        Finite values, of any shape and number.

    Returns
    -------
    float
        From 0 (the same) to 1.

    Raises
    ------
    InputError
        If a sample is empty or holds a value that is not finite.

    Examples
    --------
    >>> cdf_distance([1, 2, 3, 4], [1, 2, 3, 4]), cdf_distance([1, 2], [3, 4])
    (0.0, 1.0)
    """
    first, second = (np.sort(finite_sample(values).ravel()) for values in (a, b))
    at = np.concatenate([first, second])
    below = [np.searchsorted(sample, at, side="right") / sample.size for sample in (first, second)]
    return float(np.max(np.abs(below[0] - below[1])))


def octave_distance(a: ArrayLike, b: ArrayLike) -> float:
    """Give the Wasserstein-1 distance between two samples of positive values in octaves, that is of log2.

    It is the mean number of octaves that mass has to move to turn one distribution into the other.

    Parameters
    ----------
    a, b : array_like
        Positive values, for instance scales in pixels, of any shape and number.

    Returns
    -------
    float
        Octaves.

    Raises
    ------
    InputError
        If a sample is empty or holds a value that is not finite and positive.

    Examples
    --------
    >>> octave_distance([1, 2, 4], [2, 4, 8])
    1.0
    """
    logs = (np.log2(positive_sample(values, "scales").ravel()) for values in (a, b))
    return float(wasserstein_distance(*logs))


def normal_misfit(x: ArrayLike) -> tuple[float, float]:
    """Measure how far values are from the normal distribution of the same mean and standard deviation.

    Of log2 sigma: how far sigma is from its fitted log-normal, in probability and in octaves.

    Parameters
    ----------
    x : array, any shape

    Returns
    -------
    largest, moved : float
        Largest distance of the distribution functions (D), and Wasserstein-1 distance in the unit of `x`. Both are 0
        for values that are all equal: the fitted distribution is then the same point.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> largest, moved = normal_misfit(rng.normal(size=10_000))
    >>> largest < 0.01, moved < 0.03
    (True, True)
    """
    values = np.sort(finite_sample(x).ravel())
    if values[0] == values[-1]:
        return 0.0, 0.0
    mean, sd = float(values.mean()), float(values.std())
    fitted = ndtr((values - mean) / sd)
    upto = np.arange(1, values.size + 1) / values.size
    largest = max(float(np.max(upto - fitted)), float(np.max(fitted - upto + 1 / values.size)))
    return largest, step_area(values, upto, mean, sd)


def normal_area(z: Floats) -> Floats:
    """Give the integral of the standard normal's distribution function from minus infinity to z."""
    area: Floats = z * ndtr(z) + np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return area


def step_area(x: Floats, upto: Floats, mean: float, sd: float) -> float:
    """Give the area between a step function, `upto` from each ordered `x` on, and a normal's function, exactly."""
    z = (x - mean) / sd
    level = upto[:-1]
    # where the normal crosses the step's level, the sign of the difference changes once within the step
    inner = np.clip(mean + sd * ndtri(level), x[:-1], x[1:])
    at = normal_area((inner - mean) / sd)
    below = level * (inner - x[:-1]) - sd * (at - normal_area(z[:-1]))
    above = sd * (normal_area(z[1:]) - at) - level * (x[1:] - inner)
    tails = sd * (normal_area(z[:1])[0] + normal_area(-z[-1:])[0])
    return float(np.sum(below + above) + tails)
