"""A line with its interval: a band of a light tint behind it, or bars where points are few."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from dcnbio.figures.hidden_lines import Dashes
from dcnbio.figures.palette import tint

__all__ = ["aside", "interval_band", "interval_bars"]

Values = npt.ArrayLike
ASIDE = 0.011  # of the axis: the width of a bar's cap


def interval_band(
    axes: Axes, x: Values, y: Values, limits: tuple[Values, Values], shade: str, dashes: Dashes = "-"
) -> None:
    """Draw a line, and behind it the band between its limits where they are known."""
    low, high = (np.asarray(side, dtype=np.float64) for side in limits)
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        at = np.asarray(x, dtype=np.float64)
        axes.fill_between(at, low, high, where=known, color=tint(shade, 0.25), lw=0, zorder=1)
    axes.plot(x, y, ls=dashes, color=shade, zorder=3)


def interval_bars(
    axes: Axes, points: tuple[Values, Values], limits: tuple[Values, Values], shade: str, dashes: Dashes = "-"
) -> None:
    """Draw points joined by a line, with bars to their limits where they are known."""
    low, high = (np.asarray(side, dtype=np.float64) for side in limits)
    x, values = (np.asarray(side, dtype=np.float64) for side in points)
    spread = np.maximum(np.stack([values - low, high - values]), 0)
    axes.plot(x, values, marker="o", ls=dashes, color=shade, zorder=3)
    if np.isfinite(spread).any():
        axes.errorbar(x, values, yerr=spread, fmt="none", color=shade, ecolor=shade, lw=0.8, zorder=2)


def aside(x: Values, place: float, span: tuple[float, float], log: bool) -> npt.NDArray[np.float64]:
    """Move points sideways by a place's share of an axis: bars of several series at one x would hide each other.

    Parameters
    ----------
    x : array
    place : float
        0 in the middle of the series, -1 and 1 beside it.
    span : tuple of float
        Least and largest x.
    log : bool
        Whether the axis is logarithmic.

    Examples
    --------
    >>> aside([0.0, 10.0], 1, (0.0, 10.0), False).round(3).tolist(), aside([1.0], 0, (1.0, 10.0), True).tolist()
    ([0.11, 10.11], [1.0])
    """
    at, shift = np.asarray(x, dtype=np.float64), ASIDE * place
    moved = at * (span[1] / span[0]) ** shift if log else at + shift * (span[1] - span[0])
    return np.asarray(moved, dtype=np.float64)
