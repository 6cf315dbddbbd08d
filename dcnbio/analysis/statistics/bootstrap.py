"""What a bootstrap gave: estimates, replicates, and the intervals that are made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["Bootstrap"]

LEAST_CLUSTERS = 6
CALIBRATED = 0.985


@dataclass(frozen=True)
class Bootstrap:
    """Estimates and what resampling made of them.

    Attributes
    ----------
    estimate : array, shape (K,)
    replicates : array, shape (resamples, K)
    shrink : array, shape (K,)
        By what the replicates' deviations are multiplied so that their variance is the estimate's.
    acceleration : array, shape (K,)
        Of the BCa correction.
    shape : tuple of int
        Rows and columns that were resampled.
    """

    estimate: Floats
    replicates: Floats
    shrink: Floats
    acceleration: Floats
    shape: tuple[int, int]

    @property
    def method(self) -> str:
        """How intervals are made, in words."""
        rows, columns = self.shape
        over = f"{rows} output and {columns} input channels" if min(self.shape) > 1 else f"{max(self.shape)} units"
        return f"{'two-way cluster ' * (min(self.shape) > 1)}bootstrap over {over}, {len(self.replicates)} resamples"

    def spread(self, k: int = 0) -> Floats:
        """Give replicates of statistic k with the estimate's spread, centred on it; undefined ones are left out.

        Replicates lie lower than the estimate by as much as it lies lower than the truth (a standard deviation of few
        clusters is too small), so they are centred; and few clusters give their own spread roughly, as in Student's t.
        """
        drawn: Floats = self.replicates[np.isfinite(self.replicates[:, k]), k]
        if not drawn.size or float(np.ptp(drawn)) == 0:
            return drawn
        wider = float(stdtrit(self.clusters - 1, 0.975) / ndtri(0.975)) if self.clusters > 1 else 1.0
        corrected: Floats = self.estimate[k] + wider * self.shrink[k] * (drawn - drawn.mean())
        return corrected

    @property
    def clusters(self) -> int:
        """Rows or columns, whichever are fewer."""
        return min((size for size in self.shape if size > 1), default=1)

    def interval(self, k: int = 0, level: float = 0.95) -> Interval:
        """Give the interval of statistic k between percentiles of `spread`, or why there is none.

        It covers 93 to 98 % for mean, spread and L-moments of log-normals on 32 x 33 channels where shared channels
        make up to a third of the variance; 91 % for the spread where they make over a half.
        """
        return self._limits(k, self.spread(k), level, ((1 - level) / 2, (1 + level) / 2), self.method)

    def tail_interval(self, k: int = 0) -> Interval:
        """Give a 95 % interval of a statistic that the tail decides, such as the skewness of sigma.

        It is the BCa interval (Efron 1987, doi:10.1080/01621459.1987.10478410) taken at 98.5 %, since at 95 % it
        covers 88 to 94 % for log-normals of s = 0.46 on 32 x 33 to 64 x 65 channels; so it covers 93 to 98 %.
        """
        centre = float(np.mean(self.replicates[:, k] < self.estimate[k]))
        lift = float(ndtri(min(max(centre, 1e-4), 1 - 1e-4)))
        z = lift + ndtri(np.array([1 - CALIBRATED, 1 + CALIBRATED]) / 2)
        low, high = ndtr(lift + z / (1 - self.acceleration[k] * z))
        drawn = self.estimate[k] + self.shrink[k] * (self.replicates[:, k] - self.estimate[k])
        return self._limits(k, drawn, 0.95, (float(low), float(high)), f"calibrated BCa, {self.method}")

    def upper(self, k: int = 0, level: float = 0.95) -> Interval:
        """Give a one-sided upper limit of a distance, with 0 as the lower, from the replicates as they are.

        Resampling adds its own noise to a distance, on top of that which the estimate has: the limit is cautious.
        """
        return self._limits(k, self.replicates[:, k], level, (None, level), f"upper limit, {self.method}")

    def _limits(self, k: int, drawn: Floats, level: float, at: tuple[float | None, float], method: str) -> Interval:
        value = float(self.estimate[k])
        if not math.isfinite(value):
            return Interval.none("the statistic is not defined here")
        if self.clusters < LEAST_CLUSTERS:
            return Interval.none(f"{self.clusters} clusters are too few to resample (at least {LEAST_CLUSTERS})")
        drawn = drawn[np.isfinite(drawn)]
        if drawn.size < 0.9 * len(self.replicates):
            return Interval.none(f"{len(self.replicates) - drawn.size} of {len(self.replicates)} resamples have none")
        if float(np.ptp(drawn)) == 0:
            return Interval(value, value, level, method, "all resamples are equal")
        low = 0.0 if at[0] is None else float(np.quantile(drawn, at[0]))
        return Interval(low, float(np.quantile(drawn, at[1])), level, method)
