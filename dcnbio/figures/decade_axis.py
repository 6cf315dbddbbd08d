"""Ticks of a logarithmic axis with base 10, some of which stand wherever its limits are."""

from __future__ import annotations

import math
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import NullFormatter

__all__ = ["decade_axis", "decade_ticks"]


def decade_ticks(low: float, high: float) -> list[float]:
    """Give round values from low to high: decades, or 1, 2 and 5 in them where there are few.

    Examples
    --------
    >>> decade_ticks(0.001, 5), decade_ticks(15, 230), decade_ticks(1e-6, 10)
    ([0.001, 0.01, 0.1, 1.0], [20.0, 50.0, 100.0, 200.0], [1e-06, 0.0001, 0.01, 1.0])
    """
    span = math.log10(high / low)
    steps = (1, 2, 5) if span < 2 else (1,)
    every = 2 if span > 5 else 1
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{step}e{exponent}") for exponent in exponents if exponent % every == 0 for step in steps]
    return [value for value in found if low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9)]


def written(value: float) -> str:
    """Write a tick: short numbers as they are, others as powers of ten.

    Examples
    --------
    >>> written(0.01), written(200.0), written(1e-5)
    ('0.01', '200', '$10^{-5}$')
    """
    return f"{value:g}" if 1e-3 <= value < 1e4 else f"$10^{{{round(math.log10(value))}}}$"


def decade_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, when everything is drawn in it."""
    if which == "x":
        axes.set_xscale("log")
    else:
        axes.set_yscale("log")
    axis: Axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = sorted(axes.get_xlim() if which == "x" else axes.get_ylim())
    ticks = decade_ticks(low, high)
    axis.set_ticks(ticks, [written(value) for value in ticks])
    axis.set_minor_formatter(NullFormatter())
