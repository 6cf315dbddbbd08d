"""Medians of samples in which some values are limits, all bootstrap draws at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["survival_medians"]

Floats = NDArray[np.float64]
STEPS, CLOSE = 300, 1e-5


def membership(values: Floats, side: NDArray[np.int_], ends: tuple[float, float]) -> tuple[Floats, Floats]:
    """Give the points that can hold mass, and which of them each value allows (value, point)."""
    exact = values[side == 0]
    open_ends = [end for end, sign in zip(ends, (-1, 1), strict=True) if (side == sign).any()]
    points = np.unique(np.concatenate([exact, open_ends]))
    same = points == values[:, None]
    below = (points < values[:, None]) | (points == ends[0])
    above = (points > values[:, None]) | (points == ends[1])
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


def survival_medians(values: Floats, side: NDArray[np.int_], weights: Floats, ends: tuple[float, float]) -> Floats:
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
    ends : tuple of float
        Where the median is put if half the units or more lie beyond all that is known.

    Returns
    -------
    float array [draw]

    Notes
    -----
    It assumes that limits arise for reasons that have nothing to do with the value beyond them.

    Examples
    --------
    >>> values, ones = np.array([1.0, 2.0, 3.0, 4.0]), np.ones((1, 4))
    >>> survival_medians(values, np.zeros(4, int), ones, (0, 9)).tolist()
    [2.5]
    >>> survival_medians(values, np.array([0, 1, 1, 1]), ones, (0, 9)).tolist()
    [9.0]
    """
    if side.any():
        points, allowed = membership(values, side, ends)
        shares = self_consistent(allowed, weights)
    else:
        order = np.argsort(values)
        points, shares = values[order], weights[:, order] / weights.sum(1, keepdims=True)
    upto = np.cumsum(shares, 1)
    slack = 1e-3 if side.any() else 1e-9  # the self-consistent shares are near their limit, not at it
    first = (upto < 0.5 - slack).sum(1)
    after = np.minimum((upto <= 0.5 + slack).sum(1), len(points) - 1)
    return np.asarray((points[first] + points[after]) / 2, dtype=np.float64)
