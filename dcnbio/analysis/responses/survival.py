"""The median of measures some of which are known as limits alone, by Kaplan and Meier's estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcnbio.analysis.statistics.sample import finite_sample
from dcnbio.errors import InputError

__all__ = ["SurvivalMedian", "survival_median"]


@dataclass(frozen=True)
class SurvivalMedian:
    """A median over units.

    Attributes
    ----------
    value : float
        The median, or the largest value known where half of them or more lie beyond (`beyond`).
    n, censored : int
        Values, and how many of them are limits.
    beyond : bool
    """

    value: float
    n: int
    censored: int
    beyond: bool

    def __str__(self) -> str:
        """Write it, as a limit where it is one."""
        return f"{'>' if self.beyond else ''}{self.value:.3g}"


def survival_median(values: ArrayLike, censored: ArrayLike) -> SurvivalMedian:
    """Estimate the median of values, of which some are lower limits.

    Parameters
    ----------
    values : array [n]
        Finite; a censored one is the limit that the truth lies above.
    censored : bool array [n]

    Returns
    -------
    SurvivalMedian

    Raises
    ------
    InputError
        If there are no values, or shapes differ.

    Notes
    -----
    It assumes that units are censored for reasons that have nothing to do with their value beyond the limit.

    References
    ----------
    Kaplan & Meier, J Am Stat Assoc 1958, 53, 457, doi:10.1080/01621459.1958.10501452.

    Examples
    --------
    >>> str(survival_median([1, 2, 3, 4, 5], [False] * 5))
    '3'
    >>> str(survival_median([1, 5, 5, 5], [False, True, True, True]))
    '>5'
    """
    x, limit = finite_sample(values), np.asarray(censored, dtype=bool)
    if limit.shape != x.shape or x.ndim != 1:
        raise InputError(f"censored has shape {limit.shape} for values of shape {x.shape}; give one for each.")
    alive = 1.0
    known = np.unique(x[~limit])
    for i, value in enumerate(known):
        at_risk = int((x >= value).sum())
        alive *= 1 - int((x[~limit] == value).sum()) / at_risk
        if abs(alive - 0.5) < 1e-12 and i + 1 < known.size and not limit[(x >= value) & (x < known[i + 1])].any():
            return SurvivalMedian(float(value + known[i + 1]) / 2, x.size, int(limit.sum()), False)
        if alive <= 0.5 + 1e-12:
            return SurvivalMedian(float(value), x.size, int(limit.sum()), False)
    return SurvivalMedian(float(x.max()), x.size, int(limit.sum()), True)
