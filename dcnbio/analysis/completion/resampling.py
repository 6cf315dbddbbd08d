"""Bootstrap over images, for numbers that are functions of means over them; paired where the images are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.bootstrap import Bootstrap
from dcnbio.analysis.statistics.cluster_bootstrap import two_way_bootstrap
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.moment_statistic import MomentStatistic
from dcnbio.analysis.statistics.paired_difference import paired_difference

__all__ = ["Estimate", "Resampler", "undefined"]


@dataclass(frozen=True)
class Estimate:
    """A number, its interval over images, how many images made it, and why it is none where it is none.

    Attributes
    ----------
    value : float
        NaN where it is not defined; `reason` then says why.
    interval : Interval
    n : int
        Images.
    excluded : int
        Images that were left out.
    reason : str
    """

    value: float
    interval: Interval
    n: int
    excluded: int = 0
    reason: str = ""

    @property
    def above_zero(self) -> bool:
        """Whether the interval lies above 0."""
        return self.interval.exists and self.interval.low > 0


def undefined(reason: str, excluded: int = 0) -> Estimate:
    """Give the estimate that does not exist, with its reason.

    Examples
    --------
    >>> undefined("no image is changed").reason
    'no image is changed'
    """
    return Estimate(float("nan"), Interval.none(reason), 0, excluded, reason)


@dataclass(frozen=True)
class Resampler:
    """Makes intervals over images; every one starts from the same seed, so that they do not depend on their order.

    Attributes
    ----------
    seed : int
    resamples : int

    Examples
    --------
    >>> found = Resampler(0, 199).estimate([np.arange(20.0)], lambda means: means)
    >>> found.value, found.n, found.interval.low < 9.5 < found.interval.high
    (9.5, 20, True)
    """

    seed: int = 0
    resamples: int = 1999
    level: float = field(default=0.95)

    def estimate(self, columns: Sequence[Floats], combine: Callable[[Floats], Floats], excluded: int = 0) -> Estimate:
        """Give a function of means over images, with its interval.

        Parameters
        ----------
        columns : sequence of array [image]
            What is averaged; an image is resampled in all of them together.
        combine : callable
            From the means, shape (F, b), to one statistic, shape (1, b).
        excluded : int
            Images that were left out before.
        """
        grid = np.stack([np.asarray(column, dtype=np.float64)[None] for column in columns])
        found: Bootstrap = two_way_bootstrap(
            MomentStatistic(grid, combine), np.random.default_rng(self.seed), self.resamples
        )
        value, n = float(found.estimate[0]), grid.shape[2]
        if not np.isfinite(value):
            return undefined("the quotient has no finite value", excluded)
        return Estimate(value, found.interval(0, self.level), n, excluded)

    def paired(self, first: Floats, second: Floats) -> Estimate:
        """Give the mean of first minus second, of what is right (1) or wrong (0) of the same images.

        Resampling images says of a change that none of few images shows that it is surely none, so Agresti and Min's
        interval is taken; shares in between, of averaged placements, are resampled.
        """
        if not all(np.isin(column, (0.0, 1.0)).all() for column in (first, second)):
            return self.mean(first - second)
        found = paired_difference(first == 1, second == 1, self.level)
        return Estimate(found.value, found.interval, found.n)

    def mean(self, column: Floats) -> Estimate:
        """Give a mean over images."""
        return self.estimate([column], lambda means: means)
