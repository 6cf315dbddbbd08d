"""On which side the truth lies where a measure of a unit is known as a limit alone."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.shapes import Floats
from dcnbio.images.frequencies import LOWEST_FREQUENCY

__all__ = ["KnownValues", "Sides", "known", "limit_sides"]

Sides = NDArray[np.int_]

# 1: the truth lies above the limit; -1: below; None: below at the lowest end of what was shown, else above;
# 0: no limit, since nothing lies before t = 0: a response that begins above half its peak has its half-rise at 0
SIDES: dict[str, int | None] = {
    "orientation_half_width": 1,
    "preferred_spatial_frequency": None,
    "spatial_frequency_bandwidth": 1,
    "bandwidth_index": -1,
    "summation_diameter": None,
    "surround_diameter": 1,
    "surround_ratio": 1,
    "summation_diameter_low_contrast": None,
    "c50": None,
    "peak_time": 1,
    "peak_time_low_contrast": 1,
    "half_rise_time": 0,
    "half_rise_time_low_contrast": 0,
    "field_sigma_gradient": 1,
    "field_sigma_moments": 1,
    "field_sigma_noise": 1,
}
SUFFIXES = ("_law", "_frozen", "_held")
SMALLEST_DIAMETER, LOWEST_CONTRAST = 1.5, 0.03  # where the settings do not say
AT = 1.01  # times the lowest that was shown: what is under that is at the end


@dataclass(frozen=True)
class KnownValues:
    """A measure of every unit, and on which side the truth lies where it is a limit.

    Attributes
    ----------
    values : array [unit]
        NaN where a unit does not have it.
    sides : int array [unit] or None
        As `limit_sides` gives them; None where no value is a limit.
    """

    values: Floats
    sides: Sides | None = None


def lowest_shown(measures: xr.Dataset, name: str) -> float:
    """Give the lower end of what was shown of the quantity that a measure is of."""
    settings = json.loads(measures.attrs.get("settings", "{}"))
    if name == "preferred_spatial_frequency":
        return LOWEST_FREQUENCY
    if name == "c50":
        return float(settings.get("lowest_contrast", LOWEST_CONTRAST))
    return float(min(settings.get("diameters", (SMALLEST_DIAMETER,))))


def limit_sides(measures: xr.Dataset, name: str) -> Sides:
    """Give on which side of a measure the truth lies.

    Parameters
    ----------
    measures : xarray.Dataset
        From `measure_units`.
    name : str

    Returns
    -------
    int array [unit]
        0 where the value is known or there is none; 1 where the truth lies above it, -1 where it lies below.

    Examples
    --------
    >>> data = {"summation_diameter": ("unit", [1.5, 4.0, 22.0])}
    >>> data["censored_summation_diameter"] = ("unit", [True, False, True])
    >>> limit_sides(xr.Dataset(data), "summation_diameter").tolist()
    [-1, 0, 1]
    """
    values, flag = measures[name].values, f"censored_{name}"
    if flag not in measures:
        return np.zeros(values.shape, dtype=int)
    plain = name
    for suffix in SUFFIXES:
        plain = plain.removesuffix(suffix)
    side = SIDES[plain]
    sides = np.where(values <= AT * lowest_shown(measures, plain), -1, 1) if side is None else side
    return np.asarray(np.where(measures[flag].values.astype(bool) & np.isfinite(values), sides, 0), dtype=int)


def known(measures: xr.Dataset, name: str) -> KnownValues:
    """Give a measure, and on which side the truth lies; NaN for all where it was not recorded."""
    if name not in measures:
        return KnownValues(np.full(measures.sizes["unit"], np.nan))
    return KnownValues(measures[name].values.astype(np.float64), limit_sides(measures, name))
