"""Medians over the units of one network, with an interval over units and bounds for those that do not respond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.responses.measure_names import CENSORED
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["UnitMedian", "difference_of_medians", "median_of_values", "unit_median", "unresponsive"]

RESAMPLES = 1999
LEAST = 6


@dataclass(frozen=True)
class UnitMedian:
    """A median over units.

    Attributes
    ----------
    value : float
        NaN where no unit has the measure.
    interval : Interval
        Bootstrap over units of this network: it says nothing of other networks.
    n, missing, censored : int
        Units with the measure, without it, and with a limit alone (which counts as its limit).
    bounds : tuple of float
        Medians that are possible if the units without the measure, and those that do not respond, had any value at
        all.
    unresponsive : int
        Units with the measure that respond with less than a stated share of the others, whose values say little.
    """

    value: float
    interval: Interval
    n: int
    missing: int
    censored: int
    bounds: tuple[float, float]
    unresponsive: int = 0

    @property
    def caveat(self) -> str:
        """What to bear in mind, in words; empty if nothing."""
        parts = []
        if self.censored:
            parts.append(f"{self.censored} of {self.n} are limits")
        if self.missing or self.unresponsive:
            low, high = (f"{b:.3g}" if np.isfinite(b) else "anything" for b in self.bounds)
            counts = {"without it": self.missing, "unresponsive": self.unresponsive}
            both = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
            parts.append(f"{both}, with which the median lies from {low} to {high}")
        return "; ".join(parts)


def median_of_values(
    values: Floats, rng: np.random.Generator, censored: int = 0, silent: NDArray[np.bool_] | None = None
) -> UnitMedian:
    """Take the median of what is finite.

    Parameters
    ----------
    values : array [unit]
        NaN where a unit does not have it.
    rng : numpy.random.Generator
    censored : int
        How many of the values are limits.
    silent : bool array [unit], optional
        Which units do not respond. Their values count in the median; the bounds let them be anything.

    Returns
    -------
    UnitMedian

    Examples
    --------
    >>> found = median_of_values(np.array([1.0, 2.0, 3.0, np.nan]), np.random.default_rng(0))
    >>> found.value, found.missing, found.bounds
    (2.0, 1, (1.5, 2.5))
    """
    has = np.isfinite(values)
    known, missing = values[has], int((~has).sum())
    doubted = np.zeros(values.shape, dtype=bool) if silent is None else silent & has
    if not known.size:
        return UnitMedian(float("nan"), Interval.none("no unit has the measure"), 0, missing, 0, (np.nan, np.nan))
    bounds = []
    for end in (-np.inf, np.inf):
        ordered = np.sort(np.where(has & ~doubted, values, end))
        low, high = ordered[(values.size - 1) // 2], ordered[values.size // 2]
        bounds.append(float((low + high) / 2) if np.isfinite([low, high]).all() else float(end))
    if known.size < LEAST:
        interval = Interval.none(f"{known.size} units are too few to resample (at least {LEAST})")
    else:
        drawn = np.median(known[rng.integers(0, known.size, (RESAMPLES, known.size))], axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        interval = Interval(float(low), float(high), 0.95, "percentile bootstrap over units of this network")
    possible = (bounds[0], bounds[1])
    return UnitMedian(
        float(np.median(known)), interval, int(known.size), missing, censored, possible, int(doubted.sum())
    )


def unresponsive(measures: xr.Dataset) -> NDArray[np.bool_] | None:
    """Say which units do not respond; None where that is not known."""
    if "responsive" not in measures:
        return None
    silent: NDArray[np.bool_] = ~measures["responsive"].values.astype(bool)
    return silent


def unit_median(measures: xr.Dataset, name: str, rng: np.random.Generator) -> UnitMedian:
    """Take the median of a measure over all units of a network that have it, responsive or not."""
    values = measures[name].values
    flag = f"censored_{name}"
    censored = int((measures[flag].values & np.isfinite(values)).sum()) if name in CENSORED and flag in measures else 0
    return median_of_values(values, rng, censored, unresponsive(measures))


def difference_of_medians(a: Floats, b: Floats, rng: np.random.Generator) -> tuple[float, Interval]:
    """Give the median of a minus that of b, with an interval over the units of both, drawn independently.

    Parameters
    ----------
    a, b : array [unit]
        Of two networks, NaN where a unit does not have it.
    rng : numpy.random.Generator

    Returns
    -------
    float
        NaN where one of them has no unit.
    Interval
        Over units: it says nothing of other networks of either kind.

    Examples
    --------
    >>> difference_of_medians(np.arange(9.0) + 5, np.arange(9.0), np.random.default_rng(0))[0]
    5.0
    """
    known = [values[np.isfinite(values)] for values in (a, b)]
    if not all(values.size for values in known):
        return float("nan"), Interval.none("no unit of one of the networks has the measure")
    difference = float(np.median(known[0]) - np.median(known[1]))
    if min(values.size for values in known) < LEAST:
        return difference, Interval.none(f"too few units to resample (at least {LEAST} of each network)")
    drawn = [np.median(v[rng.integers(0, v.size, (RESAMPLES, v.size))], axis=1) for v in known]
    low, high = np.quantile(drawn[0] - drawn[1], [0.025, 0.975])
    return difference, Interval(float(low), float(high), 0.95, "percentile bootstrap over units of both networks")
