"""What is described without verdict, and what is left out, each with its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import limit_word
from dcnbio.analysis.primate.binned_similarity import binned
from dcnbio.analysis.primate.model_values import array_of, limits_of
from dcnbio.analysis.primate.published import published_histogram, published_shape
from dcnbio.analysis.primate.questions import with_degrees
from dcnbio.analysis.primate.shape_questions import RINGACH, aspect_values
from dcnbio.analysis.primate.stated import level_diameter
from dcnbio.analysis.statistics.survival import median_with_limits

__all__ = ["described", "folded"]

NOTHING: dict[str, Any] = {
    **dict.fromkeys(("effect", "interval", "interval_holm", "worst_case", "bound", "verdict", "model", "data")),
    "unit": "1",
    "controls": {},
}
Z = 1.959964
LEAST = 8


def wilson(k: int, n: int) -> list[float]:
    """Give the 95 % interval of a share (Wilson 1927).

    Examples
    --------
    >>> [round(end, 2) for end in wilson(18, 32)]
    [0.39, 0.72]
    """
    middle, half = (k + Z**2 / 2) / (n + Z**2), Z / (n + Z**2) * (k * (n - k) / n + Z**2 / 4) ** 0.5
    return [middle - half, middle + half]


def folded(orientation: np.ndarray) -> np.ndarray:
    """Fold orientations into the published bins, which begin at -22.5 degrees."""
    first = published_histogram("preferred_orientation").edges[0]
    return np.asarray((orientation - first) % 180 + first)


def unfitted(measures: xr.Dataset) -> dict[str, Any]:
    """Describe the share of fields that a Gabor function cannot fit."""
    responsive = measures["responsive"].values.astype(bool)
    n, k = int(responsive.sum()), int((~np.isfinite(array_of(measures, "field_width_nx")) & responsive).sum())
    edges, counts = published_shape()
    why = (
        "described, without verdict: the published table lists fitted cells alone, none of them with nx under "
        f"{2 ** edges[0]:.2g}; a pure N-jet of order 1 cannot be fitted (nx = 0), one of order 2 can"
    )
    if not n:
        return {**NOTHING, "n_model": 0, "n_data": int(counts.sum()), "reason": f"no unit responds; {why}"}
    row = {"n_model": n, "n_data": int(counts.sum()), "model": k / n, "model_interval": wilson(k, n)}
    return {**NOTHING, **row, "reason": f"{k} of {n} responsive units; {why}", "source": RINGACH}


def aspect(measures: xr.Dataset) -> dict[str, Any]:
    """Describe the joint shape: how elongated fields are, and how nx and ny go together."""
    nx, ny = aspect_values(measures)
    edges, counts = published_shape()
    middles = (edges[:-1] + edges[1:]) / 2
    cells = np.repeat(np.array([(x, y) for x in middles for y in middles]), counts.ravel(), axis=0)
    why = (
        "described, without verdict: one population is published, in bins of 0.8 octaves; the joint binned similarity "
        "is listed"
    )
    row: dict[str, Any] = {"n_model": len(nx), "n_data": len(cells), "unit": "octaves", "source": RINGACH}
    data = float(np.mean(cells[:, 1] - cells[:, 0]))
    if len(nx) < LEAST:
        return {**NOTHING, **row, "data": data, "reason": f"only {len(nx)} fields take a Gabor fit; {why}"}
    model = float(np.mean(ny - nx))
    together = {
        "correlation": float(np.corrcoef(nx, ny)[0, 1]),
        "published_correlation": float(np.corrcoef(cells.T)[0, 1]),
    }
    return {**NOTHING, **row, "model": model, "data": data, "effect": model - data, "controls": together, "reason": why}


def orientations(measures: xr.Dataset) -> dict[str, Any]:
    """Describe the histogram of preferred orientation."""
    published = published_histogram("preferred_orientation")
    values = array_of(measures, "preferred_orientation")
    bins = binned(folded(values[np.isfinite(values)]), published)
    shares = (np.bincount(bins, minlength=len(published.counts)) / max(len(bins), 1)).tolist()
    why = (
        "described, without verdict: four published bins, and the pixel grid and the images bias a network's; its "
        "binned similarity is listed"
    )
    both = {"shares": shares, "published_shares": (published.counts / published.n).tolist()}
    return {**NOTHING, "n_model": len(bins), "n_data": published.n, "controls": both, "reason": why}


def levels(measures: xr.Dataset) -> dict[str, Any]:
    """Describe how local fields grow from block to block, where several were measured."""
    sigma, block = array_of(measures, "field_sigma_moments"), measures["block"].values
    there, sides = np.isfinite(sigma), limits_of(measures, "field_sigma_moments", 1)
    chosen = {int(b): there & (block == b) for b in np.unique(block[there])}
    medians = {b: median_with_limits(sigma[units], sides[units]) for b, units in chosen.items()}
    ratios: dict[str, Any] = {}
    for b, (value, limit) in medians.items():
        # of a field of block 1 that is a limit there is no ratio: all limits lie above
        if b != 1 and 1 in medians and not medians[1][1]:
            ratios[f"block {b} / 1"] = value / medians[1][0]
            ratios |= {f"block {b} / 1, {key}": word for key, word in limit_word(limit).items()}
    cortex = {f"{area} / V1": level_diameter(area) / level_diameter("V1") for area in ("V2", "V4")}
    blocks = ", ".join(map(str, sorted(set(block.tolist()))))
    why = f"described, without verdict: strides alone give 2 and 4; measured are units of block {blocks}"
    row = {"n_model": int(there.sum()), "n_data": None, "controls": {**ratios, **cortex}, "reason": why}
    return {**NOTHING, **row}


def described(measures: xr.Dataset, every_block: xr.Dataset, degrees_per_pixel: float | None) -> list[dict[str, Any]]:
    """List what has no verdict.

    Parameters
    ----------
    measures : xarray.Dataset
        Units of block 1.
    every_block : xarray.Dataset
        Of all blocks that were measured.
    degrees_per_pixel : float or None

    Returns
    -------
    list of dict
    """
    rows = [
        {"name": "share of fields that a Gabor function cannot fit", **unfitted(measures)},
        {"name": "ny / nx of the field, mean of log2", **aspect(measures)},
        {"name": "preferred-orientation histogram", **orientations(measures)},
        {"name": "size ratio of successive levels", **levels(every_block)},
    ]
    if degrees_per_pixel is None:
        why = "left out: it needs degrees of visual angle per pixel, which a DCN does not have (--degrees-per-pixel)"
        n = int(measures["responsive"].values.sum())
        for one in with_degrees(1.0):
            left = {"n_model": n, "n_data": one.question.published.n, "unit": "octaves", "reason": why}
            rows.append({"name": one.question.name, **NOTHING, **left})
    return rows
