"""How far from normal a grid of values is, with upper limits that are clustered by rows and columns."""

from __future__ import annotations

import numpy as np

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.bootstrap import Bootstrap
from dcnbio.analysis.statistics.cluster_bootstrap import two_way_bootstrap
from dcnbio.analysis.statistics.moment_statistic import mean_statistic
from dcnbio.analysis.statistics.ordered_statistic import NormalMisfit, OrderedGrid

__all__ = ["misfit_bootstrap"]

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)


def kept_share(grid: Floats, rng: np.random.Generator, base: Floats | None) -> float:
    """Give how much of each weighting is kept, so that shares of values under a level vary as they should."""
    below = [(grid <= np.quantile(grid, p)).astype(np.float64) for p in LEVELS]
    return float(two_way_bootstrap(mean_statistic(*below, base=base), rng, 999).shrink.max())


def misfit_bootstrap(
    grid: Floats, rng: np.random.Generator, resamples: int = 1999, base: Floats | None = None
) -> Bootstrap:
    """Measure how far values are from the normal of the same mean and standard deviation, and resample that.

    Parameters
    ----------
    grid : array, shape (rows, columns)
        For instance log2 sigma.
    rng : numpy.random.Generator
    resamples : int
    base : array, shape (rows, columns), optional
        Weights of the values.

    Returns
    -------
    Bootstrap
        Of two statistics: D, and the Wasserstein-1 distance in the unit of `grid`. Take `upper`: distances are biased
        upwards and the lower limit is 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = misfit_bootstrap(rng.normal(size=(64, 64)), rng, resamples=199)
    >>> 0 < found.estimate[0] < found.upper(0).high < 0.04
    True
    """
    keep = kept_share(grid, rng, base) if min(grid.shape) > 1 and grid.min() < grid.max() else 1.0
    return two_way_bootstrap(NormalMisfit(OrderedGrid.of(grid, base), keep), rng, resamples)
