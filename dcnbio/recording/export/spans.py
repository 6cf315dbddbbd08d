"""Cuts a variable into spans of stimuli that fit in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

import xarray as xr

__all__ = ["stimulus_spans"]

SPAN_BYTES = 64_000_000


def stimulus_spans(array: xr.DataArray) -> Iterator[slice]:
    """Give slices along the first dimension, each of about 64 MB at most.

    Examples
    --------
    >>> import numpy as np
    >>> list(stimulus_spans(xr.DataArray(np.zeros((3, 2)), dims=("stimulus", "time"))))
    [slice(0, 3, None)]
    """
    row = max(1, math.prod(array.shape[1:]) * array.dtype.itemsize)
    step = max(1, SPAN_BYTES // row)
    for start in range(0, array.shape[0], step):
        yield slice(start, min(start + step, array.shape[0]))
