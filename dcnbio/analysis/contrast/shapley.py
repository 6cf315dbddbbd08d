"""Shares of a total among factors that act together: Shapley values of a full factorial."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["shapley_values"]


def shapley_values(cells: ArrayLike, factors: int) -> Floats:
    """Give each factor's share of what all of them change [1]_, unit by unit.

    The mean, over the orders in which factors can be switched on, of what factor k changes when its turn comes. The
    shares add up to the last cell minus the first.

    Parameters
    ----------
    cells : array, shape (2, 2, ..., n)
        One axis per factor (0 off, 1 on), then the units.
    factors : int
        How many of the leading axes are factors.

    Returns
    -------
    array, shape (factors, n)

    Raises
    ------
    InputError
        If the leading axes are not of size 2.

    References
    ----------
    .. [1] Shapley, L. S. (1953). A value for n-person games. Contributions to the Theory of Games II, 307-317.
       doi:10.1515/9781400881970-018.

    Examples
    --------
    >>> shapley_values([[0.0, 1.0], [2.0, 5.0]], 2).ravel().tolist()
    [3.0, 2.0]
    """
    values = np.asarray(cells, dtype=np.float64)
    if values.shape[:factors] != (2,) * factors:
        raise InputError(f"cells have the shape {values.shape}; each of {factors} factors needs an axis of 2 levels.")
    shares = np.zeros((factors, *values.shape[factors:]))
    for order in itertools.permutations(range(factors)):
        level = [0] * factors
        for factor in order:
            before = values[tuple(level)]
            level[factor] = 1
            shares[factor] += values[tuple(level)] - before
    found: Floats = shares / math.factorial(factors)
    return found
