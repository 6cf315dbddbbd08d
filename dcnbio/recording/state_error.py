"""The estimated error of h(t) in a recording: its two variables, and what they come to."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.recording.schema import VariableLayout

__all__ = ["H_ERROR", "H_ERROR_STATUS", "Estimated", "error_layouts", "error_summary"]

H_ERROR = "h_error"
H_ERROR_STATUS = "h_error_status"


class Estimated(IntEnum):
    """Whether the error of an image's h could be estimated, and why not."""

    YES = 0
    OUTSIDE = 1
    UNSOLVED = 2
    NO_REFERENCE = 3


MEANINGS = {
    Estimated.YES: "estimated",
    Estimated.OUTSIDE: "outside the sample",
    Estimated.UNSOLVED: "the recorded solve ended early, NaN from there on",
    Estimated.NO_REFERENCE: "the reference ended early, NaN from there on",
}


def error_layouts(images: int) -> tuple[VariableLayout, VariableLayout]:
    """Lay out the estimate: the error over time, and for each image whether there is one.

    Parameters
    ----------
    images : int
        How many, from the first of the recording, have an estimate.

    Returns
    -------
    tuple of VariableLayout
        ``h_error`` (stimulus, time) and ``h_error_status`` (stimulus).

    Examples
    --------
    >>> [(one.name, one.dims, one.dtype) for one in error_layouts(10)]
    [('h_error', ('time',), 'float64'), ('h_error_status', (), 'int8')]
    """
    codes = ", ".join(f"{code:d} {meaning}" for code, meaning in MEANINGS.items())
    error = (
        "||h - reference|| / ||reference|| over the recorded channels and window, h as it was computed; the reference "
        "is the same image run in float64 at rtol / 100 and atol / 100, earlier blocks included; of the first "
        f"{images} images, NaN for the others"
    )
    return (
        VariableLayout(H_ERROR, ("time",), "float64", error, "1"),
        VariableLayout(H_ERROR_STATUS, (), "int8", f"whether {H_ERROR} is estimated: {codes}", "1"),
    )


def error_summary(block: xr.Dataset) -> dict[str, Any] | None:
    """Sum up the estimated error of a block's h.

    Parameters
    ----------
    block : xarray.Dataset
        A block of a recording.

    Returns
    -------
    dict or None
        ``images`` that have an estimate, ``missing`` images of the sample that have none at some time, and ``median``
        and ``largest`` over images and times, None where there is no number. None where no error was asked for.

    Examples
    --------
    >>> error = xr.Dataset({"h_error": (("stimulus", "time"), [[0.25, 0.75], [np.nan, np.nan]])})
    >>> error_summary(error.assign(h_error_status=("stimulus", [0, 1])))
    {'images': 1, 'missing': 0, 'median': 0.5, 'largest': 0.75}
    """
    if H_ERROR not in block:
        return None
    status, errors = block[H_ERROR_STATUS].values, block[H_ERROR].values
    there = errors[~np.isnan(errors)]
    return {
        "images": int((status == Estimated.YES).sum()),
        "missing": int(((status != Estimated.YES) & (status != Estimated.OUTSIDE)).sum()),
        "median": float(np.median(there)) if there.size else None,
        "largest": float(there.max()) if there.size else None,
    }
