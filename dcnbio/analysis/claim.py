"""What an analysis says: one number, its n, its interval, the control beside it, and a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from dcnbio.analysis.statistics.interval import Interval

__all__ = ["Claim", "Control", "limit_mark", "limit_word", "word_mark"]


@dataclass(frozen=True)
class Control:
    """What an estimate is to be read against.

    Attributes
    ----------
    name : str
        What it is.
    estimate : float
        NaN where there is none; the name then says why.
    interval : Interval
    limit : int
        1 where all that is known is that it lies above the estimate, -1 below it; else 0.
    """

    name: str
    estimate: float = math.nan
    interval: Interval = field(default_factory=lambda: Interval.none("the control is one number"))
    limit: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON; a number that does not exist is None, a limit is said to be one."""
        said = {"name": self.name, "estimate": finite(self.estimate), "interval": self.interval.to_list()}
        return said | limit_word(self.limit)


@dataclass(frozen=True)
class Claim:
    """One result.

    Attributes
    ----------
    name : str
        What was estimated, with its unit.
    n : int
        Of what: see `unit`.
    unit : str
        The unit of replication: "networks", "filters", "images", ...
    estimate : float
        NaN where it is not defined; the conclusion then says why.
    interval : Interval
        Or why there is none.
    control : Control
    conclusion : str
        One sentence.
    limit : int
        1 where all that is known is that the truth lies above the estimate, -1 below it; else 0.

    Examples
    --------
    >>> Claim("slope", 1, "networks", 0.2, Interval.none("one network"), Control("start", 0.0), "It rises.").to_dict()
    ... # doctest: +NORMALIZE_WHITESPACE
    {'name': 'slope', 'n': 1, 'unit': 'networks', 'estimate': 0.2, 'interval': None, 'interval_method': 'one network',
     'control': {'name': 'start', 'estimate': 0.0, 'interval': None}, 'conclusion': 'It rises.'}
    """

    name: str
    n: int
    unit: str
    estimate: float
    interval: Interval
    control: Control
    conclusion: str
    limit: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON: a number or interval that does not exist is None and the text says why."""
        about = "; ".join(part for part in (self.interval.method, self.interval.reason) if part)
        return {
            "name": self.name,
            "n": self.n,
            "unit": self.unit,
            "estimate": finite(self.estimate),
            "interval": self.interval.to_list(),
            "interval_method": about,
            "control": self.control.to_dict(),
            "conclusion": self.conclusion,
            **limit_word(self.limit),
        }


def limit_word(limit: int) -> dict[str, str]:
    """Give the key that tells of a limit; none where the estimate is no limit.

    Examples
    --------
    >>> limit_word(1), limit_word(0)
    ({'limit': 'lower'}, {})
    """
    return {"limit": "lower" if limit > 0 else "upper"} if limit else {}


def limit_mark(limit: int) -> str:
    """Give the sign that stands before a limit; none where the number is no limit.

    Examples
    --------
    >>> limit_mark(1), limit_mark(-1), limit_mark(0)
    ('>', '<', '')
    """
    return {1: ">", -1: "<"}.get(limit, "")


def word_mark(word: str | None) -> str:
    """Give the sign that stands before a number of which plain values say that it is a limit.

    Parameters
    ----------
    word : str or None
        "lower" or "upper", as `limit_word` writes it; None where the number is no limit.

    Examples
    --------
    >>> word_mark("lower"), word_mark("upper"), word_mark(None)
    ('>', '<', '')
    """
    return {"lower": ">", "upper": "<"}.get(word or "", "")


def finite(value: float) -> float | None:
    """Give a number, or None where it is none."""
    return float(value) if math.isfinite(value) else None
