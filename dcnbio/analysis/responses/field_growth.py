"""Size of the local receptive field against solver time and block, with the linear prediction that variances add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.responses.field_size import field_size
from dcnbio.analysis.responses.medians import median_with_limits
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["field_growth", "growth_claims"]


def sizes(fields: xr.Dataset) -> tuple[Floats, NDArray[np.int_]]:
    """Give sigma by second moments, (time, unit), NaN for a field that is zero; and the number clipped, (time)."""
    medians, clipped = [], []
    for maps in fields["local"].transpose("time", "unit", "y", "x").values:
        found = [field_size(one) for one in maps if one.any()]
        beyond = np.array([one.moments_clipped for one in found], dtype=int)
        sigma = np.array([one.sigma_moments for one in found])
        medians.append(median_with_limits(sigma, beyond)[0] if found else np.nan)
        clipped.append(int(beyond.sum()))
    return np.array(medians), np.array(clipped)


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
        (block, time), how many units' fields leave the image, so that their size is a lower limit; ``kernel_sigma``
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
    sigma, clipped = (np.stack([one[i] for one in measured]) for i in (0, 1))
    added = np.array([spacing[block] ** 2 * sum(s**2 for s in scales[block]) for block in blocks])
    kernel = np.sqrt(added / [len(scales[block]) for block in blocks])
    units = [fields[block].sizes["unit"] for block in blocks]
    passes = (sigma[:, -1] ** 2 - sigma[:, 0] ** 2) / added
    linear = np.sqrt(sigma[:, 0] ** 2 + added)
    over_time, each = ("block", "time"), ("block",)
    variables = {
        "sigma": (over_time, sigma, "sigma of the local field, median over units", "pixels"),
        "clipped": (over_time, clipped, "units whose field leaves the image: its sigma is a lower limit", "1"),
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
    claims = []
    for i, block in enumerate(growth["block"].values.tolist()):
        sigma, linear = growth["sigma"].values[i], float(growth["linear"].values[i])
        passes, kernel = float(growth["passes"].values[i]), float(growth["kernel_sigma"].values[i])
        n, clipped = int(growth["units"].values[i]), int(growth["clipped"].values[i, -1])
        limits = f" At T {clipped} of {n} fields leave the image: their size is a lower limit." if clipped else ""
        claims.append(
            Claim(
                f"block {block}: sigma of the local field at T (pixels), median",
                n,
                "units of one network",
                float(sigma[-1]),
                Interval.none("few units of one network"),
                Control("linear prediction, variances of one pass added", linear),
                f"In block {block}, whose kernels have a sigma of {kernel:.2f} pixels, the local field's sigma goes "
                f"from {sigma[0]:.2f} to {sigma[-1]:.2f} pixels; linear blur in one pass gives {linear:.2f}, so the "
                f"growth in variance is that of {passes:.1f} passes.{limits}",
            )
        )
    return claims
