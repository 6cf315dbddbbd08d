"""Both distributions of a comparison, in plain values: a network's units, and the published cells in their bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.published import PublishedHistogram

__all__ = ["distribution", "quartiles"]

DIGITS = 5
PERCENT = (25.0, 50.0, 75.0)


def rounded(values: NDArray[np.float64]) -> list[float]:
    """Give values with five digits."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def distribution(units: Units, published: PublishedHistogram | None) -> dict[str, Any]:
    """Give the values of a network's units and the published histogram.

    Parameters
    ----------
    units : Units
    published : PublishedHistogram or None
        None where a number alone is published.

    Returns
    -------
    dict
        ``values``, in the unit of the comparison, of the units that have one or a limit; ``limits``, on which side of
        them the truth lies (0 where they are known); ``abscissa`` of a slope, log2 of preferred spatial frequency;
        ``published``: ``edges`` and ``counts`` of its bins, log2 where ``octaves``, or None.

    Examples
    --------
    >>> found = distribution(Units(np.array([1.0, 2.0]), np.array([0, 1]), 0), None)
    >>> found["values"], found["limits"], found["published"]
    ([1.0, 2.0], [0, 1], None)
    """
    slope = units.values.ndim == 2
    found: dict[str, Any] = {
        "values": rounded(units.values[0] if slope else units.values),
        "limits": units.side.tolist(),
        "abscissa": rounded(units.values[1]) if slope else None,
        "published": None,
    }
    if published is not None:
        cells = {"edges": rounded(published.edges), "counts": published.counts.tolist(), "octaves": published.octaves}
        found["published"] = {**cells, "unit": published.unit, "quartiles": quartiles(published.spread_values())}
    return found


def quartiles(values: NDArray[np.float64]) -> list[float]:
    """Give the quartiles of values, limits as they stand.

    Examples
    --------
    >>> quartiles(np.arange(5.0))
    [1.0, 2.0, 3.0]
    """
    return rounded(np.percentile(values, PERCENT))
