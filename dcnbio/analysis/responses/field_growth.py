"""Size of the local receptive field against solver time and block, with the linear prediction that variances add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control, limit_mark
from dcnbio.analysis.responses.field_size import field_size
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.survival import median_with_limits

__all__ = ["field_growth", "growth_claims"]


def sizes(fields: xr.Dataset) -> tuple[Floats, NDArray[np.int_], NDArray[np.int_]]:
    """Give the median sigma by second moments at each time, how many fields are clipped, and whether it is a limit.

    NaN where all fields are zero; the last is 1 where the median is a lower limit, else 0.
    """
    medians, clipped, limits = [], [], []
    for maps in fields["local"].transpose("time", "unit", "y", "x").values:
        found = [field_size(one) for one in maps if one.any()]
        beyond = np.array([one.moments_clipped for one in found], dtype=int)
        sigma = np.array([one.sigma_moments for one in found])
        median, limit = median_with_limits(sigma, beyond) if found else (np.nan, 0)
        medians.append(median)
        limits.append(limit)
        clipped.append(int(beyond.sum()))
    return np.array(medians), np.array(clipped), np.array(limits)


def field_growth(
    fields: Mapping[int, xr.Dataset], scales: Mapping[int, Sequence[float]], spacing: Mapping[int, float]
) -> xr.Dataset:
    """Measure fields over time in each block, and what they would be if each block blurred once.

    A linear block of Gaussians adds their variances: one pass of eq. 2 gives
    sigma^2 = sigma(0)^2 + d^2 (sigma_1^2 + sigma_2^2), d the distance in pixels between units of the map.

    Parameters
    ----------
    fields : mapping of int to xarray.Dataset
        From `record_fields`, by block, each at times from 0 to 1.
    scales : mapping of int to sequence of float
        Effective sigma of the two convolutions of each block in units of its map.
    spacing : mapping of int to float
        d of each block.

    Returns
    -------
    xarray.Dataset
        ``sigma`` (block, time), the median over units, in pixels of the image, limits taken as limits; ``clipped``
        (block, time), how many units' fields leave the image, so that their size is a lower limit; ``limit``
        (block, time), 1 where the median is one; ``kernel_sigma``
        (block), the root mean square over the block's convolutions of d sigma, in pixels; ``linear`` (block), sigma
        after one pass; ``passes`` (block), how many passes the growth in variance from time 0 to T amounts to;
        ``spacing`` and ``units`` (block).

    Notes
    -----
    It misleads as a count of layers: filters that differentiate widen a field by more than their sigma, and a field
    that sharpens has negative passes.

    Examples
    --------
    >>> y, x = np.mgrid[:32, :32]
    >>> maps = np.stack([np.exp(-((y - 15) ** 2 + (x - 15) ** 2) / (2 * s**2)) for s in (2.0, 3.0)])[:, None]
    >>> one = xr.Dataset({"local": (("time", "unit", "y", "x"), maps)}, {"time": [0.0, 1.0]})
    >>> found = field_growth({1: one}, {1: [1.0, 2.0]}, {1: 1.0})
    >>> found.sigma.values.round(2).tolist(), found.passes.values.round(2).tolist()
    ([[2.0, 3.0]], [1.0])
    """
    blocks = sorted(fields)
    measured = [sizes(fields[block]) for block in blocks]
    sigma, clipped, limit = (np.stack([one[i] for one in measured]) for i in (0, 1, 2))
    added = np.array([spacing[block] ** 2 * sum(s**2 for s in scales[block]) for block in blocks])
    kernel = np.sqrt(added / [len(scales[block]) for block in blocks])
    units = [fields[block].sizes["unit"] for block in blocks]
    passes = (sigma[:, -1] ** 2 - sigma[:, 0] ** 2) / added
    linear = np.sqrt(sigma[:, 0] ** 2 + added)
    over_time, each = ("block", "time"), ("block",)
    variables = {
        "sigma": (over_time, sigma, "sigma of the local field, median over units", "pixels"),
        "clipped": (over_time, clipped, "units whose field leaves the image: its sigma is a lower limit", "1"),
        "limit": (over_time, limit, "1 where sigma, the median over units, is a lower limit", "1"),
        "kernel_sigma": (each, kernel, "sigma of the block's kernels, root mean square", "pixels"),
        "linear": (each, linear, "if variances add once", "pixels"),
        "passes": (each, passes, "growth in variance over that of one pass", "1"),
        "spacing": (each, [spacing[block] for block in blocks], "distance between units of the map", "pixels"),
        "units": (each, units, "units", "1"),
    }
    labelled = {
        name: (dims, values, {"long_name": long_name, "units": unit})
        for name, (dims, values, long_name, unit) in variables.items()
    }
    return xr.Dataset(labelled, {"block": blocks, "time": fields[blocks[0]]["time"].values})


def growth_claims(growth: xr.Dataset) -> list[Claim]:
    """Say how the local field grows in each block."""
    return [growth_claim(growth.isel(block=i)) for i in range(growth.sizes["block"])]


def growth_claim(one: xr.Dataset) -> Claim:
    """Say how the local field grows in one block."""
    block, n, clipped = int(one["block"]), int(one["units"]), int(one["clipped"].values[-1])
    sigma, limit = one["sigma"].values, one["limit"].values.astype(int)
    linear, kernel = float(one["linear"]), float(one["kernel_sigma"])
    said = [f"{limit_mark(at)}{value:.2f}" for value, at in zip(sigma, limit, strict=True)]
    return Claim(
        f"block {block}: sigma of the local field at T (pixels), median",
        n,
        "units of one network",
        float(sigma[-1]),
        Interval.none("few units of one network"),
        # the field at time 0 is what linear blur begins with
        Control("linear prediction, variances of one pass added", linear, limit=int(limit[0])),
        f"In block {block}, whose kernels have a sigma of {kernel:.2f} pixels, the local field's sigma goes "
        f"from {said[0]} to {said[-1]} pixels; linear blur in one pass gives {limit_mark(limit[0])}{linear:.2f}, "
        f"{passes_words(float(one['passes']), limit)}.{clipped_words(clipped, n)}",
        int(limit[-1]),
    )


def passes_words(passes: float, limit: NDArray[np.int_]) -> str:
    """Say how many passes a growth in variance is of: known where no field is a limit, a limit where that at T is."""
    if limit[0]:
        return "and of how many passes the growth in variance is, is not known"
    return f"so the growth in variance is that of {limit_mark(int(limit[-1]))}{passes:.1f} passes"


def clipped_words(clipped: int, n: int) -> str:
    """Say how many fields leave the image at T; nothing if none does."""
    return f" At T {clipped} of {n} fields leave the image: their size is a lower limit." if clipped else ""
