"""Size tuning of units at their own preferred gratings, at two contrasts, by the law, and with frozen statistics."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.contrast_law import law_prediction
from dcnbio.analysis.responses.rectified import excess
from dcnbio.analysis.responses.size_tuning import SizeTuning, size_tuning
from dcnbio.analysis.responses.unit_table import Columns, tabulate
from dcnbio.analysis.shapes import Floats

__all__ = ["frozen_size_measures", "size_measures", "suppression_measures"]

SUPPRESSION = ("summation_diameter", "surround_diameter", "surround_ratio", "suppression_index")


def curves(recording: xr.Dataset, contrast: float, signal: str) -> Floats:
    """Give r (unit, diameter) at T."""
    found = excess(recording, signal).sel(contrast=contrast).isel(time=-1).transpose("unit", "diameter")
    values: Floats = np.maximum(found.values, 0)
    return values


def law_curves(recording: xr.Dataset, low: float, high: float, signal: str) -> Floats:
    """Give r (unit, diameter) at T that the contrast-time law gives at the high contrast from the low one."""
    at_low = recording[signal].sel(contrast=low).transpose("unit", "diameter", "time").values
    blank = recording[f"{signal}_blank"].isel(time=-1).values
    predicted = law_prediction(recording["time"].values, at_low, high / low)[..., -1]
    if signal == "h_change":
        predicted = predicted * high / low
    found: Floats = np.maximum(predicted - blank[:, None], 0)
    return found


def tuned(diameters: Floats, curve: Floats) -> SizeTuning | None:
    """Measure one unit; none where it is silent."""
    return size_tuning(diameters, curve) if curve.max() > 0 else None


def size_columns(diameters: Floats, r: Floats, suffix: str = "") -> Columns:
    """Measure summation, surround and suppression of curves (unit, diameter)."""

    def one(i: int) -> dict[str, float | bool] | None:
        found = tuned(diameters, r[i])
        if found is None:
            return None
        row: dict[str, float | bool] = {
            "summation_diameter": found.summation,
            "censored_summation_diameter": found.summation_censored,
            "surround_diameter": found.surround,
            "censored_surround_diameter": found.still_falling,
            "surround_ratio": found.ratio,
            "censored_surround_ratio": found.still_falling or found.summation_censored,
            "suppression_index": found.suppression_index,
        }
        return {f"{name}{suffix}": value for name, value in row.items()}

    return tabulate(len(r), tuple(f"{name}{suffix}" for name in SUPPRESSION), one)


def summation_column(diameters: Floats, r: Floats, name: str) -> Columns:
    """Measure summation alone of curves (unit, diameter)."""

    def one(i: int) -> dict[str, float | bool] | None:
        found = tuned(diameters, r[i])
        return None if found is None else {name: found.summation, f"censored_{name}": found.summation_censored}

    return tabulate(len(r), (name,), one)


def suppression_measures(recording: xr.Dataset, contrast: float, signal: str, suffix: str = "") -> Columns:
    """Measure summation, surround and suppression at one contrast.

    Parameters
    ----------
    recording : xarray.Dataset
        ``z`` and so on (contrast, diameter, time, unit), each unit at its own grating.
    contrast : float
    signal : str
    suffix : str
        Of the names, for instance "_frozen".

    Returns
    -------
    dict of str to array [unit]
    """
    return size_columns(recording["diameter"].values, curves(recording, contrast, signal), suffix)


def size_measures(recording: xr.Dataset, signal: str = "z") -> Columns:
    """Measure size tuning at the highest contrast and summation at the lowest, and all of it by the law.

    Parameters
    ----------
    recording : xarray.Dataset
        ``z`` and so on (contrast, diameter, time, unit), each unit at its own grating, two contrasts.
    signal : str

    Returns
    -------
    dict of str to array [unit]
        Names that end in ``_law`` are of what the contrast-time law gives at the highest contrast from the lowest.
    """
    low, high = (float(f(recording["contrast"])) for f in (np.min, np.max))
    diameters = recording["diameter"].values
    by_law = size_columns(diameters, law_curves(recording, low, high, signal), "_law")
    at_low = summation_column(diameters, curves(recording, low, signal), "summation_diameter_low_contrast")
    return suppression_measures(recording, high, signal) | at_low | by_law


def frozen_size_measures(recording: xr.Dataset, signal: str = "z") -> Columns:
    """Measure size tuning of a recording with frozen norm statistics, and summation at its lowest contrast.

    Parameters
    ----------
    recording : xarray.Dataset
        As for `size_measures`.
    signal : str

    Returns
    -------
    dict of str to array [unit]
        Names end in ``_frozen``.
    """
    low, high = (float(f(recording["contrast"])) for f in (np.min, np.max))
    name = "summation_diameter_low_contrast_frozen"
    at_low = summation_column(recording["diameter"].values, curves(recording, low, signal), name)
    return suppression_measures(recording, high, signal, "_frozen") | at_low
