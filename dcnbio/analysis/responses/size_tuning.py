"""Size tuning: summation field, surround diameter and suppression by a larger grating."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from dcnbio.errors import InputError

__all__ = ["SizeTuning", "size_tuning"]

NEAR = 0.05  # of the peak, or of what the largest grating leaves, that counts as having reached it
LEAST_SUPPRESSION = 0.1  # of the peak up to which there is no surround, as in the published cells
ROUNDING = 1e-9  # of the peak: an interpolated 0 may come out above it
POINTS = 2000


@dataclass(frozen=True)
class SizeTuning:
    """Size tuning of one unit.

    Attributes
    ----------
    summation : float
        Diameter in pixels at which the response reaches 95 % of its peak.
    surround : float
        Diameter in pixels, beyond the peak's, at which the response has come within 5 % of that to the largest; NaN
        where the largest suppresses by 10 % or less.
    suppression_index : float
        (peak - response at the largest diameter) / peak.
    peak : float
    still_growing : bool
        Whether the peak is at the largest diameter (the summation field is censored).
    falling_at_start : bool
        Whether the smallest diameter is within 5 % of the peak already (the summation field is an upper limit).
    still_falling : bool
        Whether suppression ends within the last interval of diameters, so may go on (the surround is censored).
    """

    summation: float
    surround: float
    suppression_index: float
    peak: float
    still_growing: bool
    still_falling: bool
    falling_at_start: bool

    @property
    def summation_censored(self) -> bool:
        """Whether the summation field is a limit, from above or below."""
        return self.still_growing or self.falling_at_start

    @property
    def ratio(self) -> float:
        """Surround over summation diameter."""
        return self.surround / self.summation


def size_tuning(diameter: ArrayLike, response: ArrayLike) -> SizeTuning:
    """Measure the size tuning of one unit, without a model of it: a monotone interpolation is read.

    Parameters
    ----------
    diameter : array [n]
        Pixels, ascending, at least 4.
    response : array [n]
        At least 0, not all 0.

    Returns
    -------
    SizeTuning

    Raises
    ------
    InputError
        If there are too few diameters, they do not rise, or nothing responds.

    Notes
    -----
    The cuts at 95 % of the peak and at 105 % of the asymptote, and the least suppression, are those of the published
    cells as Marques and others (2021) apply them to models; Cavanaugh and others read them from a fitted ratio of
    Gaussians, here a monotone interpolation is read. It misleads where a response oscillates with diameter.

    References
    ----------
    Cavanaugh, Bair & Movshon, J Neurophysiol 2002, 88, 2530, doi:10.1152/jn.00692.2001.
    Marques, Schrimpf & DiCarlo, bioRxiv 2021, doi:10.1101/2021.03.01.433495.

    Examples
    --------
    >>> d = np.array([1, 2, 4, 6, 8, 12, 16, 24, 32.0])
    >>> tuned = size_tuning(d, np.where(d < 6, d / 6, 0.5 + 3 / d))
    >>> round(tuned.summation, 1), round(tuned.suppression_index, 2), tuned.still_growing
    (5.4, 0.41, False)
    """
    d, r = np.asarray(diameter, dtype=np.float64), np.asarray(response, dtype=np.float64)
    if d.ndim != 1 or r.shape != d.shape or d.size < 4 or not (np.diff(d) > 0).all():
        raise InputError(f"diameters are {d.tolist()} for responses of shape {r.shape}; give one each, 4 or more.")
    if not (np.isfinite(r).all() and r.min() >= 0 and r.max() > 0):
        raise InputError("response is not a set of finite numbers of at least 0, some above; leave silent units out.")
    fine = np.linspace(d[0], d[-1], POINTS)
    curve = PchipInterpolator(d, r)(fine)
    best = int(curve.argmax())
    peak, end = float(curve[best]), float(r[-1])
    summation = fine[np.flatnonzero(curve >= (1 - NEAR) * peak)[0]]
    index = (peak - end) / peak
    surround, falling = float("nan"), False
    if index > LEAST_SUPPRESSION:
        reached = np.flatnonzero(curve[best:] <= max((1 + NEAR) * end, ROUNDING * peak))
        surround = float(fine[best + reached[0]])
        falling = surround > d[-2]
    edges = bool(best == POINTS - 1), bool(falling), bool(summation == fine[0])
    return SizeTuning(float(summation), surround, float(index), peak, *edges)
