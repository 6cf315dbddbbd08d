"""Estimates of a population's statistic and their bootstrap draws, corrected for what few units do to them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from dcnbio.analysis.primate.censored_slope import censored_slopes
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.statistic import STATISTICS, spread, spread_error
from dcnbio.analysis.primate.survival import survival_medians

__all__ = ["DRAWS", "corrected", "estimate", "sample_draws", "unit_draws"]

DRAWS = 3999

Floats = NDArray[np.float64]


def corrected(value: float, draws: Floats, n: int) -> Floats:
    """Centre draws on the estimate and widen them as Student's t of n units is wider than the normal.

    Draws lie lower than the estimate by as much as it lies lower than the truth (a standard deviation of few units is
    too small), and spread less than it does.

    Examples
    --------
    >>> found = corrected(1.0, np.array([0.8, 1.0, 0.9]), 32)
    >>> round(float(found.mean()), 9), bool(np.ptp(found) > 0.2)
    (1.0, True)
    """
    wider = float(stdtrit(n - 1, 0.975) / ndtri(0.975)) * math.sqrt(n / (n - 1))
    return np.asarray(value + wider * (draws - draws.mean()), dtype=np.float64)


def spread_draws(values: Floats, samples: Floats) -> Floats:
    """Draw where the standard deviation may lie, studentised on a log scale.

    A sample that is narrow by chance also gives itself a narrow interval; dividing each draw's deviation by its own
    standard error takes that away.
    """
    n = len(values)
    value, error = float(spread(values)), float(spread_error(values))
    if value <= 0 or error <= 0:
        return np.full(len(samples), value)
    found, errors = spread(samples), spread_error(samples)
    usable = (found > 0) & (errors > 1e-3 * error)
    t = np.zeros(len(samples))
    t[usable] = (np.log(found[usable]) - math.log(value)) / errors[usable]
    wider = float(stdtrit(n - 1, 0.975) / ndtri(0.975)) * math.sqrt(n / (n - 1))
    return np.asarray(value * np.exp(-wider * error * t), dtype=np.float64)


def sample_draws(statistic: str, values: Floats, samples: Floats) -> Floats:
    """Turn resamples, (draw, value), into draws of where the statistic of a population may lie.

    Parameters
    ----------
    statistic : str
        One of `STATISTICS`.
    values : float array [value]
    samples : float array [draw, value]
    """
    if statistic == "sd":
        return spread_draws(values, samples)
    function = STATISTICS[statistic]
    found = function(samples)
    # percentiles of resampled medians are order statistics, which cover as they are; the end of a range stays there
    return found if statistic == "median" else corrected(float(function(values)), found, values.shape[-1])


def weighted(statistic: str, units: Units, weights: Floats) -> Floats:
    """Give medians or slopes that take limits as limits."""
    if statistic == "median":
        return survival_medians(units.values, units.side, weights, units.ends)
    return censored_slopes(units.values[0], units.values[1], units.side, weights)


def estimate(statistic: str, units: Units) -> float:
    """Estimate a statistic of the units that have a value or a limit.

    Medians and slopes take limits as limits. In other statistics a limit counts as it stands.

    Examples
    --------
    >>> estimate("median", Units(np.array([1.0, 2.0, 9.0]), np.array([0, 0, 1]), 0, ends=(0, 9)))
    2.0
    """
    if statistic in ("median", "slope"):
        return float(weighted(statistic, units, np.ones((1, units.known)))[0])
    return float(STATISTICS[statistic](units.values))


def unit_draws(statistic: str, units: Units, rng: np.random.Generator, draws: int = DRAWS) -> Floats:
    """Resample units and draw where the statistic of their population may lie.

    Parameters
    ----------
    statistic : str
    units : Units
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    float array [draw]
    """
    n = units.known
    if statistic in ("median", "slope"):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)
        found = weighted(statistic, units, weights)
        return found if statistic == "median" else corrected(estimate(statistic, units), found, n)
    return sample_draws(statistic, units.values, units.values[rng.integers(0, n, (draws, n))])
