"""The interval of a mean over images, or over batches that share their steps."""

from __future__ import annotations

from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.t_interval import t_interval

__all__ = ["interval_of"]

UNIT = {"images": "image", "batches": "batch"}


def interval_of(values: Floats, units: str = "images") -> Interval:
    """Give the t interval of a mean over images, or over batches, or why there is none.

    Parameters
    ----------
    values : array, shape (n,)
    units : str
        "images" or "batches".
    """
    if values.size < 2:
        return Interval.none(f"one {UNIT[units]} has no spread")
    if values.min() == values.max():
        return Interval.none(f"all {values.size} {units} give the same, so nothing is known of their spread")
    return t_interval(values)
