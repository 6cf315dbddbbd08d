"""How numbers are written in what the analysis says."""

from __future__ import annotations

from dcnbio.analysis.completion.resampling import Estimate

__all__ = ["limited", "limited_size", "percent", "points", "signed"]


def signed(value: float) -> str:
    """Write a number with its sign, and zero as +0.00.

    Examples
    --------
    >>> signed(-0.001), signed(0.126)
    ('+0.00', '+0.13')
    """
    return f"{round(value, 2) + 0.0:+.2f}"


def limited(one: Estimate) -> str:
    """Write an estimate with its interval, or why there is none."""
    if one.reason:
        return f"not defined ({one.reason})"
    interval = one.interval
    return f"{signed(one.value)}" + (f" ({signed(interval.low)} to {signed(interval.high)})" if interval.exists else "")


def limited_size(one: Estimate) -> str:
    """Write an estimate that cannot be negative with its interval, or why there is none."""
    return limited(one).replace("+", "")


def percent(value: float) -> str:
    """Write a share in per cent, and zero without a sign.

    Examples
    --------
    >>> percent(0.126), percent(-0.001)
    ('13 %', '0 %')
    """
    return f"{round(100 * value):d} %"


def points(one: Estimate) -> str:
    """Write a difference of shares in points, with its interval."""
    if one.reason:
        return f"not defined ({one.reason})"
    interval = one.interval
    limits = f" ({100 * interval.low:+.0f} to {100 * interval.high:+.0f})" if interval.exists else ""
    return f"{100 * one.value + 0.0:+.0f} points{limits}"
