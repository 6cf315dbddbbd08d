"""Which results the contrast-time law or the norms predict, and what of each remains beyond the prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.responses.limits import KnownValues, known
from dcnbio.analysis.shapes import Floats

__all__ = ["PREDICTIONS", "Parts", "Prediction"]

QUARTER = -2.0  # octaves: a quarter of the contrast, and by the law of the time


@dataclass(frozen=True)
class Parts:
    """One result of every unit.

    Attributes
    ----------
    measured, predicted, frozen : KnownValues
        Which of them are limits is known.
    left : KnownValues
        NaN where a unit does not have it, or where what it follows from is a limit.
    """

    measured: KnownValues
    predicted: KnownValues
    frozen: KnownValues
    left: KnownValues


@dataclass(frozen=True)
class Prediction:
    """One result with its prediction.

    Attributes
    ----------
    name : str
        With the unit.
    short : str
        The same in 20 letters, for tables; c / 4 is a quarter of the contrast.
    by : str
        "law", the contrast-time law, of which what is left is the difference; or "norm", which makes what goes when
        its statistics are frozen, so that what is left is the value with frozen statistics.
    needs : tuple of str
        Measures without which it does not exist.
    parts : callable
        From the measures of units.
    """

    name: str
    short: str
    by: str
    needs: tuple[str, ...]
    parts: Callable[[xr.Dataset], Parts]


def uncensored(measures: xr.Dataset, name: str) -> Floats:
    """Give a measure without what is a limit alone, since limits have no ratio."""
    found = known(measures, name)
    return found.values if found.sides is None else np.where(found.sides != 0, np.nan, found.values)


def octaves(over: Floats, under: Floats) -> Floats:
    """Give log2 of a ratio, NaN where one is not positive.

    Examples
    --------
    >>> octaves(np.array([8.0, 0.0]), np.array([2.0, 1.0])).tolist()
    [2.0, nan]
    """
    found: Floats = np.full(over.shape, np.nan)
    good = (over > 0) & (under > 0)
    found[good] = np.log2(over[good] / under[good])
    return found


def by_law(name: str, words: str, short: str, *, ratio: bool = True) -> Prediction:
    """Set a measure beside what the law gives; what is left is in octaves, or the difference where a ratio is none."""

    def parts(measures: xr.Dataset) -> Parts:
        here, there = uncensored(measures, name), uncensored(measures, f"{name}_law")
        left = octaves(here, there) if ratio else here - there
        measured, predicted, frozen = (known(measures, f"{name}{suffix}") for suffix in ("", "_law", "_frozen"))
        return Parts(measured, predicted, frozen, KnownValues(left))

    return Prediction(words, short, "law", (name, f"{name}_law"), parts)


def by_law_of_fit(name: str, words: str, short: str) -> Prediction:
    """Set a parameter of Naka and Rushton's function beside what the law gives, of units that both describe."""

    def parts(measures: xr.Dataset) -> Parts:
        here, there, frozen = (uncensored(measures, f"{name}{suffix}") for suffix in ("", "_law", "_frozen"))
        return Parts(KnownValues(here), KnownValues(there), KnownValues(frozen), KnownValues(octaves(here, there)))

    return Prediction(words, short, "law", (name, f"{name}_law"), parts)


def at_low_contrast(name: str, words: str, short: str, predicted: float | None) -> Prediction:
    """Set the change of a measure at a quarter of the contrast, in octaves, beside that by law."""
    low = f"{name}_low_contrast"

    def change(measures: xr.Dataset, suffix: str) -> Floats:
        return octaves(uncensored(measures, f"{low}{suffix}"), uncensored(measures, f"{name}{suffix}"))

    def parts(measures: xr.Dataset) -> Parts:
        measured = change(measures, "")
        if predicted is None:
            expected = octaves(uncensored(measures, low), uncensored(measures, f"{name}_law"))
        else:
            expected = np.where(np.isfinite(measured), predicted, np.nan)
        frozen = KnownValues(change(measures, "_frozen"))
        return Parts(KnownValues(measured), KnownValues(expected), frozen, KnownValues(measured - expected))

    return Prediction(words, short, "law", (name, low, f"{name}_law"), parts)


def by_norm(name: str, words: str, short: str, suffix: str) -> Prediction:
    """Set a measure beside what of it goes when the norms' statistics are frozen or held."""

    def parts(measures: xr.Dataset) -> Parts:
        values, frozen = known(measures, name), known(measures, f"{name}_{suffix}")
        return Parts(values, KnownValues(values.values - frozen.values), frozen, KnownValues(frozen.values))

    return Prediction(words, short, "norm", (name, f"{name}_{suffix}"), parts)


PREDICTIONS: tuple[Prediction, ...] = (
    by_norm("suppression_index", "suppression index", "suppression index", "frozen"),
    by_law("suppression_index", "suppression index at full from low contrast", "the same, by law", ratio=False),
    by_law("summation_diameter", "summation diameter (pixels)", "summation, pixels"),
    by_law("surround_diameter", "surround diameter (pixels)", "surround, pixels"),
    by_law("surround_ratio", "surround over summation diameter", "surround / summation"),
    at_low_contrast(
        "summation_diameter",
        "growth of the summation field at a quarter contrast (octaves)",
        "summation, c/4, oct",
        None,
    ),
    by_norm("cross_orientation_suppression", "cross-orientation suppression of a plaid", "by a mask across", "held"),
    by_norm("iso_surround_suppression", "suppression by a surround along the grating", "by surround along", "held"),
    by_norm("cross_surround_suppression", "suppression by a surround across the grating", "by surround across", "held"),
    by_norm(
        "surround_orientation_difference", "surround suppression, along minus across", "along minus across", "held"
    ),
    by_law_of_fit("r_max", "Rmax of contrast", "Rmax"),
    by_law_of_fit("c50", "c50 of contrast", "c50"),
    by_law_of_fit("exponent", "exponent of contrast", "exponent"),
    by_law("peak_time", "peak time (solver time)", "peak time"),
    by_law("half_rise_time", "half-rise time (solver time)", "half-rise time"),
    by_law("sign_reversals", "sign reversals of the response", "sign reversals", ratio=False),
    at_low_contrast("peak_time", "change of peak time at a quarter contrast (octaves)", "peak, c/4, oct", QUARTER),
    at_low_contrast(
        "half_rise_time", "change of half-rise time at a quarter contrast (octaves)", "half-rise, c/4, oct", QUARTER
    ),
)
