"""Like, unlike, or cannot tell: an effect's draws against a bound that was fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["LIKE", "TELL", "UNLIKE", "beyond_p", "holm", "verdicts"]

LIKE, UNLIKE, TELL = "like", "unlike", "cannot tell"
LEVEL = 0.05

Floats = NDArray[np.float64]


def beyond_p(draws: Floats, bound: float) -> float:
    """Give a two-sided p of the effect lying within the bound, from its bootstrap draws.

    Examples
    --------
    >>> beyond_p(np.full(999, 2.0), 1.0), beyond_p(np.zeros(999), 1.0)
    (0.002, 1.0)
    """
    n = len(draws)
    above = (1 + (draws <= bound).sum()) / (n + 1)
    below = (1 + (draws >= -bound).sum()) / (n + 1)
    return float(min(1.0, 2 * min(above, below)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for being several (Holm 1979): the smallest times their number, and so on, never falling.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted, least = [1.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = round(least, 12)
    return adjusted


def verdicts(draws: Sequence[Floats], bounds: Sequence[float]) -> list[str]:
    """Judge several effects at once.

    "like" where the 90 % interval lies within the bound: two one-sided tests at 5 %, of which each is a claim of its
    own. "unlike" where the effect lies beyond the bound with a p under 5 % after Holm's adjustment over all of them.
    "cannot tell" otherwise.

    Parameters
    ----------
    draws : sequence of float array
        Bootstrap draws of each effect, model minus data.
    bounds : sequence of float
        Of each effect, fixed beforehand.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> verdicts([rng.normal(0, 0.1, 999), rng.normal(3, 0.1, 999), rng.normal(1, 1, 999)], [1, 1, 1])
    ['like', 'unlike', 'cannot tell']
    """
    adjusted = holm([beyond_p(one, bound) for one, bound in zip(draws, bounds, strict=True)])
    found = []
    for one, bound, p in zip(draws, bounds, adjusted, strict=True):
        low, high = np.quantile(one, [0.05, 0.95])
        if -bound < low and high < bound:
            found.append(LIKE)
        else:
            found.append(UNLIKE if p < LEVEL else TELL)
    return found
