"""What of a network's measures is held against published cells: values, limits, and what has neither."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

__all__ = ["Units", "array_of", "limits_of", "log2_values", "log_ratio", "one_measure", "pair_of", "suppressed"]

Floats = NDArray[np.float64]
Sides = NDArray[np.int_]
AT = 1.01  # times the lowest that was shown: what is under that is at the end
SUPPRESSED = 0.1  # Cavanaugh 2002 gives diameters of cells with more suppression than this


@dataclass(frozen=True, eq=False)
class Units:
    """Values of units.

    Attributes
    ----------
    values : float array [unit] or [2, unit]
        Of those that have one: itself, or the limit of it; a pair (y, x) for a slope.
    side : int array [unit]
        0 where the value is known; 1 where the truth lies above it, -1 below. Of y, for a pair.
    missing : int
        Units of the population without a value: they do not respond, or what is known of them contradicts itself.
    outside : int
        Units that are left out since the published population leaves such cells out.
    ends : tuple of float
        Between which a value can be found at all; of y, for a pair.
    ends_of_x : tuple of float
        Of x, for a pair.
    """

    values: Floats
    side: Sides
    missing: int
    outside: int = 0
    ends: tuple[float, float] = (-np.inf, np.inf)
    ends_of_x: tuple[float, float] = (-np.inf, np.inf)

    @property
    def known(self) -> int:
        """Units with a value or a limit."""
        return int(self.values.shape[-1])

    @property
    def n(self) -> int:
        """Units of the population, those without a value among them."""
        return self.known + self.missing

    @property
    def censored(self) -> int:
        """Units whose value is a limit."""
        return int((self.side != 0).sum())

    def as_they_stand(self) -> Units:
        """Take limits for values."""
        return replace(self, side=np.zeros_like(self.side))

    def with_placed(self, placed: Floats) -> Units:
        """Add the units that have no value at the places given, [..., unit]."""
        values = np.concatenate([self.values, placed], -1)
        side = np.concatenate([self.side, np.zeros(placed.shape[-1], dtype=int)])
        return replace(self, values=values, side=side, missing=self.missing - placed.shape[-1])


def array_of(measures: xr.Dataset, name: str) -> Floats:
    """Give a measure, NaN where a unit does not respond."""
    values = measures[name].values.astype(np.float64)
    return np.where(measures["responsive"].values.astype(bool), values, np.nan)


def log2_values(values: Floats) -> Floats:
    """Give log2, NaN where there is none."""
    return np.log2(np.where(values > 0, values, np.nan))


def limits_of(measures: xr.Dataset, name: str, side: int | None, lowest: float = 0.0) -> Sides:
    """Give on which side of a measure the truth lies, where it is flagged as a limit.

    Parameters
    ----------
    measures : xarray.Dataset
    name : str
    side : int or None
        1 above, -1 below; None where limits lie at both ends: then below for those at `lowest`, and above for others,
        since a response that still grows at the largest grating may have come near its peak at a small one.
    lowest : float
        That was shown.

    Examples
    --------
    >>> data = {"peak": ("unit", [1.0, 9.0, 5.0]), "censored_peak": ("unit", [True, True, False])}
    >>> limits_of(xr.Dataset(data), "peak", None, 1.0).tolist()
    [-1, 1, 0]
    """
    flag = f"censored_{name}"
    if flag not in measures:
        return np.zeros(measures.sizes["unit"], dtype=int)
    sides = np.where(measures[name].values <= AT * lowest, -1, 1) if side is None else side
    return np.asarray(np.where(measures[flag].values.astype(bool), sides, 0), dtype=int)


def one_measure(
    measures: xr.Dataset,
    values: Floats,
    side: Sides,
    ends: tuple[float, float],
    inside: NDArray[np.bool_] | None = None,
) -> Units:
    """Gather the units of a population: with a value, with a limit, and with neither.

    Parameters
    ----------
    measures : xarray.Dataset
    values : float array [unit]
        NaN where there is none.
    side : int array [unit]
    ends : tuple of float
    inside : bool array [unit], optional
        Which units belong to the population; all, if left out.

    Examples
    --------
    >>> one_measure(xr.Dataset(), np.array([1.0, np.nan]), np.zeros(2, int), (0, 2)).missing
    1
    """
    within = np.ones(len(values), dtype=bool) if inside is None else inside
    there = np.isfinite(values) & within
    missing, outside = int((within & ~there).sum()), int((~within).sum())
    return Units(values[there], side[there], missing, outside, ends)


def suppressed(measures: xr.Dataset) -> NDArray[np.bool_]:
    """Say which units belong to cells with suppression, of which diameters were published; those that may are."""
    return np.asarray(~(array_of(measures, "suppression_index") <= SUPPRESSED), dtype=bool)


def log_ratio(
    measures: xr.Dataset, first: tuple[str, int | None], second: tuple[str, int | None], lowest: float
) -> tuple[Floats, Sides]:
    """Give log2 of one measure over another, and on which side the truth lies.

    Where limits of the two pull to different sides nothing is known of the ratio: NaN.

    Parameters
    ----------
    measures : xarray.Dataset
    first, second : tuple of str and int or None
        Measure, and the side of its limits.
    lowest : float
        As in `limits_of`.
    """
    values = log2_values(array_of(measures, first[0])) - log2_values(array_of(measures, second[0]))
    above, below = (limits_of(measures, name, side, lowest) for name, side in (first, second))
    unknown = above * below > 0
    return np.where(unknown, np.nan, values), np.where(unknown, 0, np.sign(above - below))


def pair_of(
    measures: xr.Dataset, y: tuple[Floats, Sides], ends: tuple[float, float], x_ends: tuple[float, float]
) -> Units:
    """Pair values with log2 of preferred spatial frequency; units that prefer an end of what was shown are outside.

    Leaving units out by their abscissa does not bias a slope, and their abscissa is not known.
    """
    frequency = log2_values(array_of(measures, "preferred_spatial_frequency"))
    at_end = limits_of(measures, "preferred_spatial_frequency", 1) != 0
    there = np.isfinite(y[0]) & np.isfinite(frequency) & ~at_end
    pairs = np.stack([y[0], frequency])[:, there]
    missing = int((~there & ~at_end).sum())
    return Units(pairs, y[1][there], missing, int(at_end.sum()), ends, x_ends)
