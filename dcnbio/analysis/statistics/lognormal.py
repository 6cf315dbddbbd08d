"""The two-parameter log-normal: its maximum-likelihood fit and its densities per pixel and per unit of log sigma."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.sample import positive_sample

__all__ = ["LogNormal", "fit_lognormal"]


@dataclass(frozen=True)
class LogNormal:
    """A log-normal distribution with its location fixed at 0: ln x ~ N(mu, s).

    Attributes
    ----------
    mu, s : float
        Mean and standard deviation of ln x (natural logarithm).
    n : int
        Values it was fitted to; 0 where it is given and not fitted.
    degenerate : bool
        All values were equal, so that s = 0 and there is no density.

    Examples
    --------
    >>> round(LogNormal(0, 2 / 3 * 0.6931471805599453).skewness, 3)
    1.58
    """

    mu: float
    s: float
    n: int = 0
    degenerate: bool = False

    @property
    def median(self) -> float:
        """Median, in the unit of the values."""
        return math.exp(self.mu)

    @property
    def octaves(self) -> float:
        """Standard deviation of log2 x."""
        return self.s / math.log(2)

    @property
    def skewness(self) -> float:
        """Skewness of x: (exp(s^2) + 2) sqrt(exp(s^2) - 1); it grows with s alone."""
        spread = math.exp(self.s**2)
        return (spread + 2) * math.sqrt(spread - 1)

    def cdf(self, x: ArrayLike) -> Floats:
        """Give the distribution function at positive `x`; a step where the fit is degenerate."""
        logs = np.log(positive_sample(x, "x"))
        below: Floats = (logs >= self.mu).astype(np.float64) if self.degenerate else ndtr((logs - self.mu) / self.s)
        return below

    def density_per_log(self, log_x: ArrayLike) -> Floats:
        """Give the density per unit of ln x at `log_x`, which is what a histogram over ln x is drawn with.

        Its area over ln x is 1 and its peak lies at mu. The density per unit of x has its peak at exp(mu - s^2): put
        on a logarithmic axis it seems shifted against the bars.

        Examples
        --------
        >>> round(float(LogNormal(0.0, 1.0).density_per_log(0.0)), 4)
        0.3989
        """
        if self.degenerate:
            raise ZeroDivisionError("a degenerate log-normal (s = 0) has no density; draw a line at its median.")
        z = (np.asarray(log_x, dtype=np.float64) - self.mu) / self.s
        density: Floats = np.exp(-(z**2) / 2) / (self.s * math.sqrt(2 * math.pi))
        return density


def fit_lognormal(values: ArrayLike, name: str = "sigma") -> LogNormal:
    """Fit a log-normal by maximum likelihood, with location fixed at 0.

    mu = mean(ln x), s^2 = mean((ln x - mu)^2), divided by n (not n - 1).

    Parameters
    ----------
    values : array, any shape
        Positive.
    name : str
        What they are, for messages.

    Returns
    -------
    LogNormal
        With s = 0 and ``degenerate`` where all values are equal.

    Raises
    ------
    InputError
        If there are no values, or some are not positive and finite.

    Notes
    -----
    A fit with a free location (the default of ``scipy.stats.lognorm.fit``) answers another question: data near
    N(2, 0.2) give it a location of -10.7 and s = 0.014.

    Examples
    --------
    >>> fit = fit_lognormal([0.5, 1, 2])
    >>> round(fit.mu, 12), round(fit.s, 6)
    (0.0, 0.565952)
    """
    array = positive_sample(values, name)
    logs = np.log(array)
    if array.min() == array.max():
        return LogNormal(float(logs.flat[0]), 0.0, array.size, degenerate=True)
    return LogNormal(float(logs.mean()), float(logs.std()), array.size)
