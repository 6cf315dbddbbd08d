"""Values in a grid of output and input channels: how much of their variance rows and columns share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.sample import finite_sample
from dcnbio.errors import InputError

__all__ = ["CrossedEffects", "crossed_effects"]


@dataclass(frozen=True)
class CrossedEffects:
    """Variance components of x_ij = mean + a_i + b_j + e_ij, one value per cell.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    rows, columns, cells : float
        Variances of a, b and e; negative estimates are set to 0.
    """

    shape: tuple[int, int]
    rows: float
    columns: float
    cells: float

    def simulate(self, rng: np.random.Generator) -> Floats:
        """Draw a grid with these components, mean 0, all three normal."""
        rows, columns = self.shape
        grid = rng.standard_normal(self.shape)
        grid *= math.sqrt(self.cells)
        grid += math.sqrt(self.rows) * rng.standard_normal((rows, 1))
        grid += math.sqrt(self.columns) * rng.standard_normal((1, columns))
        return grid


def crossed_effects(grid: ArrayLike) -> CrossedEffects:
    """Estimate variance components from the mean squares of a two-way table without repeats.

    cells = MS_residual, rows = (MS_rows - MS_residual) / columns, and likewise; negative estimates become 0.

    Parameters
    ----------
    grid : array, shape (rows, columns)
        With one row or column there is nothing to share, and all variance lies in the cells.

    Raises
    ------
    InputError
        If `grid` has not two dimensions, or holds values that are not finite.

    References
    ----------
    .. [1] Searle, S. R., Casella, G. and McCulloch, C. E. (1992). Variance Components. Wiley.
       doi:10.1002/9780470316856.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> effects = crossed_effects(2 * rng.normal(size=(200, 1)) + rng.normal(size=(200, 200)))
    >>> round(effects.rows, 1), round(effects.columns, 1), round(effects.cells, 1)
    (3.7, 0.0, 1.0)
    """
    x = finite_sample(grid)
    if x.ndim != 2:
        raise InputError(f"grid has {x.ndim} dimensions; row and column effects need (output, input), so reshape it.")
    rows, columns = x.shape
    if rows == 1 or columns == 1:
        return CrossedEffects((rows, columns), 0.0, 0.0, float(x.var()))
    row_means, column_means = x.mean(1, keepdims=True), x.mean(0, keepdims=True)
    residual = x - row_means - column_means + x.mean()
    cells = float((residual**2).sum()) / ((rows - 1) * (columns - 1))
    between_rows = max(float(row_means.var(ddof=1)) - cells / columns, 0.0)
    between_columns = max(float(column_means.var(ddof=1)) - cells / rows, 0.0)
    return CrossedEffects((rows, columns), between_rows, between_columns, cells)
