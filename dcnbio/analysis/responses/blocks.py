"""Units of several blocks, apart: no median is taken over units of different blocks."""

from __future__ import annotations

import numpy as np
import xarray as xr

__all__ = ["by_block"]


def by_block(measures: xr.Dataset) -> dict[int, xr.Dataset]:
    """Split a table of units by block.

    Parameters
    ----------
    measures : xarray.Dataset
        Along ``unit``, with the coordinate ``block``.

    Returns
    -------
    dict of int to xarray.Dataset

    Examples
    --------
    >>> two = xr.Dataset({"c50": ("unit", [0.1, 0.2, 0.3])}, {"block": ("unit", [1, 1, 2])})
    >>> {block: units.c50.values.tolist() for block, units in by_block(two).items()}
    {1: [0.1, 0.2], 2: [0.3]}
    """
    block = measures["block"].values
    return {int(number): measures.isel(unit=np.flatnonzero(block == number)) for number in np.unique(block)}
