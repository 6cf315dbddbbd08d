"""Medians over the units of one network, with an interval over units and bounds for what is not known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control, limit_mark
from dcnbio.analysis.responses.limits import Sides, limit_sides
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.open_ends import percentile_interval
from dcnbio.analysis.statistics.survival import median_with_limits, survival_medians

__all__ = [
    "UnitMedian",
    "difference_of_medians",
    "median_of_values",
    "unit_median",
    "unresponsive",
]

RESAMPLES = 1999
LEAST = 6
LIMIT = "a median is a limit: half the units or more lie beyond all that is known"


@dataclass(frozen=True)
class UnitMedian:
    """A median over units.

    Attributes
    ----------
    value : float
        Limits taken as limits (Kaplan and Meier's estimate, Turnbull's where they lie on both sides). Where half the
        units or more lie beyond all that is known, the median of values and limits as they stand, which the truth
        lies beyond (`beyond`). NaN where no unit has the measure, or nothing is known of the median.
    interval : Interval
        Bootstrap over units of this network: it says nothing of other networks. None where the value is a limit, and
        where an end lies beyond all that is known: its reason then gives the other end.
    n, missing, censored : int
        Units with the measure, without it, and with a limit alone.
    bounds : tuple of float
        Medians that are possible if the units without the measure, and those that do not respond, had any value at
        all, and those with a limit any value beyond it.
    unresponsive : int
        Units with the measure that respond with less than a stated share of the others, whose values say little.
    beyond : int
        1 where all that is known of the median is that it lies above `value`, -1 below it; else 0.
    """

    value: float
    interval: Interval
    n: int
    missing: int
    censored: int
    bounds: tuple[float, float]
    unresponsive: int = 0
    beyond: int = 0

    def __str__(self) -> str:
        """Write the median in three digits, as a limit where it is one."""
        return limit_mark(self.beyond) + f"{self.value:.3g}" if np.isfinite(self.value) else "not known"

    def control(self, name: str) -> Control:
        """Set the median beside an estimate, as a limit where it is one."""
        return Control(name, self.value, self.interval, self.beyond)

    def claim(self, name: str, control: Control, sentence: str) -> Claim:
        """State the median, as a limit where it is one; the sentence is without its full stop, and may hold the median.

        What is not known of some units is added to it.
        """
        text = f"{sentence} ({self.caveat})." if self.caveat else f"{sentence}."
        return Claim(name, self.n, "units of one network", self.value, self.interval, control, text, self.beyond)

    @property
    def uncertain(self) -> bool:
        """Whether something is not known of some unit."""
        return bool(self.censored or self.missing or self.unresponsive)

    @property
    def caveat(self) -> str:
        """What to bear in mind, in words; empty if nothing."""
        counts = {"with a limit alone": self.censored, "without it": self.missing, "unresponsive": self.unresponsive}
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        if not said:
            return ""
        low, high = (f"{b:.3g}" if np.isfinite(b) else "anything" for b in self.bounds)
        return f"of {self.n + self.missing} units {said}, with which the median lies from {low} to {high}"


def possible_medians(values: Floats, sides: Sides, doubted: NDArray[np.bool_]) -> tuple[float, float]:
    """Give the least and the largest median that units could have, of whom some are known by half or not at all."""
    found = []
    for end, open_side in ((-np.inf, -1), (np.inf, 1)):
        open_ended = ~np.isfinite(values) | doubted | (sides == open_side)
        ordered = np.sort(np.where(open_ended, end, values))
        low, high = ordered[(values.size - 1) // 2], ordered[values.size // 2]
        found.append(float((low + high) / 2) if np.isfinite([low, high]).all() else float(end))
    return found[0], found[1]


def median_of_values(
    values: Floats, rng: np.random.Generator, sides: Sides | None = None, silent: NDArray[np.bool_] | None = None
) -> UnitMedian:
    """Take the median of what is finite.

    Parameters
    ----------
    values : array [unit]
        NaN where a unit does not have it.
    rng : numpy.random.Generator
    sides : int array [unit], optional
        1 where a value is a lower limit, -1 where it is an upper one, else 0.
    silent : bool array [unit], optional
        Which units do not respond. Their values count in the median; the bounds let them be anything.

    Returns
    -------
    UnitMedian

    Notes
    -----
    It misleads where units are limits for reasons that go with their value beyond the limit, which the estimate assumes
    not to be so; the bounds assume nothing.

    Examples
    --------
    >>> found = median_of_values(np.array([1.0, 2.0, 3.0, np.nan]), np.random.default_rng(0))
    >>> found.value, found.missing, found.bounds
    (2.0, 1, (1.5, 2.5))
    """
    has = np.isfinite(values)
    known, missing = values[has], int((~has).sum())
    side = np.zeros(values.shape, dtype=int) if sides is None else np.where(has, sides, 0)
    doubted = np.zeros(values.shape, dtype=bool) if silent is None else silent & has
    if not known.size:
        return UnitMedian(float("nan"), Interval.none("no unit has the measure"), 0, missing, 0, (np.nan, np.nan))
    median, beyond = median_with_limits(known, side[has])
    if beyond or np.isnan(median):
        interval = Interval.none(LIMIT)
    elif known.size < LEAST:
        interval = Interval.none(f"{known.size} units are too few to resample (at least {LEAST})")
    else:
        drawn = resampled_medians(known, side[has], rng)
        interval = percentile_interval(drawn, "percentile bootstrap over units of this network")
    possible = possible_medians(values, side, doubted)
    counts = int(known.size), missing, int((side != 0).sum())
    return UnitMedian(median, interval, *counts, possible, int(doubted.sum()), beyond)


def resampled_medians(known: Floats, side: Sides, rng: np.random.Generator) -> Floats:
    """Draw units with replacement, and take the median of each draw; infinite where a middle unit is not known."""
    if not side.any():
        found: Floats = np.median(known[rng.integers(0, known.size, (RESAMPLES, known.size))], axis=1)
        return found
    weights = rng.multinomial(known.size, np.full(known.size, 1 / known.size), RESAMPLES).astype(np.float64)
    return survival_medians(known, side, weights)


def unresponsive(measures: xr.Dataset) -> NDArray[np.bool_] | None:
    """Say which units do not respond; None where that is not known.

    Parameters
    ----------
    measures : xarray.Dataset
        Along ``unit``, from `measure_units`.

    Returns
    -------
    bool array, shape (unit,), or None
    """
    if "responsive" not in measures:
        return None
    silent: NDArray[np.bool_] = ~measures["responsive"].values.astype(bool)
    return silent


def unit_median(measures: xr.Dataset, name: str, rng: np.random.Generator) -> UnitMedian:
    """Take the median of a measure over all units of a network that have it, responsive or not.

    Parameters
    ----------
    measures : xarray.Dataset
        Along ``unit``, from `measure_units`.
    name : str
        The measure.
    rng : numpy.random.Generator
        Of the bootstrap over units.

    Returns
    -------
    UnitMedian
        In the measure's own unit.
    """
    values = measures[name].values.astype(np.float64)
    return median_of_values(values, rng, limit_sides(measures, name), unresponsive(measures))


def difference_of_medians(
    a: Floats, b: Floats, rng: np.random.Generator, sides: tuple[Sides | None, Sides | None] = (None, None)
) -> tuple[float, Interval]:
    """Give the median of a minus that of b, with an interval over the units of both, drawn independently.

    Parameters
    ----------
    a, b : array [unit]
        Of two networks, NaN where a unit does not have it.
    rng : numpy.random.Generator
    sides : two int arrays [unit] or None
        Of a and of b: 1 where a value is a lower limit, -1 where it is an upper one, else 0.

    Returns
    -------
    float
        NaN where one of them has no unit, or is a limit.
    Interval
        Over units: it says nothing of other networks of either kind. None where an end lies beyond all that is known.

    Examples
    --------
    >>> difference_of_medians(np.arange(9.0) + 5, np.arange(9.0), np.random.default_rng(0))[0]
    5.0
    """
    known = []
    for values, side in zip((a, b), sides, strict=True):
        has = np.isfinite(values)
        known.append((values[has], np.zeros(int(has.sum()), dtype=int) if side is None else side[has]))
    if not all(values.size for values, _ in known):
        return float("nan"), Interval.none("no unit of one of the networks has the measure")
    (first, beyond), (second, beyond_second) = (median_with_limits(*one) for one in known)
    if beyond or beyond_second or np.isnan(first - second):
        return float("nan"), Interval.none(LIMIT)
    if min(values.size for values, _ in known) < LEAST:
        return first - second, Interval.none(f"too few units to resample (at least {LEAST} of each network)")
    drawn = [resampled_medians(*one, rng) for one in known]
    with np.errstate(invalid="ignore"):
        differences = drawn[0] - drawn[1]  # NaN, not known, where both lie beyond all that is known
    return first - second, percentile_interval(differences, "percentile bootstrap over units of both networks")
