"""Evaluations at equal error: what contrast saves beside what a looser tolerance saves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.errors import InputError

__all__ = ["EqualError", "equal_error_ratio"]

LEAST_IMAGES = 6
TINY = 1e-12  # below it an error is that of rounding
DIGITS = 9  # of a ratio: means of whole numbers in other orders differ by rounding


@dataclass(frozen=True)
class EqualError:
    """Evaluations against those of a looser tolerance with the same error.

    Attributes
    ----------
    ratio : float
        1: the saving is that of a looser tolerance; above 1: a looser tolerance takes fewer.
    error : float
        Geometric mean over images.
    interval : Interval
    side : str
        "between" where the error lies within those of the tolerances tried; "above" where even the loosest errs less,
        so that the ratio is a lower limit; "below" where even the tightest errs more.
    """

    ratio: float
    error: float
    interval: Interval
    side: str


def at_error(errors: Floats, evaluations: Floats, wanted: Floats) -> Floats:
    """Interpolate the fewest evaluations at log errors, rows of (b, k) at (b,); beyond the ends it stays at the last.

    A long step may err less than a shorter one, so a tolerance that takes more evaluations than another and errs more
    is passed over.
    """
    order = np.argsort(errors, axis=1)
    rising = np.take_along_axis(errors, order, axis=1)
    fewest = np.minimum.accumulate(np.take_along_axis(evaluations, order, axis=1), axis=1)
    return np.array([np.interp(w, r, e) for w, r, e in zip(wanted, rising, fewest, strict=True)])


def equal_error_ratio(
    loose: tuple[Floats, Floats], scaled: tuple[Floats, Floats], rng: np.random.Generator, resamples: int = 1999
) -> EqualError:
    """Divide mean evaluations by those that a looser tolerance takes at the same geometric mean error.

    Parameters
    ----------
    loose : (errors, evaluations), each of shape (k, n)
        At contrast 1 and k tolerances, on n images.
    scaled : (errors, evaluations), each of shape (n,)
        Of what is compared, on the same images.
    rng : numpy Generator
    resamples : int
        Of the bootstrap over images: percentiles, widened for few images.

    Returns
    -------
    EqualError

    Raises
    ------
    InputError
        If shapes do not fit.

    Notes
    -----
    Evaluations lie between those of the tolerances tried by straight lines over log error; a tolerance that errs more
    than another and takes no fewer is passed over.

    Examples
    --------
    >>> errors, work = np.array([[1e-3], [1e-2], [1e-1]]), np.array([[60.0], [40.0], [20.0]])
    >>> equal_error_ratio((errors, work), (np.array([1e-2]), np.array([40.0])), np.random.default_rng(0)).ratio
    1.0
    """
    errors, work = np.log(np.maximum(loose[0], TINY)), np.asarray(loose[1], dtype=np.float64)
    own, taken = np.log(np.maximum(scaled[0], TINY)), np.asarray(scaled[1], dtype=np.float64)
    if errors.shape != work.shape or own.shape != taken.shape or errors.shape[1:] != own.shape or not own.size:
        raise InputError(f"errors have the shapes {errors.shape} and {own.shape}; give (k, n) and (n,), n at least 1.")
    n = own.size

    def ratios(weights: Floats) -> Floats:
        expected = at_error(weights @ errors.T, weights @ work.T, weights @ own)
        found: Floats = np.round(weights @ taken / expected, DIGITS)
        return found

    equal = np.full((1, n), 1 / n)
    curve, error = equal @ errors.T, float((equal @ own)[0])
    side = "above" if error > curve.max() else "below" if error < curve.min() else "between"
    ratio = float(ratios(equal)[0])
    if n < LEAST_IMAGES:
        interval = Interval.none(f"{n} images are too few to resample (at least {LEAST_IMAGES})")
    else:
        interval = widened(ratio, ratios(rng.multinomial(n, np.full(n, 1 / n), size=resamples) / n), n)
    return EqualError(ratio, float(np.exp(error)), interval, side)


def widened(ratio: float, drawn: Floats, n: int) -> Interval:
    """Give the percentiles of resamples of n images, widened about the ratio, or say that they have no width."""
    ends = np.quantile(drawn, [0.025, 0.975])
    if ends[0] == ends[1]:
        return Interval.none(f"the resamples of {n} images give the same, so nothing is known of their spread")
    # few images give their own spread roughly, and resamples spread less than samples: as in Student's t
    wider = float(stdtrit(n - 1, 0.975) / ndtri(0.975)) * math.sqrt(n / (n - 1))
    low, high = ratio + wider * (ends - ratio)
    return Interval(float(low), float(high), 0.95, f"bootstrap over {n} images, {len(drawn)} resamples")
