"""Binned similarities of all measures that have a published histogram, with their ceilings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.primate.binned_similarity import aligned_similarity, binned_similarity, similarity_ceiling
from dcnbio.analysis.primate.described import folded
from dcnbio.analysis.primate.joint_similarity import joint_ceiling, joint_similarity
from dcnbio.analysis.primate.model_values import array_of, log2_values, suppressed
from dcnbio.analysis.primate.published import PublishedHistogram, published_histogram, published_shape
from dcnbio.analysis.primate.shape_questions import aspect_values

__all__ = ["similarities"]

KINDS: tuple[tuple[str, str, Callable[..., tuple[float, float]]], ...] = (
    ("suppression_index", "surround_suppression_index", binned_similarity),
    ("surround_ratio", "surround_grating_summation_field_ratio", binned_similarity),
    ("bandwidth_index", "spatial_frequency_bandwidth", binned_similarity),
    ("preferred_orientation", "preferred_orientation", binned_similarity),
    ("preferred_spatial_frequency", "peak_spatial_frequency", aligned_similarity),
    ("summation_diameter", "grating_summation_field", aligned_similarity),
    ("surround_diameter", "surround_diameter", aligned_similarity),
)
OF_SUPPRESSED = ("surround_ratio", "summation_diameter", "surround_diameter")
POWERS = {"preferred_spatial_frequency": -1, "summation_diameter": 1, "surround_diameter": 1}  # of degrees per pixel


def line(name: str, measure: str, n: tuple[int, int], found: tuple[float, float], ceiling: float) -> dict[str, Any]:
    """Write one similarity."""
    value, sd = found
    sizes = {"n_model": n[0], "n_data": n[1]}
    shares = {"similarity": value, "sd": sd, "ceiling": ceiling, "of_ceiling": value / ceiling}
    return {"name": name, "measure": measure, **shares, **sizes}


def compared_values(measures: xr.Dataset, measure: str, published: PublishedHistogram) -> np.ndarray:
    """Give the values that are compared, on the published axis but for the degrees of a pixel."""
    values = array_of(measures, measure)
    if measure in OF_SUPPRESSED:
        values = np.where(suppressed(measures), values, np.nan)
    values = log2_values(values) if published.octaves else values
    values = values[np.isfinite(values)]
    return folded(values) if measure == "preferred_orientation" else values


def similarities(
    measures: xr.Dataset,
    generator: Callable[[str], np.random.Generator],
    degrees_per_pixel: float | None = None,
) -> list[dict[str, Any]]:
    """Give binned similarities with ceilings: with the published unit where it is free of degrees, else aligned.

    Limits count as they stand, as values outside the bins are clipped to them.

    Parameters
    ----------
    measures : xarray.Dataset
    generator : callable
        Makes the generator of each part, by its name.
    degrees_per_pixel : float, optional
        Where it is declared, what is in degrees is compared without alignment too.

    Returns
    -------
    list of dict
    """
    found = []
    for measure, quantity, similarity in KINDS:
        if measure not in measures:
            continue
        published = published_histogram(quantity)
        values = compared_values(measures, measure, published)
        if not len(values):
            continue
        kind = "aligned binned-KS" if similarity is aligned_similarity else "binned-KS"
        ceiling, size = similarity_ceiling(published, generator(f"ceiling, {quantity}"))[0], (len(values), published.n)
        found.append(line(measure, kind, size, similarity(values, published, generator(measure)), ceiling))
        if measure in POWERS and degrees_per_pixel is not None:
            in_degrees = values + POWERS[measure] * math.log2(degrees_per_pixel)
            shifted = binned_similarity(in_degrees, published, generator(f"{measure} in degrees"))
            found.append(line(measure, "binned-KS", size, shifted, ceiling))
    pairs = aspect_values(measures)
    if pairs.shape[1]:
        size = (pairs.shape[1], int(published_shape()[1].sum()))
        joint, ceiling = joint_similarity(pairs, generator("nx and ny")), joint_ceiling(generator("ceiling, nx, ny"))[0]
        found.append(line("nx and ny", "joint binned-KS", size, joint, ceiling))
    return found
