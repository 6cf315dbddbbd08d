"""A line with its interval: a band of a light tint behind it, or bars where points are few."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from dcnbio.figures.palette import tint

__all__ = ["interval_band", "interval_bars"]

Values = npt.ArrayLike


def interval_band(axes: Axes, x: Values, y: Values, limits: tuple[Values, Values], shade: str) -> None:
    """Draw a line, and behind it the band between its limits where they are known."""
    low, high = (np.asarray(side, dtype=np.float64) for side in limits)
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        at = np.asarray(x, dtype=np.float64)
        axes.fill_between(at, low, high, where=known, color=tint(shade, 0.25), lw=0, zorder=1)
    axes.plot(x, y, color=shade, zorder=3)


def interval_bars(axes: Axes, x: Values, y: Values, limits: tuple[Values, Values], shade: str) -> None:
    """Draw points joined by a line, with bars to their limits where they are known."""
    low, high = (np.asarray(side, dtype=np.float64) for side in limits)
    values = np.asarray(y, dtype=np.float64)
    spread = np.maximum(np.stack([values - low, high - values]), 0)
    axes.plot(x, values, "o-", color=shade, zorder=3)
    if np.isfinite(spread).any():
        axes.errorbar(x, values, yerr=spread, fmt="none", color=shade, ecolor=shade, lw=0.8, zorder=2)
