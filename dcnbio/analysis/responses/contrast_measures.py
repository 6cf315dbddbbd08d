"""Contrast response and timing of units at their own preferred gratings, measured and by the contrast-time law."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.contrast_law import law_prediction
from dcnbio.analysis.responses.naka_rushton import NakaRushton, fit_naka_rushton
from dcnbio.analysis.responses.rectified import excess
from dcnbio.analysis.responses.timing import Timing, timing
from dcnbio.analysis.responses.unit_table import Columns, tabulate
from dcnbio.analysis.shapes import Floats

__all__ = ["contrast_fits", "contrast_measures", "frozen_contrast_measures", "low_contrast"]

FITS = ("r_max", "c50", "exponent", "baseline", "r_squared")
LIKE_FITS = ("r_max", "c50", "exponent", "r_squared")  # of what the law gives, or with frozen statistics
TIMES = ("peak_time", "half_rise_time", "sign_reversals")
RISES = ("peak_time", "half_rise_time")
LOW_RATIO = 4.0  # the low contrast at which timing is measured is the highest over this


def low_contrast(contrasts: Floats) -> float:
    """Choose the contrast nearest to a quarter of the highest.

    Parameters
    ----------
    contrasts : float array, shape (contrast,)
        Above 0.

    Returns
    -------
    float
        One of them.

    Examples
    --------
    >>> low_contrast(np.array([0.03, 0.06, 0.12, 0.24, 0.48, 0.96]))
    0.24
    """
    return float(contrasts[np.abs(np.log(contrasts * LOW_RATIO / contrasts.max())).argmin()])


def named(parts: tuple[str, ...], suffix: str = "") -> dict[str, str]:
    """Name the parts of a fit or a timing."""
    return {part: f"{part}{suffix}" for part in parts}


def fitted(contrast: Floats, r: Floats) -> NakaRushton:
    """Fit one unit."""
    return fit_naka_rushton(contrast, r) if r.max() > 0 else NakaRushton.none("the unit is silent")


def fit_row(found: NakaRushton, names: dict[str, str]) -> dict[str, float | bool]:
    """Give what can be read of a fit under its names, and whether c50 is a limit."""
    row: dict[str, float | bool] = {name: found.read(part) for part, name in names.items()}
    if "c50" in names:
        row[f"censored_{names['c50']}"] = found.c50_is_limit
    return row


def timed(time: Floats, values: Floats) -> Timing | None:
    """Measure one unit's timing; none where it is silent."""
    return timing(time, values) if values.max() > 0 else None


def time_row(found: Timing | None, names: dict[str, str]) -> dict[str, float | bool]:
    """Give peak and half-rise times under their names."""
    if found is None:
        return {}
    row: dict[str, float | bool] = {name: getattr(found, part) for part, name in names.items()}
    flags = {"peak_time": found.at_end, "half_rise_time": found.risen_at_start}
    return row | {f"censored_{names[part]}": flag for part, flag in flags.items() if part in names}


def contrast_fits(recording: xr.Dataset, signal: str = "z") -> Columns:
    """Fit Naka and Rushton's function to every unit's response at the last time of a recording.

    Parameters
    ----------
    recording : xarray.Dataset
        As for `contrast_measures`.
    signal : str

    Returns
    -------
    dict of str to array [unit]
    """
    contrast = recording["contrast"].values
    r = excess(recording, signal).isel(time=-1).clip(min=0).transpose("unit", "contrast").values
    return tabulate(len(r), FITS, lambda i: fit_row(fitted(contrast, r[i]), named(FITS)))


def contrast_measures(recording: xr.Dataset, signal: str = "z") -> Columns:
    """Measure contrast response and timing, and what the contrast-time law gives for both.

    Parameters
    ----------
    recording : xarray.Dataset
        ``z`` and so on (contrast, time, unit), each unit at its own grating, at least 5 contrasts.
    signal : str

    Returns
    -------
    dict of str to array [unit]
    """
    contrast, share = recording["contrast"].values, recording["time"].values
    high, low, lowest = float(contrast.max()), low_contrast(contrast), float(contrast.min())
    signed = excess(recording, signal).transpose("unit", "contrast", "time").values
    raw = recording[signal].transpose("unit", "contrast", "time").values
    blank = recording[f"{signal}_blank"].transpose("unit", "time").values
    ends = recording["integration_time"].values
    scale = contrast / lowest if signal == "h_change" else np.ones_like(contrast)
    at = {name: int(np.flatnonzero(contrast == value)[0]) for name, value in (("high", high), ("low", low))}
    bottom = int(contrast.argmin())
    by_law = np.stack([law_prediction(share, raw[:, bottom], float(c / lowest))[:, -1] for c in contrast], 1)
    growth = high / low if signal == "h_change" else 1.0
    law_course = growth * law_prediction(share, raw[:, at["low"]], high / low) - blank

    def one(i: int) -> dict[str, float | bool]:
        time = share * ends[i]
        row = fit_row(fitted(contrast, np.maximum(signed[i, :, -1], 0)), named(FITS))
        row |= fit_row(fitted(contrast, np.maximum(scale * by_law[i] - blank[i, -1], 0)), named(LIKE_FITS, "_law"))
        row |= time_row(timed(time, signed[i, at["high"]]), named(TIMES))
        row |= time_row(timed(time, signed[i, at["low"]]), named(RISES, "_low_contrast"))
        return row | time_row(timed(time, law_course[i]), named(TIMES, "_law"))

    names = {**named(FITS), **named(TIMES)}
    more = [*named(LIKE_FITS, "_law").values(), *named(TIMES, "_law").values(), *named(RISES, "_low_contrast").values()]
    return tabulate(len(signed), (*names, *more), one)


def frozen_contrast_measures(recording: xr.Dataset, signal: str = "z") -> Columns:
    """Measure contrast response and timing of a recording with frozen norm statistics.

    Parameters
    ----------
    recording : xarray.Dataset
        As for `contrast_measures`.
    signal : str

    Returns
    -------
    dict of str to array [unit]
        Names end in ``_frozen``.
    """
    contrast, share = recording["contrast"].values, recording["time"].values
    signed = excess(recording, signal).transpose("unit", "contrast", "time").values
    ends = recording["integration_time"].values
    top, low = int(contrast.argmax()), int(np.flatnonzero(contrast == low_contrast(contrast))[0])

    def one(i: int) -> dict[str, float | bool]:
        r, time = np.maximum(signed[i, :, -1], 0), share * ends[i]
        row = fit_row(fitted(contrast, r), named(LIKE_FITS, "_frozen"))
        row |= time_row(timed(time, signed[i, top]), named(TIMES, "_frozen"))
        return row | time_row(timed(time, signed[i, low]), named(RISES, "_low_contrast_frozen"))

    names = {**named(LIKE_FITS, "_frozen"), **named(TIMES, "_frozen")}
    return tabulate(len(signed), (*names.values(), *named(RISES, "_low_contrast_frozen").values()), one)
