"""Timing of a response: when it peaks, when it has risen halfway, and how often it changes sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from dcnbio.errors import InputError

__all__ = ["Timing", "timing"]

POINTS = 4000
NOISE = 0.01  # of the largest magnitude below which a sign does not count


@dataclass(frozen=True)
class Timing:
    """Timing of one unit's response to one stimulus, in solver time.

    Attributes
    ----------
    peak_time : float
        When r is largest.
    half_rise_time : float
        When r first is half its peak; 0 where the initial state is above that already.
    sign_reversals : int
        How often the signal minus the blank's changes sign.
    peak : float
    at_end : bool
        Whether r is largest at the last time and may go on rising (the peak time is censored).
    risen_at_start : bool
        Whether r begins above half its peak (the half-rise time is censored).
    """

    peak_time: float
    half_rise_time: float
    sign_reversals: int
    peak: float
    at_end: bool
    risen_at_start: bool


def timing(time: ArrayLike, excess: ArrayLike) -> Timing:
    """Measure the timing of r(t) = max(0, excess(t)).

    Parameters
    ----------
    time : array [n]
        Solver time, ascending, at least 4.
    excess : array [n]
        Signal minus the blank's, above 0 somewhere.

    Returns
    -------
    Timing

    Raises
    ------
    InputError
        If times are too few or do not rise, or the signal never exceeds the blank's.

    Notes
    -----
    The stimulus is the state at t = 0: a latency counts from there, and there is no onset, sustained part or offset.

    Examples
    --------
    >>> t = np.linspace(0, 4, 21)
    >>> found = timing(t, t * np.exp(-t))
    >>> round(found.peak_time, 2), round(found.half_rise_time, 2), found.sign_reversals
    (1.0, 0.23, 0)
    """
    t, values = np.asarray(time, dtype=np.float64), np.asarray(excess, dtype=np.float64)
    if t.ndim != 1 or values.shape != t.shape or t.size < 4 or not (np.diff(t) > 0).all():
        raise InputError(f"times are {t.tolist()} for a signal of shape {values.shape}; give one each, 4 or more.")
    if not np.isfinite(values).all() or values.max() <= 0:
        raise InputError("excess is nowhere above 0, or not finite; a silent unit has no timing.")
    fine = np.linspace(t[0], t[-1], POINTS)
    curve = CubicSpline(t, values)(fine)
    best = int(curve.argmax())
    half = curve[best] / 2
    i = int(np.flatnonzero(curve >= half)[0])
    rise = fine[i] if i == 0 else fine[i - 1] + (fine[1] - fine[0]) * (half - curve[i - 1]) / (curve[i] - curve[i - 1])
    clear = curve[np.abs(curve) > NOISE * np.abs(curve).max()]
    reversals = int((np.diff(np.sign(clear)) != 0).sum())
    return Timing(float(fine[best]), float(rise), reversals, float(curve[best]), best == POINTS - 1, i == 0)
