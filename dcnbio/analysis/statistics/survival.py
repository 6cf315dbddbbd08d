"""Medians of samples in which some values are limits, all bootstrap draws at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["median_with_limits", "survival_medians"]

Floats = NDArray[np.float64]
Sides = NDArray[np.int_]
STEPS, CLOSE = 300, 1e-5


def product_limit(values: Floats, above: NDArray[np.bool_], weights: Floats) -> tuple[Floats, Floats]:
    """Give points and their shares (draw, point) by Kaplan and Meier's estimate, for limits that lie all above.

    What is left after the last value lies at infinity. At a tie values come before limits.
    """
    order = np.lexsort((above, values))
    drawn = weights[:, order]
    at_risk = np.cumsum(drawn[:, ::-1], 1)[:, ::-1]
    falls = np.where(above[order], 0.0, drawn) / np.where(at_risk > 0, at_risk, 1.0)
    alive = np.cumprod(1 - falls, 1)
    before = np.concatenate([np.ones((len(drawn), 1)), alive[:, :-1]], 1)
    known = ~above[order]
    shares = np.concatenate([(before - alive)[:, known], alive[:, -1:]], 1)
    return np.append(values[order][known], np.inf), shares


def membership(values: Floats, side: Sides) -> tuple[Floats, Floats]:
    """Give the points that can hold mass, and which of them each value allows (value, point)."""
    points = np.concatenate([[-np.inf], np.unique(values[side == 0]), [np.inf]])
    same, below, above = points == values[:, None], points < values[:, None], points > values[:, None]
    allowed = np.where((side == 0)[:, None], same, np.where((side < 0)[:, None], below, above))
    return points, allowed.astype(np.float64)


def self_consistent(allowed: Floats, weights: Floats) -> Floats:
    """Share the weight of each limit over the points that it allows as the rest is shared, until nothing moves."""
    total = weights.sum(1, keepdims=True)
    shares: Floats = weights @ (allowed / allowed.sum(1, keepdims=True)) / total
    for _ in range(STEPS):
        before = shares
        shares = np.asarray(shares * ((weights / np.maximum(shares @ allowed.T, 1e-300)) @ allowed) / total)
        if np.abs(shares - before).max() < CLOSE:
            break
    return shares


def middles(points: Floats, shares: Floats, slack: float) -> Floats:
    """Give the mean of the two middle points; infinite if one of them is, NaN if they are on either side."""
    upto = np.cumsum(shares, 1)
    first = (upto < 0.5 - slack).sum(1)
    after = np.minimum((upto <= 0.5 + slack).sum(1), len(points) - 1)
    with np.errstate(invalid="ignore"):
        return np.asarray((points[np.minimum(first, after)] + points[after]) / 2, dtype=np.float64)


def survival_medians(values: Floats, side: Sides, weights: Floats) -> Floats:
    """Estimate medians of weighted samples by the self-consistent estimate.

    It is Kaplan and Meier's where all limits lie on one side (1958, doi:10.1080/01621459.1958.10501452), and Turnbull's
    where they lie on both (1974, doi:10.1080/01621459.1974.10480146).

    Parameters
    ----------
    values : float array [unit]
        A value, or the limit of it.
    side : int array [unit]
        0 where it is the value; 1 where the truth lies above; -1 where it lies below.
    weights : float array [draw, unit]

    Returns
    -------
    float array [draw]
        The mean of the two middle points. Mass beyond all that is known lies at -inf or inf, so a median of which one
        middle point is there is infinite: a limit alone. NaN where one lies at -inf and one at inf.

    Notes
    -----
    It assumes that limits arise for reasons that have nothing to do with the value beyond them.

    Examples
    --------
    >>> values, ones = np.array([1.0, 2.0, 3.0, 4.0]), np.ones((1, 4))
    >>> survival_medians(values, np.zeros(4, int), ones).tolist()
    [2.5]
    >>> survival_medians(values, np.array([0, 0, 1, 1]), ones).tolist()
    [inf]
    """
    if (side > 0).any() and (side < 0).any():
        # the self-consistent shares are near their limit, not at it
        points, allowed = membership(values, side)
        return middles(points, self_consistent(allowed, weights), 1e-3)
    mirrored = -1.0 if (side < 0).any() else 1.0
    return mirrored * middles(*product_limit(mirrored * values, side != 0, weights), 1e-9)


def median_with_limits(values: Floats, sides: Sides) -> tuple[float, int]:
    """Give the median of values, some of which are limits, and on which side of it the truth lies if it is one.

    It is one if one of its two middle points lies beyond all that is known. Then the median of values and limits as
    they stand is a bound of it, limits on the other side taken as infinite.

    Parameters
    ----------
    values : array [unit]
        Finite.
    sides : int array [unit]
        0 where a value is known; 1 where the truth lies above, -1 below.

    Returns
    -------
    float
        NaN where nothing is known of it.
    int
        0 where the median is known or nothing is; 1 where the truth lies above, -1 where it lies below.

    Examples
    --------
    >>> median_with_limits(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0, 1, 0, 0, 0]))
    (4.0, 0)
    >>> median_with_limits(np.array([1.0, 5.0, 6.0, 7.0]), np.array([0, 1, 1, 1]))
    (5.5, 1)
    >>> median_with_limits(np.array([1.0, 2.0, 5.0, 6.0]), np.array([0, 0, 1, 1]))
    (3.5, 1)
    """
    median = float(survival_medians(values, sides, np.ones((1, values.size)))[0])
    if not np.isinf(median):
        return median, 0
    beyond = 1 if median > 0 else -1
    with np.errstate(invalid="ignore"):
        bound = float(np.median(np.where(sides == -beyond, -median, values)))
    return (bound, beyond) if np.isfinite(bound) else (float("nan"), 0)
