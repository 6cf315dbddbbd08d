"""Ticks of a logarithmic axis with base 10, some of which stand wherever its limits are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import MaxNLocator, NullFormatter

__all__ = ["decade_axis", "decade_ticks"]


def decade_ticks(low: float, high: float) -> list[float]:
    """Give round values from low to high: decades, or 1, 2 and 5 in them where there are few, or closer ones.

    Examples
    --------
    >>> decade_ticks(0.001, 5), decade_ticks(15, 230), decade_ticks(1e-6, 10)
    ([0.001, 0.01, 0.1, 1.0], [20.0, 50.0, 100.0, 200.0], [1e-06, 0.0001, 0.01, 1.0])
    >>> decade_ticks(26, 85), decade_ticks(32, 47)
    ([30.0, 50.0, 70.0], [35.0, 40.0, 45.0])
    """
    span = math.log10(high / low)
    every = 2 if span > 5 else 1
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # one tick alone gives no scale
    for steps in ((1,) if span >= 2 else (1, 2, 5), (1, 2, 3, 5, 7)):
        found = [float(f"{step}e{exponent}") for exponent in exponents if exponent % every == 0 for step in steps]
        shown = inside(found, low, high)
        if len(shown) > 1:
            return shown
    return inside(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]).tick_values(low, high), low, high)


def inside(values: Iterable[float], low: float, high: float) -> list[float]:
    """Leave those that are from low to high, but for rounding."""
    return [float(value) for value in values if low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9)]


def written(value: float) -> str:
    r"""Write a tick: short numbers as they are, others with powers of ten.

    Examples
    --------
    >>> written(0.01), written(200.0), written(1e-5), written(2e4)
    ('0.01', '200', '$10^{-5}$', '$2 \\times 10^{4}$')
    """
    if 1e-3 <= value < 1e4:
        return f"{value:g}"
    exponent = math.floor(math.log10(value) + 1e-9)
    digits = f"{value / 10**exponent:g}"
    return f"$10^{{{exponent}}}$" if digits == "1" else f"${digits} \\times 10^{{{exponent}}}$"


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
