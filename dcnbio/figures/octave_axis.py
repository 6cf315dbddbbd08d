"""Ticks of an axis of scales in pixels, which is logarithmic with base 2."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator

__all__ = ["octave_axis", "octave_ticks"]


def octave_ticks(low: float, high: float) -> list[float]:
    """Give round values from low to high: whole octaves, or steps within them where there are few.

    Examples
    --------
    >>> octave_ticks(0.2, 6), octave_ticks(0.5, 1.7), octave_ticks(1.0, 1.8)
    ([0.25, 0.5, 1.0, 2.0, 4.0], [0.5, 0.75, 1.0, 1.5], [1.0, 1.25, 1.5, 1.75])
    >>> octave_ticks(0.91, 1.12)
    [0.95, 1.0, 1.05, 1.1]
    """
    span = math.log2(high / low)
    steps = (1.0,) if span >= 3 else (1.0, 1.5) if span >= 1 else (1.0, 1.25, 1.5, 1.75)
    octaves = range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)
    every = 2 if span > 5 else 1
    found = [step * 2.0**octave for octave in octaves if octave % every == 0 for step in steps]
    shown = inside(found, low, high)
    # within a small part of an octave round numbers are all there is
    if len(shown) > 2:
        return shown
    return inside(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]).tick_values(low, high), low, high)


def inside(values: Iterable[float], low: float, high: float) -> list[float]:
    """Leave those that are from low to high, but for rounding."""
    return [round(float(value), 12) for value in values if low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9)]


def thinned(ticks: list[float], most: int) -> list[float]:
    """Leave every second tick, or fewer, where there are more than `most`; 1 pixel stays.

    Examples
    --------
    >>> thinned([0.25, 0.5, 1.0, 2.0, 4.0], 3), thinned([0.5, 0.75, 1.0, 1.5], 3), thinned([1.0, 2.0], 3)
    ([0.25, 1.0, 4.0], [0.5, 1.0], [1.0, 2.0])
    """
    step = -(-len(ticks) // most)
    first = ticks.index(1.0) % step if 1.0 in ticks else 0
    return ticks[first::step]


def octave_axis(axes: Axes, which: Literal["x", "y"], most: int = 9) -> None:
    """Make an axis one of scales, when everything is drawn in it, with `most` ticks or fewer."""
    if which == "x":
        axes.set_xscale("log", base=2)
    else:
        axes.set_yscale("log", base=2)
    axis: Axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = sorted(axes.get_xlim() if which == "x" else axes.get_ylim())
    ticks = thinned(octave_ticks(low, high), most)
    axis.set_ticks(ticks, [f"{value:g}" for value in ticks])
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
