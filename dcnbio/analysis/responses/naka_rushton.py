"""Contrast response: fits of Naka and Rushton's function with bounds, counted when they fail."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["LEAST_R_SQUARED", "NakaRushton", "fit_naka_rushton", "naka_rushton"]

EXPONENTS = (0.1, 10.0)
HALF_CONTRASTS = (1e-3, 10.0)
STARTS = tuple((c50, n) for c50 in (0.05, 0.2, 0.6) for n in (1.0, 3.0))
LEAST_R_SQUARED = 0.9
TOUCHING = 1e-3  # relative distance from a bound at which a parameter is at it


@dataclass(frozen=True)
class NakaRushton:
    """A fitted contrast response.

    Attributes
    ----------
    r_max : float
        Rise above the baseline at infinite contrast.
    c50 : float
        Contrast of half that rise; outside the contrasts shown it is an extrapolation (`extrapolated`).
    exponent : float
    baseline : float
    r_squared : float
        Share of the responses' variance that the curve explains.
    at_bound : bool
        Whether the exponent is at a bound of the fit: the parameters are then no estimates.
    outside : int
        1 where c50 lies above the contrasts shown, -1 where it lies below them, else 0.
    ends : tuple of float
        The lowest and the highest contrast shown.
    failed : str
        Why there is no fit; an empty string where there is.

    Notes
    -----
    One rule says what can be read of a fit (`read`), for all that is made of its parameters. They are estimates where
    R2 is above 0.9 and the exponent is off its bounds, from 0.1 to 10. c50 is then a limit, the end of the contrasts
    shown, where it lies outside them, and r_max, exponent and baseline are none, since a response that does not
    saturate gives r_max and c50 as one number. An exponent at its bound is a step or a flat line: c50 of a step lies
    between two contrasts shown, but it is not read either. R2 is always read: it says how well the function fits.
    """

    r_max: float
    c50: float
    exponent: float
    baseline: float
    r_squared: float
    at_bound: bool = False
    outside: int = 0
    ends: tuple[float, float] = (0.0, math.inf)
    failed: str = ""

    @classmethod
    def none(cls, reason: str) -> NakaRushton:
        """Give the fit that does not exist."""
        none = float("nan")
        return cls(none, none, none, none, none, failed=reason)

    @property
    def extrapolated(self) -> bool:
        """Whether c50 lies outside the contrasts shown."""
        return self.outside != 0

    @property
    def described(self) -> bool:
        """Whether the function describes the responses: R2 above 0.9, the exponent off its bounds."""
        return not self.failed and self.r_squared > LEAST_R_SQUARED and not self.at_bound

    def read(self, part: str) -> float:
        """Give a parameter where it is an estimate, c50 as a limit where it is one; else NaN.

        Parameters
        ----------
        part : str
            "r_max", "c50", "exponent", "baseline" or "r_squared".

        Examples
        --------
        >>> good = NakaRushton(1.0, 2.0, 1.5, 0.0, 0.99, outside=1, ends=(0.1, 1.0))
        >>> good.read("c50"), good.read("exponent"), good.read("r_squared")
        (1.0, nan, 0.99)
        """
        if part == "r_squared":
            return self.r_squared
        if not self.described:
            return float("nan")
        if not self.extrapolated:
            return float(getattr(self, part))
        return self.ends[self.outside > 0] if part == "c50" else float("nan")

    @property
    def c50_is_limit(self) -> bool:
        """Whether c50, of a fit that describes the responses, lies outside the contrasts shown."""
        return self.described and self.extrapolated


def naka_rushton(contrast: ArrayLike, r_max: float, c50: float, exponent: float, baseline: float) -> Floats:
    """Evaluate b + r_max c^n / (c^n + c50^n).

    Parameters
    ----------
    contrast : array_like
        Contrasts c from 0, of any shape.
    r_max, baseline : float
        Largest response above the baseline b, and b (1).
    c50 : float
        Contrast of half the rise (semi-saturation).
    exponent : float
        n (1).

    Returns
    -------
    float array, same shape as contrast

    References
    ----------
    .. [1] Naka, K. I. and Rushton, W. A. H. (1966). S-potentials from colour units in the retina of fish (Cyprinidae).
       J. Physiol. 185, 536-555. doi:10.1113/jphysiol.1966.sp008001.

    Examples
    --------
    >>> float(naka_rushton(0.2, 10.0, 0.2, 2.0, 1.0))
    6.0
    """
    c = np.asarray(contrast, dtype=np.float64)
    share: Floats = 1 / (1 + (c50 / np.maximum(c, 1e-12)) ** exponent)
    return baseline + r_max * share


def fit_naka_rushton(contrast: ArrayLike, response: ArrayLike) -> NakaRushton:
    """Fit Naka and Rushton's function by least squares from several starts.

    Parameters
    ----------
    contrast : array [n]
        Above 0, at least 5 different.
    response : array [n]

    Returns
    -------
    NakaRushton
        With `failed` where the responses do not vary with contrast.

    Raises
    ------
    InputError
        If contrasts are too few for four parameters, or values are not finite.

    Notes
    -----
    r_max is at least 0, so that a response that falls with contrast fits badly: R2 says so. The exponent lies between
    0.1 and 10, c50 between 0.001 and 10. It misleads where responses do not saturate: r_max and c50 are then one
    number, and c50 lies `outside`. What can be read of a fit is said by `NakaRushton.read`.

    References
    ----------
    Naka & Rushton, J Physiol 1966, 185, 536, doi:10.1113/jphysiol.1966.sp008001.
    Albrecht & Hamilton, J Neurophysiol 1982, 48, 217, doi:10.1152/jn.1982.48.1.217.

    Examples
    --------
    >>> c = np.geomspace(0.02, 1, 9)
    >>> found = fit_naka_rushton(c, naka_rushton(c, 10.0, 0.2, 2.0, 1.0))
    >>> round(found.r_max, 3), round(found.c50, 3), round(found.exponent, 3), round(found.baseline, 3)
    (10.0, 0.2, 2.0, 1.0)
    """
    c, r = np.asarray(contrast, dtype=np.float64), np.asarray(response, dtype=np.float64)
    if c.shape != r.shape or c.ndim != 1 or np.unique(c).size < 5 or c.min() <= 0:
        raise InputError(f"contrasts are {c.tolist()} for responses of shape {r.shape}; give at least 5 above 0.")
    if not (np.isfinite(c).all() and np.isfinite(r).all()):
        raise InputError("contrast or response has a number that is not finite; leave that stimulus out.")
    spread = float(np.ptp(r))
    if spread <= 1e-9 * max(1.0, float(np.abs(r).max())):
        return NakaRushton.none("the response does not vary with contrast")
    scaled = (r - r.min()) / spread

    def misfit(p: Floats) -> Floats:
        left: Floats = naka_rushton(c, p[0], 2 ** p[1], 2 ** p[2], p[3]) - scaled
        return left

    limits = np.log2([HALF_CONTRASTS, EXPONENTS]).T
    bounds = ([0.0, *limits[0], -1.0], [100.0, *limits[1], 1.0])
    fits = [
        least_squares(misfit, [1.2, np.log2(c50), np.log2(n), 0.0], bounds=bounds, x_scale=[1, 1, 1, 0.3])
        for c50, n in STARTS
    ]
    best = min(fits, key=lambda fit: float(fit.cost))
    r_max, c50, exponent, baseline = best.x[0], 2 ** best.x[1], 2 ** best.x[2], best.x[3]
    low, high = float(c.min()), float(c.max())
    return NakaRushton(
        r_max=float(r_max * spread),
        c50=float(c50),
        exponent=float(exponent),
        baseline=float(baseline * spread + r.min()),
        r_squared=float(1 - 2 * best.cost / ((scaled - scaled.mean()) ** 2).sum()),
        at_bound=any(abs(math.log2(exponent / end)) < TOUCHING for end in EXPONENTS),
        outside=1 if c50 > high else -1 if c50 < low else 0,
        ends=(low, high),
    )
