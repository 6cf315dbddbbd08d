"""Distributions of positive values that compete with the log-normal, fitted by maximum likelihood, location at 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy import optimize, stats
from scipy.special import digamma, gammaln

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["FAMILIES", "LogDensity"]

LogDensity = Callable[[Floats], Floats]
LARGE = 1e4  # shapes of a gamma distribution from which on Stirling's series is exact to rounding


def lognormal(x: Floats) -> LogDensity:
    """Fit a log-normal."""
    logs = np.log(x)
    return lambda y: stats.lognorm.logpdf(y, logs.std(), scale=np.exp(logs.mean()))


def gamma(x: Floats) -> LogDensity:
    """Fit a gamma distribution: its mean is the mean, and ln k - digamma(k) = ln mean(x) - mean(ln x) for its shape."""
    logs, mean = np.log(x), x.mean()
    u = logs - logs.mean()
    # as ln mean(x) - mean(ln x) it would be lost in rounding where values differ little
    k = gamma_shape(float(np.log1p(np.mean(np.expm1(u) - u))))
    norm = k * np.log(k) - k - gammaln(k) if k < LARGE else (np.log(k / (2 * np.pi)) - 1 / (6 * k)) / 2

    def density(y: Floats) -> Floats:
        off: Floats = y / mean - 1
        ratio = np.where(np.abs(off) < 0.5, np.log1p(np.maximum(off, -0.5)), np.log(y) - np.log(mean))
        found: Floats = norm + k * (ratio - off) - np.log(y)
        return found

    return density


def gamma_shape(gap: float) -> float:
    """Solve ln k - digamma(k) = gap, which lies between 1 / (2 k) and 1 / k; far out by 1 / (2 k) + 1 / (12 k^2)."""
    if gap < 1 / (2 * LARGE):
        return (3 + math.sqrt(9 + 12 * gap)) / (12 * gap)
    return float(optimize.brentq(lambda k: np.log(k) - digamma(k) - gap, 1 / (2 * gap), 1 / gap, xtol=1e-14))


def weibull(x: Floats) -> LogDensity:
    """Fit a Weibull distribution: its shape k solves sum x^k ln x / sum x^k - 1 / k = mean ln x."""
    logs = np.log(x / x.max())  # at most 0, so that no power overflows
    mean = logs.mean()

    def slope(k: float) -> float:
        power = np.exp(k * logs)
        return float((power @ logs) / power.sum() - 1 / k - mean)

    k = optimize.brentq(slope, 1e-3, 1e3 / logs.std())
    scale = x.max() * np.exp(k * logs).mean() ** (1 / k)

    def density(y: Floats) -> Floats:
        with np.errstate(over="ignore"):  # far beyond the others a value has no density: its logarithm is -inf
            found: Floats = stats.weibull_min.logpdf(y, k, scale=scale)
        return found

    return density


def normal(x: Floats) -> LogDensity:
    """Fit a normal distribution, which gives some mass to negative values."""
    return lambda y: stats.norm.logpdf(y, x.mean(), x.std())


def inverse_gaussian(x: Floats) -> LogDensity:
    """Fit an inverse Gaussian: its mean m is the mean, and m^2 / lambda = mean((x - m)^2 / x)."""
    mean = x.mean()
    rate = mean**2 / np.mean((x - mean) ** 2 / x)

    def density(y: Floats) -> Floats:
        found: Floats = np.log(rate / (2 * np.pi * y**3)) / 2 - rate * (y / mean - 1) ** 2 / (2 * y)
        return found

    return density


FAMILIES: Mapping[str, Callable[[Floats], LogDensity]] = {
    "log-normal": lognormal,
    "gamma": gamma,
    "weibull": weibull,
    "normal": normal,
    "inverse-gaussian": inverse_gaussian,
}
"""Each takes values and gives the log density of the fitted distribution, in nats per value."""


def refuse_constant(x: Floats) -> None:
    """Raise where all values are equal: no density fits them."""
    if x.min() == x.max():
        raise InputError(f"all {x.size} values are {x.flat[0]:g}; a density needs values that differ.")
