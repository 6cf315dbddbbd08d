"""Estimates of a population's statistic and their bootstrap draws, corrected for what few units do to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from dcnbio.analysis.primate.censored_slope import censored_slopes
from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.statistic import STATISTICS, skewness, skewness_error, spread, spread_error
from dcnbio.analysis.statistics.survival import median_with_limits, survival_medians

__all__ = ["DRAWS", "at_ends", "corrected", "estimate", "sample_draws", "stated", "unit_draws"]

DRAWS = 3999

Floats = NDArray[np.float64]


def widening(n: int) -> float:
    """Give by how much the spread of n units' resamples falls short of Student's t."""
    return float(stdtrit(n - 1, 0.975) / ndtri(0.975)) * math.sqrt(n / (n - 1))


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
    return np.asarray(value + widening(n) * (draws - draws.mean()), dtype=np.float64)


@dataclass(frozen=True)
class Studentised:
    """A statistic whose standard error is known on a scale of its own.

    Attributes
    ----------
    statistic, error : callable
        Along the last axis; the error is that on the scale.
    to, back : callable
        To the scale on which its distribution is nearest to symmetric, and back.
    wider : float
        By how much intervals are widened beyond Student's t, found on simulated samples of 24 and 32.
    """

    statistic: Callable[[Floats], Floats]
    error: Callable[[Floats], Floats]
    to: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    wider: float = 1.0


# without the factor a skewness at the bound was called like in 7 to 8 % of simulated samples
STUDENTISED = {
    "sd": Studentised(spread, spread_error, np.log, np.exp),
    "skewness": Studentised(skewness, skewness_error, np.arcsinh, np.sinh, 1.15),
}


def studentised_draws(kind: Studentised, values: Floats, samples: Floats) -> Floats:
    """Draw where a statistic may lie, each draw's deviation over its own standard error.

    A sample that is narrow, or symmetric, by chance also gives itself a narrow interval; this takes that away.
    """
    n = len(values)
    value, error = kind.statistic(values), float(kind.error(values))
    if np.ptp(values) == 0 or error <= 0:
        return np.full(len(samples), float(value))
    errors = kind.error(samples)
    usable = (np.ptp(samples, axis=-1) > 0) & (errors > 1e-3 * error)
    t = np.zeros(len(samples))
    t[usable] = (kind.to(kind.statistic(samples[usable])) - kind.to(value)) / errors[usable]
    return np.asarray(kind.back(kind.to(value) - kind.wider * widening(n) * error * t), dtype=np.float64)


def sample_draws(statistic: str, values: Floats, samples: Floats) -> Floats:
    """Turn resamples, (draw, value), into draws of where the statistic of a population may lie.

    Parameters
    ----------
    statistic : str
        One of `STATISTICS`.
    values : float array [value]
    samples : float array [draw, value]
    """
    if statistic in STUDENTISED:
        return studentised_draws(STUDENTISED[statistic], values, samples)
    function = STATISTICS[statistic]
    found = function(samples)
    # percentiles of resampled medians are order statistics, which cover as they are; the end of a range stays there
    return found if statistic == "median" else corrected(float(function(values)), found, values.shape[-1])


def weighted(statistic: str, units: Units, weights: Floats) -> Floats:
    """Give medians or slopes that take limits as limits; a median beyond all that is known is infinite."""
    if statistic == "median":
        return survival_medians(units.values, units.side, weights)
    return censored_slopes(units.values[0], units.values[1], units.side, weights)


def estimate(statistic: str, units: Units) -> float:
    """Estimate a statistic of the units that have a value or a limit.

    Medians and slopes take limits as limits; a median beyond all that is known is infinite. In other statistics a
    limit counts as it stands.

    Examples
    --------
    >>> estimate("median", Units(np.array([1.0, 2.0, 9.0]), np.array([0, 0, 1]), 0, ends=(0, 9)))
    2.0
    """
    if statistic in ("median", "slope"):
        return float(weighted(statistic, units, np.ones((1, units.known)))[0])
    return float(STATISTICS[statistic](units.values))


def stated(statistic: str, units: Units) -> tuple[float, int]:
    """Give a statistic as it is stated, and on which side of it the truth lies where it is a median that is a limit.

    A median is one where a middle unit lies beyond all that is known: then values and limits as they stand give it.

    Examples
    --------
    >>> stated("median", Units(np.array([1.0, 5.0, 6.0]), np.array([0, 1, 1]), 0, ends=(0, 9)))
    (5.0, 1)
    """
    return median_with_limits(units.values, units.side) if statistic == "median" else (estimate(statistic, units), 0)


def at_ends(statistic: str, units: Units) -> float:
    """Estimate a statistic, a median beyond all that is known put at the end of what can be found.

    Examples
    --------
    >>> at_ends("median", Units(np.array([1.0, 5.0, 6.0]), np.array([0, 1, 1]), 0, ends=(0, 9)))
    9.0
    """
    value = estimate(statistic, units)
    return float(np.clip(value, *units.ends)) if math.isinf(value) else value


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
        Infinite where a median lies beyond all that is known.
    """
    n = units.known
    if statistic in ("median", "slope"):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)
        found = weighted(statistic, units, weights)
        return found if statistic == "median" else corrected(estimate(statistic, units), found, n)
    return sample_draws(statistic, units.values, units.values[rng.integers(0, n, (draws, n))])
