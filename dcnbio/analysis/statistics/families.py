"""Distributions of positive values that compete with the log-normal, fitted by maximum likelihood, location at 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy import optimize, stats

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["FAMILIES", "LogDensity"]

LogDensity = Callable[[Floats], Floats]


def lognormal(x: Floats) -> LogDensity:
    """Fit a log-normal."""
    logs = np.log(x)
    return lambda y: stats.lognorm.logpdf(y, logs.std(), scale=np.exp(logs.mean()))


def gamma(x: Floats) -> LogDensity:
    """Fit a gamma distribution."""
    shape, _, scale = stats.gamma.fit(x, floc=0)
    return lambda y: stats.gamma.logpdf(y, shape, scale=scale)


def weibull(x: Floats) -> LogDensity:
    """Fit a Weibull distribution: its shape k solves sum x^k ln x / sum x^k - 1 / k = mean ln x."""
    logs = np.log(x / x.max())  # at most 0, so that no power overflows
    mean = logs.mean()

    def slope(k: float) -> float:
        power = np.exp(k * logs)
        return float((power @ logs) / power.sum() - 1 / k - mean)

    k = optimize.brentq(slope, 1e-3, 1e3 / logs.std())
    scale = x.max() * np.exp(k * logs).mean() ** (1 / k)
    return lambda y: stats.weibull_min.logpdf(y, k, scale=scale)


def normal(x: Floats) -> LogDensity:
    """Fit a normal distribution, which gives some mass to negative values."""
    return lambda y: stats.norm.logpdf(y, x.mean(), x.std())


def inverse_gaussian(x: Floats) -> LogDensity:
    """Fit an inverse Gaussian: its mean is the mean, 1 / lambda = mean(1 / x) - 1 / mean(x)."""
    mean = x.mean()
    rate = 1 / (np.mean(1 / x) - 1 / mean)
    return lambda y: stats.invgauss.logpdf(y, mean / rate, scale=rate)


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
