"""Percentiles and intervals of draws some of which lie beyond all that is known."""

from __future__ import annotations

import numpy as np

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["OPEN", "closed", "open_percentiles", "percentile_interval"]

OPEN = "lies beyond all that is known"


def open_percentiles(drawn: Floats, shares: tuple[float, float]) -> tuple[float, float]:
    """Give the lower and the upper percentile of draws, of which some are infinite or not known.

    Between finite draws they are interpolated, as by numpy. Beside an infinite one each is the draw farther out: no
    number lies between a finite and an infinite one. A draw that is not known (NaN) counts as the lowest for the lower
    percentile and as the highest for the upper one, so that the interval holds under all it could be.

    Parameters
    ----------
    drawn : float array [draw]
    shares : tuple of float
        Of the lower and the upper percentile, in [0, 1].

    Examples
    --------
    >>> open_percentiles(np.array([1.0, 2.0, 3.0, np.inf]), (0.5, 0.75))
    (2.5, inf)
    >>> open_percentiles(np.array([1.0, 2.0, np.nan]), (0.25, 0.5))
    (-inf, 2.0)
    """
    low, high = (
        one_percentile(np.sort(np.where(np.isnan(drawn), unknown, drawn)), share, outwards)
        for unknown, share, outwards in zip((-np.inf, np.inf), shares, (np.floor, np.ceil), strict=True)
    )
    return low, high


def one_percentile(ordered: Floats, share: float, outwards: np.ufunc) -> float:
    """Interpolate between two finite draws, or take the one that lies outwards."""
    place = share * (ordered.size - 1)
    below, above = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
    if np.isfinite(below) and np.isfinite(above):
        return float(below + (above - below) * (place - np.floor(place)))
    return float(ordered[int(outwards(place))])


def closed(low: float, high: float) -> tuple[bool, str]:
    """Say whether an interval has both ends; if not, which it lacks and what the other is.

    Examples
    --------
    >>> closed(11.5, float("inf"))
    (False, 'its upper end lies beyond all that is known; from 11.5')
    """
    if np.isfinite(low) and np.isfinite(high):
        return True, ""
    if np.isfinite(low):
        return False, f"its upper end {OPEN}; from {low:.3g}"
    return False, f"its lower end {OPEN}; up to {high:.3g}" if np.isfinite(high) else f"either end {OPEN}"


def percentile_interval(drawn: Floats, method: str, level: float = 0.95) -> Interval:
    """Give the interval between percentiles of draws, or the words for what it lacks.

    Parameters
    ----------
    drawn : float array [draw]
        inf or -inf where a draw lies beyond all that is known, NaN where nothing is known of it.
    method : str
    level : float

    Returns
    -------
    Interval
        None where an end is infinite: its reason then gives the other end in words.

    Examples
    --------
    >>> [round(end, 9) for end in percentile_interval(np.arange(41.0), "bootstrap").to_list()]
    [1.0, 39.0]
    >>> percentile_interval(np.r_[np.arange(39.0), np.inf, np.inf], "bootstrap").reason
    'its upper end lies beyond all that is known; from 1'
    """
    low, high = open_percentiles(drawn, ((1 - level) / 2, (1 + level) / 2))
    both, reason = closed(low, high)
    return Interval(low, high, level, method) if both else Interval.none(reason)
