"""Statistics of the ordered values, for many weightings: L-moments, misfit of a normal, quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from dcnbio.analysis.shapes import Floats, Integers
from dcnbio.analysis.statistics.distribution_distance import normal_area
from dcnbio.analysis.statistics.l_moments import ratios

__all__ = ["LShape", "NormalMisfit", "OrderedGrid", "QuantileStatistic"]

BLOCK = 1 << 14  # numbers worked on at a time: they stay in the processor's nearer cache (128 KB an array)


@dataclass(frozen=True)
class OrderedGrid:
    """The cells of a grid in the order of their values.

    Attributes
    ----------
    x : array, shape (n,)
        Ordered values.
    order : int array, shape (n,)
        Which cell each is, counted row by row.
    base : array, shape (n,), or None
        Weights that the cells have anyway.
    shape : tuple of int
    """

    x: Floats
    order: Integers
    base: Floats | None
    shape: tuple[int, int]

    @classmethod
    def of(cls, grid: Floats, base: Floats | None = None) -> OrderedGrid:
        """Order a grid, shape (I, J)."""
        order = np.argsort(grid, axis=None, kind="stable")
        weights = None if base is None else base.ravel()[order]
        return cls(grid.ravel()[order], order, weights, (grid.shape[0], grid.shape[1]))

    def weights(self, rows: Floats, columns: Floats, keep: float = 1.0) -> Floats:
        """Give the weights of the ordered cells, shape (b, n), each row with a sum of 1.

        With `keep` under 1 they are 1 - keep + keep row_i column_j: less far from equal weights.
        """
        cells = (rows[:, :, None] * columns[:, None, :]).reshape(len(rows), -1)
        weights = np.take(cells, self.order, axis=1)
        if keep < 1:
            weights *= keep
            weights += 1 - keep
        if self.base is not None:
            weights *= self.base
        weights /= weights.sum(1, keepdims=True)
        return weights

    def blocks(self, weightings: int) -> list[slice]:
        """Split weightings so that each part fits the cache."""
        step = max(1, BLOCK // self.x.size)
        return [slice(start, start + step) for start in range(0, weightings, step)]


@dataclass(frozen=True)
class LShape:
    """L-skewness and L-kurtosis.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 60))
    >>> found = LShape(OrderedGrid.of(x))(np.ones((1, 50)), np.ones((1, 60)))[0]
    >>> (abs(found - [0, 0.1226]) < 0.03).all()
    np.True_
    """

    grid: OrderedGrid

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.grid.shape

    def __call__(self, rows: Floats, columns: Floats) -> Floats:
        """Give the two statistics of each weighting, shape (b, 2)."""
        x = self.grid.x
        if x[0] == x[-1]:
            return np.full((len(rows), 2), np.nan)
        gaps, parts = np.diff(x), []
        for part in self.grid.blocks(len(rows)):
            weights = self.grid.weights(rows[part], columns[part])
            upto = np.cumsum(weights, axis=1, out=weights)
            parts.append(ratios(weighted_moments(upto, x, gaps))[2:].T)
        return np.concatenate(parts)


@dataclass(frozen=True)
class NormalMisfit:
    """Two distances from the normal of the same mean and standard deviation: D, and Wasserstein-1 in x's unit.

    Attributes
    ----------
    grid : OrderedGrid
    keep : float
        How much of a weighting is kept, see `OrderedGrid.weights`: the noise of resampling adds to a distance, so it
        must be cut back in the weights and cannot be afterwards.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 60))
    >>> found = NormalMisfit(OrderedGrid.of(x))(np.ones((1, 50)), np.ones((1, 60)))[0]
    >>> (found < 0.03).all()
    np.True_
    """

    grid: OrderedGrid
    keep: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.grid.shape

    @cached_property
    def gaps(self) -> Floats:
        """Differences of neighbouring values."""
        return np.diff(self.grid.x)

    def __call__(self, rows: Floats, columns: Floats) -> Floats:
        """Give the two distances of each weighting, shape (b, 2)."""
        grid = self.grid
        if grid.x[0] == grid.x[-1]:
            return np.zeros((len(rows), 2))
        blocks = grid.blocks(len(rows))
        return np.concatenate([self._some(grid.weights(rows[part], columns[part], self.keep)) for part in blocks])

    def _some(self, weights: Floats) -> Floats:
        x = self.grid.x
        mean = weights @ x
        sd = np.sqrt(np.maximum(weights @ (x * x) - mean**2, 0))
        sd = np.where(sd > 1e-12 * np.abs(x).max(), sd, np.nan)
        upto = np.cumsum(weights, axis=1, out=weights)
        z = np.subtract(x, mean[:, None])
        z /= sd[:, None]
        fitted = ndtr(z, out=z)
        left, right = fitted[:, :-1] - upto[:, :-1], fitted[:, 1:] - upto[:, :-1]  # at both ends of each step
        over = np.maximum(-np.min(left, axis=1), upto[:, -1] - fitted[:, -1])
        under = np.maximum(np.max(right, axis=1), fitted[:, 0])
        tails = sd * tail_areas((x[0] - mean) / sd, (x[-1] - mean) / sd)
        return np.stack([np.maximum(over, under), step_areas(left, right) @ self.gaps + tails], axis=1)


def step_areas(left: Floats, right: Floats) -> Floats:
    """Give the mean size of a difference within each step, straight between its values at both ends."""
    areas = left + right
    np.abs(areas, out=areas)
    areas /= 2
    crossing = np.nonzero(left * right < 0)
    a, b = np.abs(left[crossing]), np.abs(right[crossing])
    areas[crossing] = (a**2 + b**2) / (2 * (a + b))  # two triangles
    return areas


def tail_areas(lowest: Floats, highest: Floats) -> Floats:
    """Give the area under a standard normal's function below `lowest`, and above it beyond `highest`."""
    return normal_area(lowest) + normal_area(-highest)


def weighted_moments(upto: Floats, x: Floats, gaps: Floats) -> Floats:
    """Give probability-weighted moments, shape (4, b), of ordered `x` with the share `upto` of weight up to each.

    The integral of x u^r over probability u; summed by parts it needs the gaps between values alone.
    """
    below = upto[:, :-1]
    power = below.copy()
    moments = []
    for r in range(4):
        moments.append((x[-1] - power @ gaps) / (r + 1))
        power *= below
    return np.stack(moments)


@dataclass(frozen=True)
class QuantileStatistic:
    """Quantiles after minus quantiles before, of the same cells.

    Attributes
    ----------
    before, after : OrderedGrid
    probabilities : tuple of float
    """

    before: OrderedGrid
    after: OrderedGrid
    probabilities: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.after.shape

    def __call__(self, rows: Floats, columns: Floats) -> Floats:
        """Give the shift of each quantile, shape (b, len(probabilities))."""
        return self._quantiles(self.after, rows, columns) - self._quantiles(self.before, rows, columns)

    def _quantiles(self, grid: OrderedGrid, rows: Floats, columns: Floats) -> Floats:
        parts = []
        for part in grid.blocks(len(rows)):
            upto = np.cumsum(grid.weights(rows[part], columns[part]), axis=1)
            first = [np.searchsorted(line, np.array(self.probabilities) - 1e-12) for line in upto]
            parts.append(grid.x[np.minimum(np.array(first), grid.x.size - 1)])
        return np.concatenate(parts)
