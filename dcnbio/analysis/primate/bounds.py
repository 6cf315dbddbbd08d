"""Bounds of likeness, each fixed by published differences before any network is seen.

| comparison | bound: difference between | why |
|---|---|---|
| preferred spatial frequency: sd, skewness | four kinds of cells | same measure |
| summation diameter: sd | the same, of frequency | one population; both are scales, in octaves |
| surround / summation: median | P and M retinal cells | one V1 population; related ratio of radii |
| suppression index: median | none | one population, no related measure with kinds |
| bandwidth index: median | simple and complex cells | same measure |
| octave bandwidth: mean | foveal and parafoveal cells | same measure |
| nx: median | the same, as nx | a Gabor function's nx decides its octave bandwidth |
| ny: median | none | one population, no related measure with kinds |
| slopes on preferred frequency | half way to one shape scaled | like is nearer to macaque |
| growth at low contrast | two studies, 2.3 and 4 times | of either |
| peak time at low contrast | 0 | the sign alone is asked |
| medians in degrees | four kinds of cells | of frequency, in octaves |

The width of a published interval is no bound: it shrinks as more cells are recorded, whatever they are like.

A difference between kinds of cells holds the chance of finite samples too: four samples of 53 to 148 cells from one
population differ in standard deviation by up to 0.15 octaves in the mean, so the bound on spreads (0.12) says that the
kinds were not told apart, and asks of a network that it lie as near. Half the way from a published slope to that of one
shape scaled is no difference between cells: there is none published; it asks which of the two a network is nearer to.
"""

from __future__ import annotations

import itertools
import math

from dcnbio.analysis.primate.comparison import Bound
from dcnbio.analysis.primate.published import published_subsets
from dcnbio.analysis.primate.stated import PublishedSlope, stated_value
from dcnbio.analysis.primate.statistic import STATISTICS

__all__ = [
    "NO_BOUND",
    "between_kinds",
    "between_places",
    "between_retinal_cells",
    "between_studies",
    "foster",
    "half_way",
    "shape_bound",
]

NO_BOUND = Bound(None, "one population is published, and no related measure with several: described without verdict")


def between_kinds(quantity: str, statistic: str, limits: tuple[float, float] = (-math.inf, math.inf)) -> Bound:
    """Give the largest difference of a statistic between published kinds of cells.

    Parameters
    ----------
    quantity : str
    statistic : str
    limits : tuple of float
        Ends to which published cells are moved, as in the comparison.

    Examples
    --------
    >>> round(between_kinds("spatial_frequency_bandwidth", "median").value, 1)
    11.4
    """
    subsets = {name: one for name, one in published_subsets(quantity).items() if not name.startswith(("pooled", "all"))}
    values = {name: float(STATISTICS[statistic](one.clipped(*limits).spread_values())) for name, one in subsets.items()}
    pairs = {(a, b): abs(values[a] - values[b]) for a, b in itertools.combinations(values, 2)}
    first, second = max(pairs, key=lambda pair: pairs[pair])
    return Bound(pairs[first, second], f"largest difference between published kinds of cells ({first}, {second})")


def between_retinal_cells() -> Bound:
    """Give the difference of surround / centre radius between P and M cells of the retina, in octaves.

    Examples
    --------
    >>> round(between_retinal_cells().value, 2)
    0.48
    """
    p, m = (stated_value("Croner", "surround/centre", f"RGC {kind}") for kind in "PM")
    said = f"related measure: surround / centre radius of P and M ganglion cells ({p:g}, {m:g}; Croner and Kaplan 1995)"
    return Bound(math.log2(p / m), said)


def foster(place: str) -> float:
    """Give the published mean octave bandwidth of V1 cells at a place, "foveal" or "parafoveal"."""
    return stated_value("Foster", "SF full bandwidth, mean", f"V1 {place}")


def between_places() -> Bound:
    """Give the difference of mean octave bandwidth between foveal and parafoveal cells.

    Examples
    --------
    >>> round(between_places().value, 2)
    0.4
    """
    return Bound(abs(foster("parafoveal") - foster("foveal")), "difference between foveal and parafoveal cells")


def gabor_nx(octaves: float) -> float:
    """Give nx of the Gabor function with this full bandwidth at half height.

    2 pi nx = sqrt(2 ln 2) (2^b + 1) / (2^b - 1)

    Examples
    --------
    >>> round(gabor_nx(1.4), 3), round(gabor_nx(1.8), 3)
    (0.416, 0.338)
    """
    return math.sqrt(2 * math.log(2)) / (2 * math.pi) * (2**octaves + 1) / (2**octaves - 1)


def shape_bound() -> Bound:
    """Give the difference of nx, in octaves, of Gabor functions with the bandwidths of foveal and parafoveal cells.

    Examples
    --------
    >>> round(shape_bound().value, 2)
    0.3
    """
    ratio = gabor_nx(foster("foveal")) / gabor_nx(foster("parafoveal"))
    said = (
        "related measure: nx of Gabor functions as wide in octaves as foveal and parafoveal cells (Foster et al. 1985)"
    )
    return Bound(abs(math.log2(ratio)), said)


def half_way(slope: PublishedSlope) -> Bound:
    """Give half the way from the published slope to that of one shape scaled."""
    said = f"half way from macaque ({slope.value:g}) to one shape scaled ({slope.scaled:g})"
    return Bound(abs(slope.value - slope.scaled) / 2, said)


def between_studies() -> Bound:
    """Give the difference between the two published growths of fields at low contrast, in octaves.

    Examples
    --------
    >>> round(between_studies().value, 2)
    0.8
    """
    first, second = (stated_value(name, "ratio of") for name in ("Sceniak", "Kapadia"))
    return Bound(
        abs(math.log2(second / first)), f"difference between the two published growths ({first:g}, {second:g})"
    )
