"""Like, unlike, or cannot tell: an effect's draws against a bound that was fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.statistics.open_ends import open_percentiles

__all__ = ["LIKE", "TELL", "UNLIKE", "Judged", "beyond_p", "holm_levels", "verdicts"]

LIKE, UNLIKE, TELL = "like", "unlike", "cannot tell"
LEVEL = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """A verdict.

    Attributes
    ----------
    verdict : str
    level : float
        Of the interval that is adjusted for all comparisons by Holm's steps.
    """

    verdict: str
    level: float


def beyond_p(readings: Sequence[Floats], bound: float) -> float:
    """Give a two-sided p of the effect lying within the bound, the largest of all readings on the same side.

    Examples
    --------
    >>> beyond_p([np.full(999, 2.0)], 1.0), beyond_p([np.zeros(999)], 1.0)
    (0.002, 1.0)

    One reading above and one below agree on nothing:

    >>> beyond_p([np.full(999, 2.0), np.full(999, -2.0)], 1.0)
    1.0
    """
    # a draw of which nothing is known (NaN) speaks against both
    above = max((1 + (~(one > bound)).sum()) / (len(one) + 1) for one in readings)
    below = max((1 + (~(one < -bound)).sum()) / (len(one) + 1) for one in readings)
    return float(min(1.0, 2 * min(above, below)))


def holm_levels(p_values: Sequence[float], level: float = LEVEL) -> list[tuple[bool, float]]:
    """Step down through p values (Holm 1979): which are rejected, and the level of each one's interval.

    The smallest p of m is held against level / m, the next against level / (m - 1), and so on to the first that is not
    under it; from there on all intervals have that step's level.

    Examples
    --------
    >>> [rejected for rejected, _ in holm_levels([0.01, 0.04, 0.03])]
    [True, False, False]
    """
    found = [(False, 1 - level)] * len(p_values)
    going = True
    for place, index in enumerate(np.argsort(p_values, kind="stable")):
        if going:
            share = level / (len(p_values) - place)
            going = bool(p_values[index] <= share)
        found[index] = (going, 1 - share)
    return found


def verdicts(effects: Sequence[Sequence[Floats]], bounds: Sequence[float]) -> list[Judged]:
    """Judge several effects at once.

    "like" where the 90 % interval lies within the bound: two one-sided tests at 5 %, of which each is a claim of its
    own. "unlike" where the 95 % interval lies beyond the bound after Holm's adjustment over all of them. "cannot tell"
    otherwise. Each must hold under all readings of an effect.

    Parameters
    ----------
    effects : sequence of sequence of float array
        Of each effect, the draws of every reading, model minus data.
    bounds : sequence of float
        Of each effect, fixed beforehand.

    Returns
    -------
    list of Judged

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> effects = [[rng.normal(0, 0.1, 999)], [rng.normal(3, 0.1, 999)], [rng.normal(1, 1, 999)]]
    >>> [one.verdict for one in verdicts(effects, [1, 1, 1])]
    ['like', 'unlike', 'cannot tell']
    """
    steps = holm_levels([beyond_p(one, bound) for one, bound in zip(effects, bounds, strict=True)])
    found = []
    for readings, bound, (rejected, level) in zip(effects, bounds, steps, strict=True):
        ends = np.array([open_percentiles(one, (0.05, 0.95)) for one in readings])
        if -bound < ends.min() and ends.max() < bound:
            found.append(Judged(LIKE, level))
        else:
            found.append(Judged(UNLIKE if rejected else TELL, level))
    return found
