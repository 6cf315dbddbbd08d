"""What of a network's measures is held against published cells: the same cells, in the same unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

__all__ = ["Units", "chosen_units", "growth_excess", "linear_bandwidth", "log2_values", "ratio_of"]

Floats = NDArray[np.float64]
SUPPRESSED = 0.1  # Cavanaugh 2002 gives diameters of cells with more suppression than this


@dataclass(frozen=True, eq=False)
class Units:
    """Values of units.

    Attributes
    ----------
    values : float array [unit] or [2, unit]
        Of those units that have one; a pair of them for a slope.
    missing : int
        Units without a value: unresponsive, or without the measure.
    censored : int
        Units whose value is a limit.
    """

    values: Floats
    missing: int
    censored: int


def array_of(measures: xr.Dataset, name: str) -> Floats:
    """Give a measure, NaN where a unit does not respond."""
    values = measures[name].values.astype(np.float64)
    return np.where(measures["responsive"].values.astype(bool), values, np.nan)


def censored_of(measures: xr.Dataset, name: str) -> NDArray[np.bool_]:
    """Say of which units a measure is only a limit."""
    flag = f"censored_{name}"
    found: NDArray[np.bool_] = (
        measures[flag].values.astype(bool) if flag in measures else np.zeros(measures.sizes["unit"], bool)
    )
    return found


def log2_values(values: Floats) -> Floats:
    """Give log2, NaN where there is none."""
    return np.log2(np.where(values > 0, values, np.nan))


def chosen_units(measures: xr.Dataset, *names: str, octaves: bool = False, suppressed: bool = False) -> Units:
    """Choose the units that have all of these measures.

    Parameters
    ----------
    measures : xarray.Dataset
        From `dcnbio.analysis.responses`, dimension unit.
    *names : str
        One measure, or two for a slope.
    octaves : bool
        Take log2 of them.
    suppressed : bool
        Only units whose suppression index exceeds 0.1, as the published diameters are of such cells.

    Examples
    --------
    >>> data = {"f1_f0": ("unit", [1.0, 2.0, np.nan]), "responsive": ("unit", [True, False, True])}
    >>> chosen_units(xr.Dataset(data), "f1_f0").missing
    2
    """
    stacked = np.stack([array_of(measures, name) for name in names])
    stacked = log2_values(stacked) if octaves else stacked
    eligible = np.ones(stacked.shape[1], bool)
    if suppressed:
        index = array_of(measures, "suppression_index")
        eligible = ~(index <= SUPPRESSED)
    there = np.isfinite(stacked).all(0) & eligible
    limits = np.any([censored_of(measures, name) for name in names], axis=0)
    values = stacked[:, there]
    return Units(values[0] if len(names) == 1 else values, int((eligible & ~there).sum()), int((limits & there).sum()))


def ratio_of(first: Floats, second: Floats) -> Floats:
    """Divide, NaN where there is nothing to divide by.

    Examples
    --------
    >>> ratio_of(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    return np.asarray(first / np.where(second > 0, second, np.nan), dtype=np.float64)


def linear_bandwidth(frequency: Floats, octaves: Floats) -> Floats:
    """Turn an octave bandwidth around a preferred frequency into a linear one, in the frequency's unit.

    Examples
    --------
    >>> float(linear_bandwidth(np.array(1.0), np.array(2.0)))
    1.5
    """
    half = octaves / 2
    return np.asarray(frequency * (2.0**half - 2.0**-half), dtype=np.float64)


def growth_excess(measures: xr.Dataset) -> tuple[Units, float]:
    """Give by how much fields grow at low contrast beyond what the contrast-time law predicts, octaves; and the law's.

    Returns
    -------
    tuple of Units and float
        log2(low / high) - log2(law / high) of each unit, and the median of log2(law / high).
    """
    high = array_of(measures, "summation_diameter")
    low = array_of(measures, "summation_diameter_low_contrast")
    law = array_of(measures, "summation_diameter_law")
    excess = log2_values(ratio_of(low, high)) - log2_values(ratio_of(law, high))
    names = ("summation_diameter", "summation_diameter_low_contrast", "summation_diameter_law")
    limits = np.any([censored_of(measures, name) for name in names], axis=0)
    there = np.isfinite(excess)
    predicted = log2_values(ratio_of(law, high))[there]
    units = Units(excess[there], int((~there).sum()), int((limits & there).sum()))
    return units, float(np.median(predicted)) if len(predicted) else np.nan
