"""Worst cases: what a comparison would be if the units without a value, or with a limit alone, lay at either end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dcnbio.analysis.primate.model_values import Units
from dcnbio.analysis.primate.resampling import at_ends, stated

__all__ = ["worst_cases"]

Floats = NDArray[np.float64]


def placements(units: Units) -> Iterator[Floats]:
    """Give places of the units without a value: all at an end, all in the middle of the rest, shared by two ends."""
    low, high = units.ends
    if units.values.ndim == 1:
        middle, pairs = float(np.mean(units.values)), [(np.array(low), np.array(high))]
        yield np.full(units.missing, middle)
    else:
        left, right = units.ends_of_x
        middle_pair = units.values.mean(1)
        yield np.tile(middle_pair[:, None], units.missing)
        corners = [np.array([y, x]) for y in (low, high) for x in (left, right)]
        pairs = [(corners[0], corners[3]), (corners[1], corners[2])]
    for first, second in pairs:
        for k in range(units.missing + 1):
            parts = [np.repeat(one[..., None], m, -1) for one, m in ((first, k), (second, units.missing - k))]
            yield np.concatenate(parts, -1)


def limits_at_ends(units: Units) -> Units:
    """Move every limit to the end of what can be found, on the side where the truth lies."""
    low, high = units.ends
    moved = np.where(units.side > 0, high, np.where(units.side < 0, low, units.values))
    return replace(units, values=moved, side=np.zeros_like(units.side))


def worst_cases(statistic: str, units: Units) -> list[Units]:
    """Give the two completions of the units with the smallest and the largest statistic; none where all is known.

    Units without a value are placed; limits are moved as well where the statistic is a mean, which cannot take them as
    limits. Medians and slopes do, and spreads are of values moved to the ends of a range on both sides alike.

    Parameters
    ----------
    statistic : str
    units : Units

    Returns
    -------
    list of Units
        Of no or two completions.

    Examples
    --------
    >>> units = Units(np.array([1.0, 2.0]), np.zeros(2, int), 1, ends=(0, 5))
    >>> [one.values.tolist() for one in worst_cases("mean", units)]
    [[1.0, 2.0, 0.0], [1.0, 2.0, 5.0]]
    """
    versions = [units]
    if statistic == "mean" and units.censored:
        versions.append(limits_at_ends(units))
    if units.missing and stated(statistic, units)[1]:
        versions.append(units.as_they_stand())  # where the median is a limit, it may lie at the limit itself
    filled = [one.with_placed(placed) for one in versions for placed in placements(one)] if units.missing else versions
    if len(filled) == 1:
        return []
    values = [at_ends(statistic, one) for one in filled]
    return [filled[int(np.argmin(values))], filled[int(np.argmax(values))]]
