"""Orientation tuning: preferred orientation, circular variance, selectivity index and half-width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["OrientationTuning", "orientation_tuning"]

STEP = 0.25  # degrees between the points at which the interpolated curve is read


@dataclass(frozen=True)
class OrientationTuning:
    """Orientation tuning of one unit.

    Attributes
    ----------
    preferred : float
        In degrees, 0 to 180: the peak of the periodic cubic spline through the responses.
    circular_variance : float
        1 - |sum r exp(2 i theta)| / sum r: 0 for one orientation alone, 1 for none preferred.
    selectivity_index : float
        (r_preferred - r_orthogonal) / (r_preferred + r_orthogonal).
    half_width : float
        Half the width in degrees at half the peak's height; 90 where the curve stays above that (`broad`).
    peak : float
        Height of the spline's peak.
    broad : bool
        Whether the half-width is a limit (censored).
    """

    preferred: float
    circular_variance: float
    selectivity_index: float
    half_width: float
    peak: float
    broad: bool


def half_width(angles: Floats, curve: Floats, peak: int) -> tuple[float, bool]:
    """Walk down both sides of the peak to half its height."""
    rolled, half = np.roll(curve, -peak), curve[peak] / 2
    step = angles[1] - angles[0]
    sides = []
    for side in (rolled, np.roll(rolled[::-1], 1)):
        below = np.flatnonzero(side < half)
        if not below.size:
            return 90.0, True
        last = below[0]
        sides.append(step * (last - 1 + (side[last - 1] - half) / (side[last - 1] - side[last])))
    return float(np.mean(sides)), False


def orientation_tuning(orientation: ArrayLike, response: ArrayLike) -> OrientationTuning:
    """Measure the tuning of one unit at its best spatial frequency.

    Parameters
    ----------
    orientation : array [n]
        Degrees, equally spaced over 180.
    response : array [n]
        At least 0, not all 0.

    Returns
    -------
    OrientationTuning

    Raises
    ------
    InputError
        If orientations are not equally spaced over 180 degrees, or nothing responds.

    References
    ----------
    Ringach, Shapley & Hawken, J Neurosci 2002, 22, 5639, doi:10.1523/JNEUROSCI.22-13-05639.2002.

    Examples
    --------
    >>> theta = np.arange(12) * 15.0
    >>> tuned = orientation_tuning(theta, np.cos(np.radians(theta - 40)) ** 2)
    >>> round(tuned.preferred), round(tuned.circular_variance, 3), round(tuned.half_width)
    (40, 0.5, 45)
    """
    theta, r = np.asarray(orientation, dtype=np.float64), np.asarray(response, dtype=np.float64)
    if theta.ndim != 1 or r.shape != theta.shape or theta.size < 4:
        raise InputError(f"response has shape {r.shape} at {theta.shape} orientations; give one for each, at least 4.")
    if not np.allclose(np.diff(theta), 180 / theta.size):
        raise InputError(f"orientations are {theta.tolist()}; give them equally spaced over 180 degrees.")
    if not (np.isfinite(r).all() and r.min() >= 0 and r.max() > 0):
        raise InputError("response is not a set of finite numbers of at least 0, some above; leave silent units out.")
    vector = r @ np.exp(2j * np.radians(theta)) / r.sum()
    spline = CubicSpline(np.append(theta, theta[0] + 180), np.append(r, r[0]), bc_type="periodic")
    angles = theta[0] + np.arange(0, 180, STEP)
    curve = np.maximum(spline(angles), 0)
    best = int(curve.argmax())
    preferred, orthogonal = curve[best], np.roll(curve, -(best + curve.size // 2))[0]
    width, broad = half_width(angles, curve, best)
    index = float((preferred - orthogonal) / (preferred + orthogonal))
    peak, variance = float(curve[best]), float(1 - np.abs(vector))
    return OrientationTuning(float(angles[best] % 180), variance, index, width, peak, broad)
