"""A confidence interval that says how it was made, or why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Interval"]


@dataclass(frozen=True)
class Interval:
    """Limits of an estimate.

    Attributes
    ----------
    low, high : float
        NaN where there is no interval; `reason` then says why.
    level : float
        Coverage that is claimed.
    method : str
        How it was made and over what.
    reason : str
        Why there is none, or why it is a point.

    Examples
    --------
    >>> Interval(1.0, 2.0).to_list(), Interval.none("one network").to_list()
    ([1.0, 2.0], None)
    """

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    reason: str = ""

    @classmethod
    def none(cls, reason: str) -> Interval:
        """Give the interval that does not exist."""
        return cls(math.nan, math.nan, reason=reason)

    @property
    def exists(self) -> bool:
        """Whether there is one."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def to_list(self) -> list[float] | None:
        """Give [low, high] for JSON, None where there is no interval."""
        return [self.low, self.high] if self.exists else None

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high
