"""A y axis that begins at 0 and leaves room above the largest value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

__all__ = ["zero_axis"]

ROOM = 1.06


def zero_axis(axes: Axes, values: npt.ArrayLike) -> None:
    """Let y run from 0, or from the least value where that is negative, to a little above the largest.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> zero_axis(axes, [4.0, 4.1, float("nan")])
    >>> low, high = axes.get_ylim()
    >>> float(low), float(high) > 4.1
    (0.0, True)
    """
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    if finite.size:
        low, high = min(0.0, float(finite.min())), float(finite.max())
        axes.set_ylim(ROOM * low, low + ROOM * (high - low) if high > low else low + 1.0)
