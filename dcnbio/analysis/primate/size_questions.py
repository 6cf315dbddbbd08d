"""Comparisons of summation fields, surrounds and suppression."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from dcnbio.analysis.primate.asked import Asked
from dcnbio.analysis.primate.bounds import NO_BOUND, between_kinds, between_retinal_cells
from dcnbio.analysis.primate.comparison import Bound, Published, Question
from dcnbio.analysis.primate.frequency_questions import windows
from dcnbio.analysis.primate.model_values import (
    Units,
    array_of,
    limits_of,
    log2_values,
    one_measure,
    suppressed,
)
from dcnbio.analysis.primate.published import published_histogram
from dcnbio.analysis.primate.shown_range import ShownRange

__all__ = ["CAVANAUGH", "size_questions", "summation"]

CAVANAUGH = "Cavanaugh, Bair and Movshon 2002, doi:10.1152/jn.00692.2001"
NORM = "group norm is an image-wide surround: see the value with its statistics held"
RATIO_ENDS = (0.0, 5.0)  # octaves: the published bins end at 32 times
MOST_SUPPRESSED = 0.999


def summation(measures: xr.Dataset, shown: ShownRange, suffix: str = "") -> Units:
    """Give log2 of the summation diameter, of units with suppression as was published."""
    low, high = shown.ends("diameter")
    name = f"summation_diameter{suffix}"
    side = limits_of(measures, name, None, 2**low)
    values = np.clip(log2_values(array_of(measures, name)), low, high)
    return one_measure(measures, values, side, (low, high), suppressed(measures))


def surround_ratio(measures: xr.Dataset, suffix: str = "") -> Units:
    """Give log2 of surround over summation diameter; a surround that goes on beyond the image is a lower limit."""
    name = f"surround_ratio{suffix}"
    values = log2_values(array_of(measures, name))
    return one_measure(measures, values, limits_of(measures, name, 1), RATIO_ENDS, suppressed(measures))


def held_ratio(measures: xr.Dataset) -> tuple[Units, Units] | None:
    """Give the ratio as it is, and with the norms' statistics held."""
    if "surround_ratio_frozen" not in measures:
        return None
    return surround_ratio(measures), surround_ratio(measures, "_frozen")


def suppression(measures: xr.Dataset, suffix: str = "") -> Units:
    """Give the suppression index."""
    values = array_of(measures, f"suppression_index{suffix}")
    return one_measure(measures, values, np.zeros(len(values), dtype=int), (0.0, 1.0))


def held_suppression(measures: xr.Dataset) -> tuple[Units, Units] | None:
    """Give the octaves by which the largest grating lowers the response, as it is and with the statistics held."""
    if "suppression_index_frozen" not in measures:
        return None

    def octaves(units: Units) -> Units:
        lowered = np.log2(1 / (1 - np.clip(units.values, 0, MOST_SUPPRESSED)))
        return Units(lowered, units.side, units.missing, units.outside, (0.0, float(-np.log2(1 - MOST_SUPPRESSED))))

    return octaves(suppression(measures)), octaves(suppression(measures, "_frozen"))


def by_law(measures: xr.Dataset, name: str) -> Units | None:
    """Give what the contrast-time law makes of a measure from responses at a lower contrast."""
    if f"{name}_law" not in measures:
        return None
    return surround_ratio(measures, "_law") if name == "surround_ratio" else suppression(measures, "_law")


def size_questions(shown: ShownRange) -> list[Asked]:
    """Ask for summation diameters, surrounds and suppression."""
    middle, beside = windows("grating_summation_field", shown.octaves("diameter"))
    kinds = between_kinds("peak_spatial_frequency", "sd")
    related = Bound(kinds.value, f"related measure: sd of log2 preferred spatial frequency, {kinds.source}")
    low, high = (2**one for one in middle.limits)
    diameter = Question(
        "summation diameter, sd of log2",
        "octaves",
        "sd",
        Published(CAVANAUGH, middle, beside),
        related,
        f"published cells beyond {low:.2g} to {high:.2g} deg are moved to these ends, as wide a range as was shown; "
        "the verdict must stand an octave lower and higher",
    )
    ratio = Question(
        "surround / summation diameter, median of log2",
        "octaves",
        "median",
        Published(CAVANAUGH, published_histogram("surround_grating_summation_field_ratio")),
        between_retinal_cells(),
        f"{NORM}; a surround that does not end within 30 pixels is a lower limit",
    )
    index = Question(
        "suppression index, median",
        "1",
        "median",
        Published(CAVANAUGH, published_histogram("surround_suppression_index")),
        NO_BOUND,
        NORM,
    )

    def without(suffix: str) -> Callable[[xr.Dataset], Units | None]:
        def diameters(measures: xr.Dataset) -> Units | None:
            there = f"summation_diameter{suffix}" in measures
            return summation(measures, shown, suffix) if there else None

        return diameters

    return [
        Asked(diameter, lambda measures: summation(measures, shown), law=without("_law"), frozen=without("_frozen")),
        Asked(ratio, surround_ratio, held_ratio, lambda measures: by_law(measures, "surround_ratio")),
        Asked(index, suppression, held_suppression, lambda measures: by_law(measures, "suppression_index")),
    ]
