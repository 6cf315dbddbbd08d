"""The comparisons that are sound, each with its bound, fixed from published differences before any network is seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.primate.comparison import Published, Question
from dcnbio.analysis.primate.model_values import (
    Units,
    array_of,
    chosen_units,
    growth_excess,
    linear_bandwidth,
    ratio_of,
)
from dcnbio.analysis.primate.published import (
    PublishedHistogram,
    published_histogram,
    published_subsets,
    scale_invariance_slope,
)
from dcnbio.analysis.primate.statistic import STATISTICS

__all__ = ["Asked", "asked", "with_degrees"]

FREQUENCY_OCTAVES = math.log2(0.5 * 30)  # from one cycle per 30 pixels to the grid's limit
DIAMETER_OCTAVES = math.log2(30 / 1.5)
FULL_WIDTH = 2 * math.sqrt(2 * math.log(2))  # at half height, of a Gaussian of standard deviation 1
BOUND_DRAWS, BOUND_SEED = 4000, 0
CAVANAUGH = "Cavanaugh, Bair and Movshon 2002, doi:10.1152/jn.00692.2001"
DEVALOIS = "De Valois, Albrecht and Thorell 1982, doi:10.1016/0042-6989(82)90113-4"
SCHILLER = "Schiller, Finlay and Volman 1976, J. Neurophysiol. 39"
RINGACH = "Ringach 2002, doi:10.1152/jn.2002.88.1.455"
CHEN = "Chen et al. 2020, doi:10.1038/s41467-020-19954-9"


@dataclass(frozen=True, eq=False)
class Asked:
    """A question and how a network answers it.

    Attributes
    ----------
    question : Question
    units : callable
        From the measures to the values that are compared.
    frozen : str
        The measure with the norms' statistics held, where there is one.
    """

    question: Question
    units: Callable[[xr.Dataset], Units]
    frozen: str = ""


def between_subsets(quantity: str, statistic: str) -> tuple[float, str]:
    """Give the largest difference of a statistic between published kinds of cells."""
    subsets = {name: one for name, one in published_subsets(quantity).items() if not name.startswith(("pooled", "all"))}
    values = {name: float(STATISTICS[statistic](one.spread_values())) for name, one in subsets.items()}
    pairs = {(a, b): abs(values[a] - values[b]) for a, b in itertools.combinations(values, 2)}
    first, second = max(pairs, key=lambda pair: pairs[pair])
    return pairs[first, second], f"largest difference between published kinds of cells ({first}, {second})"


def own_width(published: PublishedHistogram, statistic: str) -> tuple[float, str]:
    """Give the width of the published statistic's own 95 % interval, where only one population is published."""
    draws = STATISTICS[statistic](published.resampled(np.random.default_rng(BOUND_SEED), BOUND_DRAWS))
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(high - low), "one published population: the width of its own 95 % interval"


def frequency_questions() -> list[Asked]:
    """Ask for spread and skewness of preferred spatial frequency, in octaves: free of the unit."""
    published = published_histogram("peak_spatial_frequency").truncated(FREQUENCY_OCTAVES)
    source = Published(DEVALOIS, published, n=published.n)
    about = f"published range cut to {FREQUENCY_OCTAVES:.1f} octaves around its median, as wide as a 32-pixel image's"

    def units(measures: xr.Dataset) -> Units:
        return chosen_units(measures, "preferred_spatial_frequency", octaves=True)

    found = []
    for statistic, unit in (("sd", "octaves"), ("skewness", "1")):
        bound, why = between_subsets("peak_spatial_frequency", statistic)
        name = f"preferred spatial frequency, {statistic} of log2"
        found.append(Asked(Question(name, unit, statistic, source, bound, why, about), units))
    return found


def size_questions() -> list[Asked]:
    """Ask for summation diameters, surrounds and suppression."""
    diameter = published_histogram("grating_summation_field").truncated(DIAMETER_OCTAVES)
    ratio = published_histogram("surround_grating_summation_field_ratio")
    index = published_histogram("surround_suppression_index")
    norm = "group norm is an image-wide surround: see the value with its statistics held"
    kinds = (
        ("summation diameter, sd of log2", "octaves", "sd", diameter, "summation_diameter", True, ""),
        ("surround / summation diameter, median of log2", "octaves", "median", ratio, "surround_ratio", True, norm),
        ("suppression index, median", "1", "median", index, "suppression_index", False, norm),
    )
    found = []
    for name, unit, statistic, published, measure, octaves, about in kinds:
        bound, why = own_width(published, statistic)
        question = Question(name, unit, statistic, Published(CAVANAUGH, published, n=published.n), bound, why, about)

        def units(measures: xr.Dataset, measure: str = measure, octaves: bool = octaves) -> Units:
            # diameters were published of suppressed cells, the index of all
            return chosen_units(measures, measure, octaves=octaves, suppressed=measure != "suppression_index")

        found.append(Asked(question, units, "" if statistic == "sd" else f"{measure}_frozen"))
    return found


def tuning_questions() -> list[Asked]:
    """Ask for bandwidths and the shape of fields."""
    published = published_histogram("spatial_frequency_bandwidth")
    bound, why = between_subsets("spatial_frequency_bandwidth", "median")
    index = Question(
        "bandwidth index 100 f_low / f_high, median",
        "percent",
        "median",
        Published(SCHILLER, published, n=published.n),
        bound,
        why,
        "one N-jet shape alone has 29 (order 1) or 43 (order 2)",
    )
    octaves = Question(
        "spatial-frequency bandwidth, mean",
        "octaves",
        "mean",
        Published("Foster et al. 1985, doi:10.1113/jphysiol.1985.sp015776: 1.4 foveal, 1.8 parafoveal", value=1.6),
        0.4,
        "difference between foveal and parafoveal cells",
        "the published means come without n or spread; their midpoint is used",
    )
    shape = published_histogram("nx")
    width, said = own_width(shape, "median")
    nx = Question(
        "nx = sigma_x f of the field, median of log2",
        "octaves",
        "median",
        Published(RINGACH, shape, n=shape.n),
        width,
        said,
        "of units whose local field takes a Gabor fit; a Gabor fitted to a kernel of order 1 is degenerate",
    )
    return [
        Asked(index, lambda measures: chosen_units(measures, "bandwidth_index")),
        Asked(octaves, lambda measures: chosen_units(measures, "spatial_frequency_bandwidth")),
        Asked(nx, lambda measures: chosen_units(measures, "field_width_nx", octaves=True)),
    ]


def paired(measures: xr.Dataset, values: np.ndarray) -> Units:
    """Pair values of units with log2 of their preferred spatial frequency."""
    pair = chosen_units(measures.assign(compared=("unit", values)), "compared", "preferred_spatial_frequency")
    pairs = pair.values.copy()
    pairs[1] = np.log2(pairs[1])
    return Units(pairs, pair.missing, pair.censored)


def invariance_questions() -> list[Asked]:
    """Ask how width and bandwidth go with preferred frequency: one shape scaled would give 1, 1 and 0."""

    def width(measures: xr.Dataset) -> Units:
        return paired(measures, -np.log2(array_of(measures, "field_sigma_gradient")))

    def linear(measures: xr.Dataset) -> Units:
        frequency, octaves = (
            array_of(measures, name) for name in ("preferred_spatial_frequency", "spatial_frequency_bandwidth")
        )
        return paired(measures, np.log2(linear_bandwidth(frequency, octaves)))

    def octave(measures: xr.Dataset) -> Units:
        # published as the standard deviation of a Gaussian over log frequency, measured as its full width
        return paired(measures, array_of(measures, "spatial_frequency_bandwidth") / FULL_WIDTH)

    kinds = (
        ("log2(1/width)", "log2(1/sigma_x)", width),
        ("log2 linear bandwidth", "log2(sigma_f)", linear),
        ("octave bandwidth", "sigma_log(f)", octave),
    )
    found = []
    for name, variable, units in kinds:
        value, scaled = scale_invariance_slope(variable)
        question = Question(
            f"slope of {name} against log2 preferred frequency",
            "1",
            "slope",
            Published(CHEN, value=value),
            abs(value - scaled) / 2,
            f"half way from macaque ({value:g}) to one shape scaled ({scaled:g})",
            "the published slope comes without n, so only the model's side is resampled",
        )
        found.append(Asked(question, units))
    return found


def change_questions() -> list[Asked]:
    """Ask what low contrast does to field size and timing, beyond what the network's norm builds in."""
    growth = Question(
        "growth of the summation field at low contrast beyond the law's",
        "octaves",
        "median",
        Published(
            "Sceniak et al. 1999, doi:10.1038/11197: 2.3 times; Kapadia et al. 1999: 4 times", value=math.log2(2.3)
        ),
        math.log2(4 / 2.3),
        "difference between the two published growths",
        "only what exceeds the contrast-time law counts",
    )
    timing = Question(
        "peak time at low contrast, median of log2(low / high)",
        "octaves",
        "median",
        Published("sign alone: cortex is later (Albrecht 1995, doi:10.1017/s0952523800006817)", value=0.0),
        0.0,
        "the sign",
        "the contrast-time law makes a DCN earlier at low contrast, by log2 of the contrast's ratio",
    )

    def later(measures: xr.Dataset) -> Units:
        ratio = ratio_of(array_of(measures, "peak_time_low_contrast"), array_of(measures, "peak_time"))
        changed = measures.assign(compared=("unit", ratio))
        return chosen_units(changed, "compared", octaves=True)

    return [Asked(growth, lambda measures: growth_excess(measures)[0]), Asked(timing, later)]


def asked() -> list[Asked]:
    """List all comparisons that need no degrees.

    Examples
    --------
    >>> len(asked())
    13
    """
    return [
        *frequency_questions(),
        *size_questions(),
        *tuning_questions(),
        *invariance_questions(),
        *change_questions(),
    ]


def with_degrees(degrees_per_pixel: float) -> list[Asked]:
    """List the comparisons that need degrees of visual angle, which only the user can declare."""
    found = []
    kinds = (
        ("preferred spatial frequency, median of log2 cycles/deg", "peak_spatial_frequency", DEVALOIS, -1.0),
        ("summation diameter, median of log2 deg", "grating_summation_field", CAVANAUGH, 1.0),
    )
    measures_of = {-1.0: "preferred_spatial_frequency", 1.0: "summation_diameter"}
    for name, quantity, source, power in kinds:
        published = published_histogram(quantity)
        several = len(published_subsets(quantity)) > 1
        bound, why = between_subsets(quantity, "median") if several else own_width(published, "median")
        question = Question(name, "octaves", "median", Published(source, published, n=published.n), bound, why)

        def units(measures: xr.Dataset, power: float = power) -> Units:
            own = chosen_units(measures, measures_of[power], octaves=True, suppressed=power > 0)
            return Units(own.values + power * math.log2(degrees_per_pixel), own.missing, own.censored)

        found.append(Asked(question, units))
    return found
