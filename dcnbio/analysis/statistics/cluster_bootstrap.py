"""Intervals for filters that share output and input channels: the two-way cluster bootstrap, in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.bootstrap import Bootstrap
from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["GridStatistic", "two_way_bootstrap"]

CHUNK = 128  # weightings handed over at a time


class GridStatistic(Protocol):
    """Statistics of a grid of values under weights row_i x column_j.

    Called with `rows`, shape (b, I), and `columns`, shape (b, J), it gives shape (b, K): K statistics of each of b
    weightings. How often a bootstrap draws a row or column is such a weighting, and so is leaving one out: the grid is
    never copied.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        ...

    def __call__(self, rows: Floats, columns: Floats) -> Floats:
        """Give the statistics of each weighting, shape (b, K)."""
        ...


def draws(size: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Draw how often each of `size` clusters is taken, shape (resamples, size); a single one is always taken once."""
    return rng.multinomial(size, np.full(size, 1 / size), size=resamples).astype(np.float64)


def weightings(shape: tuple[int, int], resamples: int, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """Give the multiplicities of rows and columns in chunks."""
    for start in range(0, resamples, CHUNK):
        count = min(CHUNK, resamples - start)
        yield draws(shape[0], count, rng), draws(shape[1], count, rng)


def left_out(statistic: GridStatistic, axis: int) -> Floats:
    """Give the statistics without one row (axis 0) or one column (axis 1) at a time, shape (size, K)."""
    size, other = statistic.shape[axis], statistic.shape[1 - axis]
    parts = []
    for start in range(0, size, CHUNK):
        count = min(CHUNK, size - start)
        kept = np.ones((count, size))
        kept[np.arange(count), start + np.arange(count)] = 0
        pair = (kept, np.ones((count, other)))
        parts.append(statistic(*(pair if axis == 0 else pair[::-1])))
    return np.concatenate(parts)


def jackknives(statistic: GridStatistic) -> list[Floats]:
    """Give the statistics without each row, and without each column, where there is more than one."""
    return [left_out(statistic, axis) for axis in (0, 1) if statistic.shape[axis] > 1]


def shrinkage(jackknifed: list[Floats], replicates: Floats) -> Floats:
    """Give by what deviations are multiplied, shape (K,).

    Resampling rows and columns together counts the variance of single cells three times; rows + columns - cells
    counts each source once (Cameron, Gelbach and Miller 2011). It is kept above what rows and columns give alone.
    """
    if len(jackknifed) < 2:
        return np.ones(replicates.shape[1])
    both = replicates.var(axis=0, ddof=1)
    rows, columns = ((len(values) - 1) * values.var(axis=0) for values in jackknifed)
    cells = np.maximum(both - rows - columns, 0)
    variance = np.maximum(rows + columns - cells, np.maximum(rows, columns))
    ratio = np.divide(variance, both, out=np.ones_like(both), where=both > 0)
    shrink: Floats = np.sqrt(np.clip(np.nan_to_num(ratio, nan=1.0), 0, 1))
    return shrink


def acceleration(jackknifed: list[Floats], statistics: int) -> Floats:
    """Give the skewness of the clusters' influence over 6, shape (K,), which BCa intervals are corrected by."""
    if not jackknifed:
        return np.zeros(statistics)
    influence = np.concatenate([values.mean(axis=0) - values for values in jackknifed])
    spread = (influence**2).sum(axis=0) ** 1.5
    cubes: Floats = (influence**3).sum(axis=0)
    result: Floats = np.divide(cubes, 6 * spread, out=np.zeros(statistics), where=spread > 0)
    return result


def two_way_bootstrap(statistic: GridStatistic, rng: np.random.Generator, resamples: int = 1999) -> Bootstrap:
    """Resample rows and columns of a grid with replacement, both at once, and recompute its statistics.

    Parameters
    ----------
    statistic : GridStatistic
        For instance `MomentStatistic` or `LShape`. A grid of one row or one column gives the plain bootstrap.
    rng : numpy.random.Generator
    resamples : int
        At least 99; 9,999 for numbers that are printed.

    Returns
    -------
    Bootstrap

    Raises
    ------
    InputError
        If `resamples` is under 99.

    Notes
    -----
    Under two-way sampling the plain replicates are too wide (their variance counts single filters three times), so
    deviations are shrunk to the variance rows + columns - cells; see `shrinkage`. Memory: the replicates and one chunk
    of weightings.

    References
    ----------
    .. [1] Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411.
       doi:10.1214/07-AOAS122.
    .. [2] Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering. Journal
       of Business and Economic Statistics 29, 238-249. doi:10.1198/jbes.2010.07136.

    Examples
    --------
    >>> from dcnbio.analysis.statistics.moment_statistic import mean_statistic
    >>> grid = np.random.default_rng(0).normal(size=(30, 40))
    >>> found = two_way_bootstrap(mean_statistic(grid), np.random.default_rng(1), resamples=999)
    >>> 0.0 in found.interval()
    True
    """
    count("resamples", resamples, 0)
    if resamples < 99:
        raise InputError(f"resamples is {resamples}; limits at 95 % need at least 99 (1,999 or more for print).")
    rows, columns = statistic.shape
    estimate = statistic(np.ones((1, rows)), np.ones((1, columns)))[0]
    replicates = np.concatenate([statistic(*pair) for pair in weightings(statistic.shape, resamples, rng)])
    jackknifed = jackknives(statistic)
    correction = shrinkage(jackknifed, replicates), acceleration(jackknifed, len(estimate))
    return Bootstrap(estimate, replicates, *correction, (rows, columns))
