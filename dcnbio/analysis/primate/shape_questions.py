"""Comparisons of the shape of receptive fields, and of how width and bandwidth go with preferred frequency."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import xarray as xr

from dcnbio.analysis.primate.asked import Asked
from dcnbio.analysis.primate.bounds import NO_BOUND, half_way, shape_bound
from dcnbio.analysis.primate.comparison import Published, Question
from dcnbio.analysis.primate.model_values import Units, array_of, limits_of, log2_values, one_measure, pair_of
from dcnbio.analysis.primate.published import published_histogram, published_shape
from dcnbio.analysis.primate.shown_range import ShownRange
from dcnbio.analysis.primate.stated import njet_values, published_slope

__all__ = ["aspect_values", "invariance_questions", "shape_questions"]

RINGACH = "Ringach 2002, doi:10.1152/jn.2002.88.1.455"
CHEN = "Chen et al. 2020, doi:10.1038/s41467-020-19954-9"
INDEX_WIDTH = 2 * math.sqrt(math.log(2))  # of a Gaussian of standard deviation 1, at 0.707 of its peak
SIGMAS = (0.3, 16.0)  # pixels, between which a field's width can be found
NARROWEST = 0.1  # octaves


def shape_value(measures: xr.Dataset, name: str) -> Units:
    """Give log2 of nx or ny of fields that a Gabor function fits; the rest is outside, as it is of the published."""
    edges = published_shape()[0]
    values = log2_values(array_of(measures, name))
    fitted = np.isfinite(values) | ~measures["responsive"].values.astype(bool)
    return one_measure(measures, values, np.zeros(len(values), dtype=int), (edges[0], edges[-1]), fitted)


def shape_questions() -> list[Asked]:
    """Ask for nx and ny, the widths of fields across and along their bars in cycles."""
    found = []
    for name, bound, njets in (
        ("nx", shape_bound(), njet_values("nx of best 1-D Gabor fit", "least squares")),
        ("ny", NO_BOUND, {}),
    ):
        question = Question(
            f"{name} = sigma_{name[1]} f of the field, median of log2",
            "octaves",
            "median",
            Published(RINGACH, published_histogram(name)),
            bound,
            "of units whose local field takes a Gabor fit, as the published cells; the share of the rest has a line of "
            "its own",
        )
        octaves = {order: math.log2(value) for order, value in njets.items() if value > 0}

        def units(measures: xr.Dataset, name: str = name) -> Units:
            return shape_value(measures, f"field_width_{name}")

        found.append(Asked(question, units, njets=octaves))
    return found


def aspect_values(measures: xr.Dataset) -> np.ndarray:
    """Give (log2 nx, log2 ny) of the units that have both, [2, unit]."""
    both = np.stack([log2_values(array_of(measures, f"field_width_{name}")) for name in ("nx", "ny")])
    return np.asarray(both[:, np.isfinite(both).all(0)])


def index_octaves(measures: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Give the bandwidth at 0.707 of the peak in octaves: nearer the peak than half height, so cut off less often."""
    index = array_of(measures, "bandwidth_index")
    return -log2_values(index / 100), limits_of(measures, "bandwidth_index", 1)


def invariance_questions(shown: ShownRange) -> list[Asked]:
    """Ask how width and bandwidth go with preferred frequency: one shape scaled would give 1, 1 and 0."""
    ends, most = shown.ends("frequency"), shown.octaves("frequency")

    def width(measures: xr.Dataset) -> Units:
        values = -log2_values(array_of(measures, "field_sigma_moments"))
        side = limits_of(measures, "field_sigma_moments", -1)
        limits = (-math.log2(SIGMAS[1]), -math.log2(SIGMAS[0]))
        return pair_of(measures, (values, side), limits, ends)

    def linear(measures: xr.Dataset) -> Units:
        octaves, side = index_octaves(measures)
        values = log2_values(linear_bandwidth(array_of(measures, "preferred_spatial_frequency"), octaves))
        narrowest, widest = (
            float(linear_bandwidth(np.array(2.0**at), np.array(by)))
            for at, by in ((ends[0], NARROWEST), (ends[1], most))
        )
        return pair_of(measures, (values, side), (math.log2(narrowest), math.log2(widest)), ends)

    def octave(measures: xr.Dataset) -> Units:
        # published as the standard deviation of a Gaussian over log frequency, measured as its width at 0.707
        octaves, side = index_octaves(measures)
        return pair_of(measures, (octaves / INDEX_WIDTH, side), (NARROWEST / INDEX_WIDTH, most / INDEX_WIDTH), ends)

    kinds: tuple[tuple[str, str, Callable[[xr.Dataset], Units]], ...] = (
        ("log2(1/width)", "log2(1/sigma_x)", width),
        ("log2 linear bandwidth", "log2(sigma_f)", linear),
        ("octave bandwidth", "sigma_log(f)", octave),
    )
    found = []
    for name, variable, units in kinds:
        slope = published_slope(variable)
        question = Question(
            f"slope of {name} against log2 preferred frequency",
            "1",
            "slope",
            Published(CHEN, value=slope.value, error=slope.error),
            half_way(slope),
            "the published slope comes without n; its standard error follows from its r and p. Units that prefer an "
            "end of what was shown are left out; of the rest limits count as such",
        )
        found.append(Asked(question, units, njets={"order 1": slope.scaled, "order 2": slope.scaled}))
    return found


def linear_bandwidth(frequency: np.ndarray, octaves: np.ndarray) -> np.ndarray:
    """Turn an octave bandwidth around a preferred frequency into a linear one, in the frequency's unit.

    Examples
    --------
    >>> float(linear_bandwidth(np.array(1.0), np.array(2.0)))
    1.5
    """
    half = octaves / 2
    return np.asarray(frequency * (2.0**half - 2.0**-half), dtype=np.float64)
