"""Comparisons of preferred spatial frequency and of bandwidth."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from dcnbio.analysis.primate.asked import Asked
from dcnbio.analysis.primate.bounds import between_kinds, between_places, foster
from dcnbio.analysis.primate.comparison import Published, Question
from dcnbio.analysis.primate.model_values import Units, array_of, limits_of, log2_values, one_measure
from dcnbio.analysis.primate.published import PublishedHistogram, published_histogram
from dcnbio.analysis.primate.shown_range import ShownRange
from dcnbio.analysis.primate.stated import njet_values

__all__ = ["DEVALOIS", "bandwidth_questions", "frequency_questions", "preferred_frequency", "windows"]

DEVALOIS = "De Valois, Albrecht and Thorell 1982, doi:10.1016/0042-6989(82)90113-4"
SCHILLER = "Schiller, Finlay and Volman 1976, doi:10.1152/jn.1976.39.6.1334"
FOSTER = "Foster et al. 1985, doi:10.1113/jphysiol.1985.sp015776"
SHIFT = 1.0  # octaves by which the range may lie elsewhere on the published axis


def windows(quantity: str, octaves: float) -> tuple[PublishedHistogram, tuple[PublishedHistogram, ...]]:
    """Cut published cells to a range as wide as was shown, around the middle of the published axis, and beside it.

    Neither end comes from the network's values, which would build likeness in, nor from the published median.

    Parameters
    ----------
    quantity : str
    octaves : float
        Width of what was shown.

    Returns
    -------
    tuple
        In the middle; and an octave lower and higher, since without degrees per pixel nobody knows where it lies.

    Examples
    --------
    >>> middle, beside = windows("grating_summation_field", 4.0)
    >>> middle.limits, [one.limits for one in beside]
    ((-2.0, 2.0), [(-3.0, 1.0), (-1.0, 3.0)])
    """
    whole = published_histogram(quantity)
    centre = float(whole.edges[0] + whole.edges[-1]) / 2
    cut = [whole.clipped(centre + by - octaves / 2, centre + by + octaves / 2) for by in (0.0, -SHIFT, SHIFT)]
    return cut[0], tuple(cut[1:])


def preferred_frequency(measures: xr.Dataset, shown: ShownRange) -> Units:
    """Give log2 of preferred spatial frequency; a peak at an end of what was shown is a limit."""
    low, high = shown.ends("frequency")
    values = log2_values(array_of(measures, "preferred_spatial_frequency"))
    side = limits_of(measures, "preferred_spatial_frequency", None, 2**low)
    return one_measure(measures, np.clip(values, low, high), side, (low, high))


def frequency_questions(shown: ShownRange) -> list[Asked]:
    """Ask for spread and skewness of preferred spatial frequency, in octaves: free of the unit."""
    middle, beside = windows("peak_spatial_frequency", shown.octaves("frequency"))
    source = Published(DEVALOIS, middle, beside)
    low, high = (2**one for one in middle.limits)
    about = (
        f"published cells beyond {low:.2g} to {high:.2g} cycles/deg are moved to these ends, as wide a range as was "
        "shown, where a network's units are found too; the verdict must stand an octave lower and higher"
    )
    found = []
    for statistic, unit in (("sd", "octaves"), ("skewness", "1")):
        bound = between_kinds("peak_spatial_frequency", statistic, middle.limits)
        name = f"preferred spatial frequency, {statistic} of log2"
        question = Question(name, unit, statistic, source, bound, about)
        found.append(Asked(question, lambda measures: preferred_frequency(measures, shown)))
    return found


def bandwidth_questions(shown: ShownRange) -> list[Asked]:
    """Ask for bandwidths, as an index at 0.707 of the peak and in octaves at half of it."""
    index = Question(
        "bandwidth index 100 f_low / f_high, median",
        "percent",
        "median",
        Published(SCHILLER, published_histogram("spatial_frequency_bandwidth")),
        between_kinds("spatial_frequency_bandwidth", "median"),
        "where a cut lies beyond what was shown the index is an upper limit",
    )
    places = [foster(place) for place in ("foveal", "parafoveal")]
    stated = Published(f"{FOSTER}: {places[0]:g} foveal, {places[1]:g} parafoveal", value=math.fsum(places) / 2)
    octaves = Question(
        "spatial-frequency bandwidth, mean",
        "octaves",
        "mean",
        stated,
        between_places(),
        "the published means come without n or spread, so their midpoint is used; where a cut lies beyond what was "
        "shown the bandwidth is a lower limit, and counts as such and as all that was shown",
    )

    def indices(measures: xr.Dataset) -> Units:
        side = limits_of(measures, "bandwidth_index", -1)
        return one_measure(measures, array_of(measures, "bandwidth_index"), side, (0.0, 100.0))

    def widths(measures: xr.Dataset) -> Units:
        side = limits_of(measures, "spatial_frequency_bandwidth", 1)
        values = array_of(measures, "spatial_frequency_bandwidth")
        return one_measure(measures, values, side, (0.0, shown.octaves("frequency")))

    return [
        Asked(index, indices, njets=njet_values("100*f_low/f_high", "0.707")),
        Asked(octaves, widths, njets=njet_values("SF full bandwidth", "0.5")),
    ]
