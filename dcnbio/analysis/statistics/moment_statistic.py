"""Statistics that are functions of means, for many weightings at once by matrix products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcnbio.analysis.shapes import Floats

__all__ = ["MomentStatistic", "correlation_statistic", "mean_statistic", "shape_statistic"]

MOST = 1 - 1e-12  # a correlation of 1 has no finite artanh
Combine = Callable[[Floats], Floats]


@dataclass(frozen=True)
class MomentStatistic:
    """Statistics of a grid that depend on weighted means of features alone.

    Attributes
    ----------
    features : array, shape (F, I, J)
        What is averaged, in each cell.
    combine : callable
        From the means, shape (F, b), to the statistics, shape (K, b).
    base : array, shape (I, J), optional
        Weights that the cells have anyway, for instance the filters' energies; 1 if left out.
    """

    features: Floats
    combine: Combine
    base: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.features.shape[1], self.features.shape[2]

    def __call__(self, rows: Floats, columns: Floats) -> Floats:
        """Give the statistics of each weighting, shape (b, K)."""
        base = np.ones(self.shape) if self.base is None else self.base
        total = ((rows @ base) * columns).sum(1)
        means = np.stack([((rows @ (base * feature)) * columns).sum(1) for feature in self.features])
        with np.errstate(divide="ignore", invalid="ignore"):  # an undefined statistic is NaN and counted by the caller
            return self.combine(means / total).T


def mean_statistic(*grids: Floats, base: Floats | None = None) -> MomentStatistic:
    """Make the statistic that gives the mean of each grid.

    Parameters
    ----------
    *grids : float arrays of one shape (output, input)
    base : float array, shape (output, input), optional
        Weights of the cells.

    Returns
    -------
    MomentStatistic
        One value a grid, shape (resample, grid).

    Examples
    --------
    >>> mean_statistic(np.array([[1.0, 3.0]]))(np.ones((1, 1)), np.ones((1, 2))).tolist()
    [[2.0]]
    """
    return MomentStatistic(np.stack(grids), lambda means: means, base)


def shape_statistic(grid: Floats, base: Floats | None = None) -> MomentStatistic:
    """Make the statistic that gives mean, standard deviation and skewness.

    Parameters
    ----------
    grid : float array, shape (output, input)
    base : float array, shape (output, input), optional
        Weights of the cells.

    Returns
    -------
    MomentStatistic
        Mean and standard deviation in the unit of the grid, and skewness: shape (resample, 3).

    Examples
    --------
    >>> shape_statistic(np.array([[1.0, 1.0, 4.0]]))(np.ones((1, 1)), np.ones((1, 3))).round(4).tolist()
    [[2.0, 1.4142, 0.7071]]
    """
    origin, unit = grid.mean(), grid.std() or 1.0
    x = (grid - origin) / unit  # near 0, so that powers lose no digits

    def combine(means: Floats) -> Floats:
        first, second, third = means
        variance = np.maximum(second - first**2, 0)
        third = third - 3 * first * second + 2 * first**3
        skew = third / np.where(variance > 1e-12, variance, np.nan) ** 1.5
        return np.stack([origin + unit * first, unit * np.sqrt(variance), skew])

    return MomentStatistic(np.stack([x, x**2, x**3]), combine, base)


def correlation_statistic(before: Floats, after: Floats) -> MomentStatistic:
    """Make the statistic that gives Fisher's z = artanh r of two grids, 1 - r^2, and the ratio of their sds.

    Parameters
    ----------
    before, after : float arrays of one shape (output, input)
        For instance log2 sigma in octaves before and after training.

    Returns
    -------
    MomentStatistic
        Of three values, shape (resample, 3).

    Examples
    --------
    >>> x, y = np.array([[1.0, 2.0, 3.0]]), np.array([[2.0, 2.0, 6.0]])
    >>> correlation_statistic(x, y)(np.ones((1, 1)), np.ones((1, 3))).round(4).tolist()
    [[1.317, 0.25, 2.3094]]
    """
    units = [grid.std() or 1.0 for grid in (before, after)]
    x, y = ((grid - grid.mean()) / unit for grid, unit in zip((before, after), units, strict=True))

    def combine(means: Floats) -> Floats:
        mx, my, mxx, myy, mxy = means
        vx, vy = (np.where(v > 1e-12, v, np.nan) for v in (mxx - mx**2, myy - my**2))
        r = np.clip((mxy - mx * my) / np.sqrt(vx * vy), -MOST, MOST)
        return np.stack([np.arctanh(r), 1 - r**2, units[1] / units[0] * np.sqrt(vy / vx)])

    return MomentStatistic(np.stack([x, y, x**2, y**2, x * y]), combine)
