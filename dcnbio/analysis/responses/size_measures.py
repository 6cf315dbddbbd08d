"""Size tuning of units at their own preferred gratings, at two contrasts, by the law, and with frozen statistics."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.contrast_law import law_prediction
from dcnbio.analysis.responses.rectified import excess
from dcnbio.analysis.responses.size_tuning import SizeTuning, size_tuning
from dcnbio.analysis.responses.unit_table import Columns, tabulate
from dcnbio.analysis.shapes import Floats

__all__ = ["size_measures", "suppression_measures"]

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
    diameters, r = recording["diameter"].values, curves(recording, contrast, signal)

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


def size_measures(recording: xr.Dataset, signal: str = "z") -> Columns:
    """Measure size tuning at the highest contrast, and summation at the lowest, measured and by the law.

    Parameters
    ----------
    recording : xarray.Dataset
        ``z`` and so on (contrast, diameter, time, unit), each unit at its own grating, two contrasts.
    signal : str

    Returns
    -------
    dict of str to array [unit]
    """
    low, high = (float(f(recording["contrast"])) for f in (np.min, np.max))
    diameters = recording["diameter"].values
    at_low, by_law = curves(recording, low, signal), law_curves(recording, low, high, signal)

    def one(i: int) -> dict[str, float | bool]:
        row: dict[str, float | bool] = {}
        for name, r in (("summation_diameter_low_contrast", at_low[i]), ("summation_diameter_law", by_law[i])):
            found = tuned(diameters, r)
            if found is not None:
                row |= {name: found.summation, f"censored_{name}": found.summation_censored}
        return row

    columns = suppression_measures(recording, high, signal)
    return columns | tabulate(len(at_low), ("summation_diameter_low_contrast", "summation_diameter_law"), one)
