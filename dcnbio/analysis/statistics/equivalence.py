"""Is a misfit small enough to be ignored? The size of an effect against a stated bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcnbio.analysis.statistics.interval import Interval

__all__ = ["LOGNORMAL_BOUND", "Equivalence", "equivalence"]

LOGNORMAL_BOUND = 0.02
"""A distribution is called log-normal where no share of filters under any scale differs by 0.02 from the fit's."""

Verdict = Literal["within", "beyond", "cannot tell"]


@dataclass(frozen=True)
class Equivalence:
    """A distance, what it is compared with, and the verdict.

    Attributes
    ----------
    distance : float
    limits : Interval
        Its lower and upper limit.
    bound : float
    verdict : {"within", "beyond", "cannot tell"}
    """

    distance: float
    limits: Interval
    bound: float
    verdict: Verdict


def equivalence(distance: float, limits: Interval, bound: float = LOGNORMAL_BOUND) -> Equivalence:
    """Judge a distance against a bound.

    "within": its upper limit is under the bound. "beyond": its lower limit is over it. Otherwise: cannot tell. The
    estimate itself decides nothing, since a distance is never under 0 and its estimate is biased upwards.

    Parameters
    ----------
    distance : float
        For instance D of a sample and its fitted log-normal.
    limits : Interval
        Lower and upper limit, each at 95 %; see `misfit_limits`.
    bound : float

    Examples
    --------
    >>> equivalence(0.005, Interval(0, 0.015)).verdict, equivalence(0.05, Interval(0.03, 0.08)).verdict
    ('within', 'beyond')
    >>> equivalence(0.03, Interval(0.01, 0.05)).verdict
    'cannot tell'
    """
    verdict: Verdict = "cannot tell"
    if limits.exists and limits.high < bound:
        verdict = "within"
    elif limits.exists and limits.low > bound:
        verdict = "beyond"
    return Equivalence(distance, limits, bound, verdict)
