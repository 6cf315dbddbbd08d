"""Is a sample log-normal? A test that stays valid after the log-normal was fitted to the same sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.crossed_effects import CrossedEffects, crossed_effects
from dcnbio.analysis.statistics.sample import positive_sample
from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["LEAST_N", "GoodnessOfFit", "lognormal_goodness_of_fit"]

LEAST_N = 20


@dataclass(frozen=True)
class GoodnessOfFit:
    """The outcome of a test.

    Attributes
    ----------
    distance : float
        D, the largest distance of the distribution functions of the sample and of the fit.
    p : float
        Share of log-normal samples, fitted alike, with a D as large; NaN where there is no test.
    n, resamples : int
        Values; simulated samples.
    chance : float
        The D that 95 % of log-normal samples, fitted alike, do not exceed: what chance alone makes. NaN where there is
        no test.
    reason : str
        Why there is no test, empty otherwise.
    """

    distance: float
    p: float
    n: int
    resamples: int = 0
    chance: float = math.nan
    reason: str = ""


def fitted_distance(x: Floats) -> float:
    """Give D of ordered values against the normal with their own mean and standard deviation."""
    fitted = ndtr((x - x.mean()) / x.std())
    steps = np.arange(x.size + 1) / x.size
    return max(float(np.max(steps[1:] - fitted)), float(np.max(fitted - steps[:-1])))


def null_effects(logs: Floats) -> CrossedEffects:
    """Say how log-normal samples of the same structure are drawn; only ratios matter, since D is standardised."""
    return crossed_effects(logs) if logs.ndim == 2 else CrossedEffects((1, logs.size), 0.0, 0.0, 1.0)


def lognormal_goodness_of_fit(
    values: ArrayLike, rng: np.random.Generator, resamples: int = 999, name: str = "sigma"
) -> GoodnessOfFit:
    """Test a sample against the log-normal family, its parameters fitted to the sample (Lilliefors' test of ln x).

    D does not depend on mu and s of a log-normal sample, so its null distribution is simulated without parameters.
    p = (1 + number of simulated D at least as large) / (1 + resamples).

    Parameters
    ----------
    values : array, shape (n,) or (rows, columns)
        Positive. One dimension: independent values. Two: filters that share output and input channels; the null then
        has row and column effects of the size found in the sample (parametric bootstrap), since shared channels make
        D larger without any misfit.
    rng : numpy.random.Generator
    resamples : int
        Simulated samples.
    name : str
        What the values are, for messages.

    Returns
    -------
    GoodnessOfFit
        With p = NaN and a reason for under 20 values, or where all are equal.

    Raises
    ------
    InputError
        If values are not positive and finite, or `resamples` is under 19.

    Notes
    -----
    With very many filters any departure is significant: read the size of D against a bound first. The p of
    ``scipy.stats.kstest`` with fitted parameters is far too large.

    References
    ----------
    .. [1] Lilliefors, H. W. (1967). On the Kolmogorov-Smirnov test for normality with mean and variance unknown.
       Journal of the American Statistical Association 62, 399-402. doi:10.1080/01621459.1967.10482916.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> lognormal_goodness_of_fit(rng.uniform(1, 2, size=500), rng, resamples=99).p
    0.01
    >>> lognormal_goodness_of_fit([0.6, 0.6, 0.9, 1.0, 1.1, 1.5], rng).reason
    'n too small (6 of at least 20)'
    """
    count("resamples", resamples, 0)
    if resamples < 19:
        raise InputError(f"resamples is {resamples}; a test at 5 % needs at least 19 (999 is usual).")
    x = positive_sample(values, name)
    if x.min() == x.max():
        return GoodnessOfFit(0.0, math.nan, x.size, reason=f"all {x.size} values are equal")
    logs = np.log(x)
    distance = fitted_distance(np.sort(logs, axis=None))
    if x.size < LEAST_N:
        return GoodnessOfFit(distance, math.nan, x.size, reason=f"n too small ({x.size} of at least {LEAST_N})")
    null = null_effects(logs)
    simulated = np.array([fitted_distance(np.sort(null.simulate(rng), axis=None)) for _ in range(resamples)])
    larger = int(np.sum(simulated >= distance))
    chance = float(np.quantile(simulated, 0.95, method="higher"))
    return GoodnessOfFit(distance, (1 + larger) / (1 + resamples), x.size, resamples, chance)
